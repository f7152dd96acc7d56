#include "store/sqlite/file/database_copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/descriptor.hpp"
#include "base/text.hpp"

namespace errand::sqlite {
namespace {

namespace fs = std::filesystem;

Result<void> sync(const std::string& path, int flags) {
  Descriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file.is_open()) return failed_to("open", path);
  if (::fsync(file.get()) != 0) return failed_to("make durable", path);
  return {};
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

}  // namespace

Error failed_to(const char* verb, const std::string& path) {
  return Error(ErrorCode::unavailable, cat("cannot ", verb, " ", path, ": ", std::strerror(errno)));
}

bool file_exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

Result<void> sync_folder_of(const std::string& path) {
  fs::path folder = fs::path(path).parent_path();
  return sync(folder.empty() ? std::string(".") : folder.string(), O_RDONLY | O_DIRECTORY);
}

std::int64_t file_bytes(const std::string& path) {
  std::error_code error;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path, error));
  return error ? 0 : bytes;
}

NewFile::~NewFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Result<void> NewFile::make() {
  ::unlink(path_.c_str());
  Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) return failed_to("write", path_);
  return {};
}

Result<void> NewFile::rename_to(const std::string& path) {
  if (::rename(path_.c_str(), path.c_str()) != 0) return failed_to("write", path);
  path_.clear();
  return sync_folder_of(path);
}

Result<void> copy_into(Database& database, const std::string& file, const BytesWritten& progress) {
  ERRAND_TRY(std::int64_t vacuums, database.integer("PRAGMA auto_vacuum"));
  if (vacuums == 0) ERRAND_CHECK(database.execute("PRAGMA auto_vacuum = INCREMENTAL"));
  if (progress) database.while_working([&] { progress(file_bytes(file)); });
  auto done = database.execute(cat("VACUUM INTO ", quoted(file)));
  database.while_working(nullptr);
  if (!done) return done;
  return sync(file, O_RDONLY);
}

}  // namespace errand::sqlite
