#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "run/log/mail.hpp"
#include "tool/files/shared_directory.hpp"
#include "tool/tool.hpp"

namespace errand {

enum class FileAccess { read, write };

// Tools over files: read_file, list_files and search_files, and, with FileAccess::write, write_file
// and edit_file. Every failure is a sentence for the model. Safe to call from any thread.
class FilesTool final {
 public:
  // Longer results are cut, and say how to go on.
  static constexpr std::size_t kResultBytesMax = 100'000;
  static constexpr std::size_t kListedMax = 1000;
  static constexpr std::size_t kMatchesMax = 200;
  static constexpr std::size_t kMatchedLineChars = 300;
  // Larger files are read by nobody: beyond this, read_file sees the start only, and search_files
  // skips.
  static constexpr std::int64_t kReadBytesMax = std::int64_t{256} * 1024 * 1024;
  static constexpr std::int64_t kSearchedFileBytesMax = std::int64_t{4} * 1024 * 1024;
  // One search looks at no more than this, and says so.
  static constexpr std::int64_t kSearchedBytesMax = std::int64_t{256} * 1024 * 1024;
  static constexpr std::size_t kSearchedFilesMax = 50'000;
  static constexpr std::size_t kDepthMax = 64;
  // Of a file that is written or edited.
  static constexpr std::size_t kWrittenBytesMax = std::size_t{4} * 1024 * 1024;

  explicit FilesTool(std::shared_ptr<const FileTree> files, FileAccess access = FileAccess::read)
      : files_(std::move(files)), access_(access) {}
  explicit FilesTool(SharedDirectory directory, FileAccess access = FileAccess::read)
      : FilesTool(std::make_shared<const SharedDirectory>(std::move(directory)), access) {}

  // The declarations that the model gets.
  static std::vector<ToolDecl> declarations(FileAccess access = FileAccess::read);

  ToolAnswer call(std::string_view name, const json::Value& args) const;

 private:
  Result<std::string> read_file(const json::Value& args) const;
  Result<std::string> list_files(const json::Value& args) const;
  Result<std::string> search_files(const json::Value& args) const;
  Result<std::string> write_file(const json::Value& args) const;
  Result<std::string> edit_file(const json::Value& args) const;
  Result<std::string> whole_text(const std::string& path) const;

  const std::shared_ptr<const FileTree> files_;
  const FileAccess access_;
  mutable std::mutex writing_;  // an edit reads what it replaces
};

}  // namespace errand
