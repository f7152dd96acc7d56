#include "store/sqlite/upkeep/examine.hpp"

#include <filesystem>

#include "base/text.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/sqlite/file/file_lock.hpp"
#include "store/sqlite/schema.hpp"

namespace errand::sqlite {
namespace {

Result<void> check_pages(Database& database, const std::string& path) {
  ERRAND_TRY(std::string found, database.text("PRAGMA quick_check(1)"));
  if (found == "ok") return {};
  return Error(ErrorCode::unavailable, cat(path, " is damaged: ", found)).reason(kStoreDamaged);
}

std::int64_t size_of_file(const std::string& path, std::error_code& error) {
  auto bytes = std::filesystem::file_size(path, error);
  return error ? 0 : static_cast<std::int64_t>(bytes);
}

Result<Examination> look(const std::string& path) {
  Examination out{.holder = FileLock::holder(cat(path, ".lock"))};
  std::error_code error;
  std::error_code ignored;
  out.has_log = out.holder.empty() && size_of_file(path + "-wal", ignored) > 0;
  out.bytes = size_of_file(path, error);
  if (error) {
    return Error(ErrorCode::unavailable, cat("cannot read ", path, ": ", error.message()));
  }
  // If no process has the file open, an ordinary reader would leave files of its own behind.
  auto access = out.holder.empty() ? Database::Access::frozen : Database::Access::read;
  ERRAND_TRY(auto database, Database::open(path, access));
  ERRAND_TRY(out.version, database->integer("PRAGMA user_version"));
  out.newest = static_cast<std::int64_t>(schema().size());
  if (out.has_log) return out;
  out.is_checked = out.bytes <= kExaminedBytesMax;
  if (out.is_checked) ERRAND_CHECK(check_pages(*database, path));
  if (out.version != out.newest) return out;
  ERRAND_TRY(out.runs, database->integer("SELECT count(*) FROM runs"));
  return out;
}

}  // namespace

Result<Examination> examine(const std::string& path) {
  auto found = look(path);
  // Another process may have opened the file meanwhile, and changed it while it was read.
  bool is_held = !FileLock::holder(cat(path, ".lock")).empty();
  bool was_held = found && !found->holder.empty();
  if (is_held && !was_held) return look(path);
  return found;
}

}  // namespace errand::sqlite
