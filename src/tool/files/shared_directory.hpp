#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "tool/files/file_tree.hpp"

namespace errand {

// A directory of the disk, and nothing outside of it: the kernel resolves every path beneath it
// (openat2), whatever symbolic links, dots or races there are. See FileTree for paths and errors;
// a data directory of Errand (.errand, wherever it is) is forbidden.
class SharedDirectory final : public FileTree {
 public:
  // `withheld` is one file that is never opened, under any name; empty for none.
  // invalid_argument: `directory` cannot be opened. unsupported: the kernel lacks openat2.
  static Result<SharedDirectory> open(const std::filesystem::path& directory,
                                      std::filesystem::path withheld);

  Result<File> open_file(const std::string& path) const override;
  Result<Listing> list(const std::string& path) const override;
  Result<EntryKind> kind_of(const std::string& path) const override;
  Result<Written> replace(const std::string& path, std::string_view bytes) const override;

 private:
  SharedDirectory(Descriptor root, std::filesystem::path withheld)
      : root_(std::move(root)), withheld_(std::move(withheld)) {}

  Result<Descriptor> open_beneath(const std::string& path, std::uint64_t flags) const;
  // Opens a folder, and makes those of its path that are missing.
  Result<Descriptor> make_folders(const std::string& path) const;
  bool is_withheld(std::uint64_t device, std::uint64_t inode) const;

  Descriptor root_;
  std::filesystem::path withheld_;
};

}  // namespace errand
