#include "tool/files/file_search.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "tool/files/files_tool.hpp"

namespace errand {
namespace {

constexpr std::size_t kFoundPathChars = 500;
constexpr std::string_view kVersionControl = ".git";

// The content of the file; empty if it cannot be read, is too large, or is not text.
std::optional<std::string> read_text(const FileTree& directory, const std::string& path) {
  auto file = directory.open_file(path);
  if (!file || file->bytes > FilesTool::kSearchedFileBytesMax) return {};
  std::string content;
  std::string buffer(64 * 1024, '\0');
  for (;;) {
    auto count = read_some(file->descriptor, buffer);
    if (!count) return {};
    if (*count == 0) break;
    std::string_view bytes(buffer.data(), *count);
    if (bytes.find('\0') != std::string_view::npos) return {};
    content += bytes;
    if (static_cast<std::int64_t>(content.size()) > FilesTool::kSearchedFileBytesMax) return {};
  }
  if (!is_utf8(content)) return {};
  return content;
}

// The part of a line that shows the match, which may be far from the start of the line.
std::string shown_line(std::string_view line, std::size_t found) {
  constexpr std::size_t kBytesBefore = 100;
  if (found < FilesTool::kMatchedLineChars / 2)
    return clean_line(line, FilesTool::kMatchedLineChars);
  std::size_t start = utf8_prefix(line, found - kBytesBefore).size();
  return cat("...", clean_line(line.substr(start), FilesTool::kMatchedLineChars));
}

}  // namespace

Result<void> FileSearch::run(const std::string& path) {
  ERRAND_TRY(EntryKind kind, directory_.kind_of(path));
  if (kind == EntryKind::directory) {
    bool is_root = path.empty() || path == ".";
    walk(is_root ? "" : path, 0);
    return {};
  }
  ERRAND_TRY(auto file, directory_.open_file(path));  // the error says why it is not a file
  look_into(path);
  return {};
}

void FileSearch::walk(std::string path, std::size_t depth) {
  auto listing = directory_.list(path);
  if (!listing || depth > FilesTool::kDepthMax) {
    ++skipped_;
    return;
  }
  std::string prefix = path.empty() || path.ends_with('/') ? std::move(path) : path + "/";
  for (const Entry& entry : listing->entries) {
    if (is_full()) return;
    if (entry.kind == EntryKind::file) look_into(prefix + entry.name);
    if (entry.kind == EntryKind::directory && entry.name != kVersionControl) {
      walk(prefix + entry.name, depth + 1);
    }
  }
}

void FileSearch::look_into(const std::string& path) {
  if (++files_ > FilesTool::kSearchedFilesMax || bytes_ > FilesTool::kSearchedBytesMax) {
    stopped_because_ = "there is too much to look at; choose a path";
    return;
  }
  auto content = read_text(directory_, path);
  if (!content) {
    ++skipped_;
    return;
  }
  bytes_ += static_cast<std::int64_t>(content->size());
  match(path, *content);
}

void FileSearch::match(const std::string& path, std::string_view content) {
  std::size_t line = 1;
  std::size_t line_start = 0;
  for (std::size_t found = content.find(query_); found != std::string_view::npos;
       found = content.find(query_, line_start)) {
    if (matches_ == FilesTool::kMatchesMax || out_.size() > FilesTool::kResultBytesMax) {
      stopped_because_ = "there are more matches; choose a path or a longer query";
      return;
    }
    for (std::size_t end = content.find('\n', line_start); end < found;
         end = content.find('\n', line_start)) {
      line_start = end + 1;
      ++line;
    }
    std::size_t end = std::min(content.find('\n', found), content.size());
    append(out_, clean_line(path, kFoundPathChars), ":", line, ": ",
           shown_line(content.substr(line_start, end - line_start), found - line_start), "\n");
    ++matches_;
    if (end == content.size()) return;
    line_start = end + 1;
    ++line;
  }
}

std::string FileSearch::finish() {
  if (matches_ == 0) out_ = "(no line contains it)\n";
  if (!stopped_because_.empty()) append(out_, "[stopped: ", stopped_because_, "]\n");
  if (skipped_ > 0) {
    append(out_, "[", skipped_, skipped_ == 1 ? " file was" : " files were",
           " skipped: binary, too large or not readable]\n");
  }
  return std::move(out_);
}

}  // namespace errand
