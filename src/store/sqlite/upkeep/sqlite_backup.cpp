#include "store/sqlite/upkeep/sqlite_backup.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "store/sqlite/file/database_copy.hpp"
#include "store/sqlite/file/file_lock.hpp"
#include "store/sqlite/schema.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kCountTables =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
    "('meta', 'runs', 'segments', 'mail', 'idempotency', 'api_keys')";
constexpr std::int64_t kTables = 6;

// Opens a database that Errand made and that this version can read.
Result<std::unique_ptr<Database>> open_known(const std::string& path) {
  if (!file_exists(path)) return Error(ErrorCode::not_found, cat("there is no database at ", path));
  ERRAND_TRY(auto database, Database::open(path, Database::Access::read));
  auto tables = database->integer(kCountTables);
  if (!tables) return with_context(cat("cannot read ", path), tables.error());
  if (*tables != kTables) {
    return Error(ErrorCode::unsupported, cat(path, " is not a database of Errand's"));
  }
  ERRAND_CHECK(check_version(*database, schema()));
  return database;
}

Result<CopyReport> look_at(const std::string& file) {
  ERRAND_TRY(auto copy, Database::open(file, Database::Access::read));
  ERRAND_TRY(std::int64_t runs, copy->integer("SELECT count(*) FROM runs"));
  return CopyReport{.bytes = file_bytes(file), .runs = runs};
}

Result<void> check_whole(Database& database, const std::string& path) {
  ERRAND_TRY(std::string found, database.text("PRAGMA quick_check(1)"));
  if (found == "ok") return {};
  return Error(ErrorCode::unavailable, cat(path, " is damaged: ", found))
      .reason(kStoreDamaged)
      .hint("Use another backup.");
}

// "errand.db.before-restore-2026-11-15T15-54-05Z"
std::string name_for_old(const std::string& database, WallTime now) {
  std::string time = to_iso8601(now);
  time.erase(time.rfind('.'), 4);
  std::replace(time.begin(), time.end(), ':', '-');
  return cat(database, ".before-restore-", time);
}

// Gives the existing database a second name, and its log, too, which may hold the latest commits.
// The database is not opened: it may be damaged, and SQLite would discard a log that does not
// match.
Result<void> keep_old(const std::string& database, const std::string& kept) {
  for (const char* suffix : {"", "-wal"}) {
    const std::string from = cat(database, suffix);
    const std::string to = cat(kept, suffix);
    if (file_exists(from) && ::link(from.c_str(), to.c_str()) != 0) return failed_to("make", to);
  }
  return sync_folder_of(kept);
}

// SQLite would take a log that belongs to another database for this one's.
Result<void> remove_logs(const std::string& database) {
  for (const char* suffix : {"-wal", "-shm"}) {
    const std::string path = cat(database, suffix);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed_to("remove", path);
  }
  return sync_folder_of(database);
}

}  // namespace

Result<CopyReport> back_up(const BackupOptions& options) {
  if (options.existing == Existing::keep && file_exists(options.file)) {
    return Error(ErrorCode::conflict, cat(options.file, " exists")).reason(kFileExists);
  }
  ERRAND_TRY(auto database, open_known(options.database));
  NewFile copy(cat(options.file, ".partial-", ::getpid()));
  ERRAND_CHECK(copy.make());
  ERRAND_CHECK(copy_into(*database, copy.path(), options.progress));
  ERRAND_TRY(CopyReport report, look_at(copy.path()));
  ERRAND_CHECK(copy.rename_to(options.file));
  return report;
}

Result<RestoreReport> restore(const RestoreOptions& options) {
  ERRAND_TRY(auto lock, FileLock::take(cat(options.database, ".lock")));
  ERRAND_TRY(auto backup, open_known(options.file));
  ERRAND_CHECK(check_whole(*backup, options.file));
  const bool replaces = file_exists(options.database);
  if (replaces && options.existing == Existing::keep) {
    return Error(ErrorCode::conflict, cat("there is a database at ", options.database))
        .reason(kFileExists);
  }
  NewFile copy(cat(options.database, ".restoring"));
  ERRAND_CHECK(copy.make());
  ERRAND_CHECK(copy_into(*backup, copy.path(), {}));
  RestoreReport report;
  ERRAND_TRY(report.copy, look_at(copy.path()));
  if (replaces) {
    report.kept = name_for_old(options.database, options.now);
    ERRAND_CHECK(keep_old(options.database, report.kept));
  }
  ERRAND_CHECK(remove_logs(options.database));
  ERRAND_CHECK(copy.rename_to(options.database));
  return report;
}

}  // namespace errand::sqlite
