#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
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

// A directory that may be read, and nothing outside of it: the kernel resolves every path beneath
// it (openat2), whatever symbolic links, dots or races there are. Safe to use from any thread.
//
// Paths are relative to the directory; "" and "." are the directory itself. Every error is a
// sentence that names the path. not_found: nothing is there. forbidden: outside, withheld, in a
// data directory of Errand (.errand, wherever it is), or not readable. invalid_argument: neither a
// file nor a directory, or the other one of the two.
class SharedDirectory final {
 public:
  // More names than this in one directory are left out.
  static constexpr std::size_t kEntriesMax = 20'000;

  // `withheld` is one file that is never opened, under any name; empty for none.
  // invalid_argument: `directory` cannot be opened. unsupported: the kernel lacks openat2.
  static Result<SharedDirectory> open(const std::filesystem::path& directory,
                                      std::filesystem::path withheld);

  struct File {
    Descriptor descriptor;
    std::int64_t bytes = 0;  // as the file says itself; it may grow
  };
  Result<File> open_file(const std::string& path) const;

  struct Listing {
    std::vector<Entry> entries;  // sorted by name, links not followed
    bool has_more = false;
  };
  Result<Listing> list(const std::string& path) const;

  Result<EntryKind> kind_of(const std::string& path) const;

 private:
  SharedDirectory(Descriptor root, std::filesystem::path withheld)
      : root_(std::move(root)), withheld_(std::move(withheld)) {}

  Result<Descriptor> open_beneath(const std::string& path, std::uint64_t flags) const;

  Descriptor root_;
  std::filesystem::path withheld_;
};

// The next bytes of a file, into `buffer`; 0 at its end. unavailable: the disk fails.
Result<std::size_t> read_some(const Descriptor& file, std::string& buffer);

}  // namespace errand
