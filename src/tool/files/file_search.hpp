#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "tool/files/file_tree.hpp"

namespace errand {

// One search for a text in the files below a path. Links are not followed, and what version control
// keeps for itself (.git) is left out.
class FileSearch final {
 public:
  FileSearch(const FileTree& directory, std::string query)
      : directory_(directory), query_(std::move(query)) {}

  // Looks in the file or directory at `path`. What cannot be read on the way is counted and
  // skipped.
  Result<void> run(const std::string& path);

  // "file:line: text" for each matching line, and what was left out.
  std::string finish();

 private:
  void walk(std::string path, std::size_t depth);
  void look_into(const std::string& path);
  void match(const std::string& path, std::string_view content);
  bool is_full() const { return !stopped_because_.empty(); }

  const FileTree& directory_;
  const std::string query_;
  std::string out_;
  std::size_t matches_ = 0;
  std::size_t files_ = 0;
  std::size_t skipped_ = 0;
  std::int64_t bytes_ = 0;
  std::string stopped_because_;
};

}  // namespace errand
