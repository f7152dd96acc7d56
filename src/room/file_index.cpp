#include "room/file_index.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand::room {
namespace {

std::string prefix_of(std::string_view folder) {
  return folder.empty() ? std::string() : cat(folder, "/");
}

}  // namespace

std::string_view name_of_path(std::string_view path) {
  std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

FileIndex::Kind FileIndex::kind_of(std::string_view path) const {
  if (path.empty()) return Kind::folder;
  if (files_.contains(path)) return Kind::file;
  const std::string prefix = prefix_of(path);
  auto first = files_.lower_bound(prefix);
  return first != files_.end() && first->first.starts_with(prefix) ? Kind::folder : Kind::nothing;
}

const StoredFile* FileIndex::find(std::string_view path) const {
  auto found = files_.find(path);
  return found == files_.end() ? nullptr : &found->second;
}

std::vector<const StoredFile*> FileIndex::below(std::string_view folder) const {
  const std::string prefix = prefix_of(folder);
  std::vector<const StoredFile*> files;
  for (auto one = files_.lower_bound(prefix); one != files_.end() && one->first.starts_with(prefix);
       ++one) {
    files.push_back(&one->second);
  }
  return files;
}

bool FileIndex::can_be_file(std::string_view path) const {
  if (kind_of(path) == Kind::folder) return false;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos;
       slash = path.find('/', slash + 1)) {
    if (files_.contains(path.substr(0, slash))) return false;
  }
  return true;
}

std::vector<FileIndex::Entry> FileIndex::entries(std::string_view folder) const {
  const std::string prefix = prefix_of(folder);
  std::vector<Entry> all;
  auto one = files_.lower_bound(prefix);
  while (one != files_.end() && one->first.starts_with(prefix)) {
    std::string_view rest = std::string_view(one->first).substr(prefix.size());
    std::size_t slash = rest.find('/');
    if (slash == std::string_view::npos) {
      all.push_back({.name = std::string(rest), .file = &one->second});
      ++one;
      continue;
    }
    all.push_back({.name = std::string(rest.substr(0, slash))});
    // Skips everything in this folder: the character after a slash is the digit 0.
    one = files_.lower_bound(cat(prefix, rest.substr(0, slash), "0"));
  }
  std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return all;
}

void FileIndex::put(StoredFile file) {
  remove(file.path);
  bytes_ += file.size;
  std::string path = file.path;
  files_.emplace(std::move(path), std::move(file));
}

void FileIndex::remove(std::string_view path) {
  auto found = files_.find(path);
  if (found == files_.end()) return;
  bytes_ -= found->second.size;
  files_.erase(found);
}

void FileIndex::clear() {
  files_.clear();
  bytes_ = 0;
}

}  // namespace errand::room
