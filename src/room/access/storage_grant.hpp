#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"

namespace errand::room {

enum class FileAction : std::uint8_t { list, read, write, delete_, presign };

// Which files a participant may touch. Paths are relative, of whole segments, without slashes at
// their ends; "" is the root.
class StorageGrant final {
 public:
  // Of the older form: the first rule whose path covers the file decides.
  struct PathRule {
    std::string path;
    bool read_only = false;
  };
  // Of the newer form: any rule may allow.
  struct FileRule {
    std::string path;
    bool recursive = false;
    std::vector<FileAction> actions = {};
    std::vector<std::string> excluded_paths = {};
  };

  // Everything is allowed but presigned addresses.
  StorageGrant() = default;

  // invalid_argument: the grant is not one.
  static Result<StorageGrant> parse(const json::Object& grant);

  bool allows(FileAction action, std::string_view path) const;
  // The action on the path and all that is below it.
  bool allows_tree(FileAction action, std::string_view path) const;
  // Whether a folder may be listed: listing is allowed on it, or on something below it.
  bool allows_listing(std::string_view folder) const;

 private:
  std::optional<std::vector<PathRule>> paths_;
  std::optional<std::vector<FileRule>> files_;  // overrides paths_
};

// A path as clients send it, without slashes at its ends; "" is the root. Nothing: it cannot be
// one.
std::optional<std::string> storage_path(std::string_view path);

// Whether `path` is `top` or lies below it, by whole segments.
bool is_below(std::string_view path, std::string_view top);

}  // namespace errand::room
