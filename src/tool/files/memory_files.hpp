#pragma once

#include <map>
#include <mutex>
#include <string>

#include "tool/files/file_tree.hpp"

namespace errand {

// Files that are nowhere but in memory. Folders are there as long as they hold a file.
class MemoryFiles final : public FileTree {
 public:
  static constexpr std::size_t kFilesMax = 10'000;
  static constexpr std::size_t kBytesMax = std::size_t{64} * 1024 * 1024;  // of all files

  // too_large, invalid_argument, forbidden: see replace.
  Result<void> add(const std::map<std::string, std::string>& files);
  // All of them, by path.
  std::map<std::string, std::string> all() const;

  Result<File> open_file(const std::string& path) const override;
  Result<Listing> list(const std::string& path) const override;
  Result<EntryKind> kind_of(const std::string& path) const override;
  Result<Written> replace(const std::string& path, std::string_view bytes) const override;

 private:
  bool is_folder(const std::string& path) const;

  mutable std::mutex mutex_;
  mutable std::map<std::string, std::string> files_;  // by path, without dots and double slashes
  mutable std::size_t bytes_ = 0;
};

}  // namespace errand
