#include "tool/files/memory_files.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"

namespace errand {
namespace {

constexpr std::size_t kShownMemoryPathChars = 200;

std::string shown(const std::string& path) {
  return cat("\"", clean_line(path, kShownMemoryPathChars), "\"");
}

// The path without "." and "..". forbidden: it leads outside.
Result<std::string> plain_path(const std::string& path) {
  std::vector<std::string_view> parts;
  std::string_view rest = path;
  if (path.find('\0') != std::string::npos) {
    return Error(ErrorCode::invalid_argument, "a path holds no NUL byte");
  }
  bool leads_out = rest.starts_with('/');
  while (!rest.empty() && !leads_out) {
    std::string_view part = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (parts.empty()) {
      leads_out = true;
    } else {
      parts.pop_back();
    }
  }
  if (leads_out) {
    return Error(ErrorCode::forbidden,
                 cat(shown(path), " is outside the files: use paths relative to their root"));
  }
  if (parts.size() > FileTree::kDepthMax) {
    return Error(ErrorCode::too_large, cat(shown(path), " has too many folders"));
  }
  std::string out;
  for (std::string_view part : parts) append(out, out.empty() ? "" : "/", part);
  return out;
}

Result<Descriptor> descriptor_of(const std::string& bytes) {
  Descriptor file(::memfd_create("errand", MFD_CLOEXEC));
  if (!file.is_open()) {
    return Error(ErrorCode::unavailable,
                 cat("cannot open a file in memory: ", std::generic_category().message(errno)));
  }
  ERRAND_CHECK(write_fully(file.get(), bytes));
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

}  // namespace

Result<void> MemoryFiles::add(const std::map<std::string, std::string>& files) {
  for (const auto& [path, bytes] : files) ERRAND_CHECK(replace(path, bytes));
  return {};
}

std::map<std::string, std::string> MemoryFiles::all() const {
  std::lock_guard lock(mutex_);
  return files_;
}

bool MemoryFiles::is_folder(const std::string& path) const {
  if (path.empty()) return true;
  std::string prefix = cat(path, "/");
  auto next = files_.lower_bound(prefix);
  return next != files_.end() && next->first.starts_with(prefix);
}

Result<EntryKind> MemoryFiles::kind_of(const std::string& path) const {
  ERRAND_TRY(auto plain, plain_path(path));
  std::lock_guard lock(mutex_);
  if (files_.contains(plain)) return EntryKind::file;
  if (is_folder(plain)) return EntryKind::directory;
  return Error(ErrorCode::not_found, cat("there is no ", shown(path)));
}

Result<FileTree::File> MemoryFiles::open_file(const std::string& path) const {
  ERRAND_TRY(EntryKind kind, kind_of(path));
  if (kind == EntryKind::directory) {
    return Error(ErrorCode::invalid_argument, cat(shown(path), " is a directory"));
  }
  ERRAND_TRY(auto plain, plain_path(path));
  std::string bytes;
  {
    std::lock_guard lock(mutex_);
    auto found = files_.find(plain);
    if (found != files_.end()) bytes = found->second;
  }
  ERRAND_TRY(auto descriptor, descriptor_of(bytes));
  return File{.descriptor = std::move(descriptor),
              .bytes = static_cast<std::int64_t>(bytes.size())};
}

Result<FileTree::Listing> MemoryFiles::list(const std::string& path) const {
  ERRAND_TRY(EntryKind kind, kind_of(path));
  if (kind != EntryKind::directory) {
    return Error(ErrorCode::invalid_argument, cat(shown(path), " is not a directory"));
  }
  ERRAND_TRY(auto plain, plain_path(path));
  const std::string prefix = plain.empty() ? "" : cat(plain, "/");
  Listing listing;
  std::lock_guard lock(mutex_);
  for (auto file = files_.lower_bound(prefix);
       file != files_.end() && file->first.starts_with(prefix); ++file) {
    std::string_view rest = std::string_view(file->first).substr(prefix.size());
    std::string_view name = rest.substr(0, rest.find('/'));
    bool is_file = name.size() == rest.size();
    if (!listing.entries.empty() && listing.entries.back().name == name) continue;
    listing.entries.push_back(
        {.name = std::string(name),
         .kind = is_file ? EntryKind::file : EntryKind::directory,
         .bytes = is_file ? static_cast<std::int64_t>(file->second.size()) : 0});
  }
  return listing;
}

Result<FileTree::Written> MemoryFiles::replace(const std::string& path,
                                               std::string_view bytes) const {
  ERRAND_TRY(auto plain, plain_path(path));
  std::lock_guard lock(mutex_);
  if (is_folder(plain)) {
    return Error(ErrorCode::invalid_argument, cat(shown(path), " is a directory"));
  }
  for (std::size_t slash = plain.find('/'); slash != std::string::npos;
       slash = plain.find('/', slash + 1)) {
    if (!files_.contains(plain.substr(0, slash))) continue;
    return Error(ErrorCode::not_found,
                 cat(shown(path), " leads through something that is not a directory"));
  }
  auto known = files_.find(plain);
  const std::size_t before = known == files_.end() ? 0 : known->second.size();
  bool is_full = bytes_ - before + bytes.size() > kBytesMax ||
                 (known == files_.end() && files_.size() >= kFilesMax);
  if (is_full) {
    return Error(ErrorCode::too_large, cat("there is no room for ", shown(path), ": at most ",
                                           kFilesMax, " files and ", kBytesMax, " bytes"));
  }
  bytes_ = bytes_ - before + bytes.size();
  bool is_new = known == files_.end();
  files_[plain] = std::string(bytes);
  return is_new ? Written::anew : Written::in_place_of_another;
}

}  // namespace errand
