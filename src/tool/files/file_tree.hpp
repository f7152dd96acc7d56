#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace errand {

enum class EntryKind { file, directory, link, other };

struct Entry {
  std::string name;
  EntryKind kind = EntryKind::file;
  std::int64_t bytes = 0;

  friend bool operator==(const Entry&, const Entry&) = default;
};

// Files below a root, and nothing outside of it. Safe to use from any thread.
//
// Paths are relative to the root; "" and "." are the root itself. Every error is a sentence that
// names the path. not_found: nothing is there. forbidden: outside, withheld, or without permission.
// invalid_argument: neither a file nor a directory, or the other one of the two. too_large: a limit
// is met. unavailable: the disk fails.
class FileTree {
 public:
  // More names than this in one directory are left out.
  static constexpr std::size_t kEntriesMax = 20'000;
  // Folders that a new file may need.
  static constexpr std::size_t kDepthMax = 64;

  virtual ~FileTree() = default;

  struct File {
    Descriptor descriptor;
    std::int64_t bytes = 0;  // as the file says itself; it may grow
  };
  virtual Result<File> open_file(const std::string& path) const = 0;

  struct Listing {
    std::vector<Entry> entries;  // sorted by name, links not followed
    bool has_more = false;
  };
  virtual Result<Listing> list(const std::string& path) const = 0;

  virtual Result<EntryKind> kind_of(const std::string& path) const = 0;

  enum class Written { anew, in_place_of_another };
  // Puts a file in place as a whole: a reader finds the old one or the new one. Folders that are
  // missing are made. A symbolic link is not written through.
  virtual Result<Written> replace(const std::string& path, std::string_view bytes) const = 0;
};

// The next bytes of a file, into `buffer`; 0 at its end. unavailable: the disk fails.
Result<std::size_t> read_some(const Descriptor& file, std::string& buffer);

}  // namespace errand
