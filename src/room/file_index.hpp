#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "room/room_store.hpp"

namespace errand::room {

// The files of a room, by path. Folders exist by the files below them.
class FileIndex final {
 public:
  enum class Kind : std::uint8_t { nothing, file, folder };

  // The root is a folder.
  Kind kind_of(std::string_view path) const;
  // Null if there is no such file.
  const StoredFile* find(std::string_view path) const;
  // All files below a folder, by path.
  std::vector<const StoredFile*> below(std::string_view folder) const;
  // Whether a file can be put at the path: neither is the path a folder, nor is a part of it a
  // file.
  bool can_be_file(std::string_view path) const;

  // An entry directly in a folder, by name.
  struct Entry {
    std::string name;
    const StoredFile* file = nullptr;  // null: a folder
  };
  std::vector<Entry> entries(std::string_view folder) const;

  void put(StoredFile file);
  void remove(std::string_view path);
  void clear();

  std::size_t size() const { return files_.size(); }
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::map<std::string, StoredFile, std::less<>> files_;
  std::uint64_t bytes_ = 0;
};

// The last segment of a path.
std::string_view name_of_path(std::string_view path);

}  // namespace errand::room
