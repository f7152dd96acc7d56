#include "store/sqlite/upkeep/sqlite_backup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/text.hpp"
#include "store/sqlite/file/file_lock.hpp"
#include "store/sqlite/schema.hpp"

namespace errand::sqlite {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCountTables =
    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
    "('meta', 'runs', 'segments', 'mail', 'idempotency', 'api_keys')";
constexpr std::int64_t kTables = 6;

Error failed_to(const char* verb, const std::string& path) {
  return Error(ErrorCode::unavailable, cat("cannot ", verb, " ", path, ": ", std::strerror(errno)));
}

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// A new file for a copy, empty, that goes away unless it gets its name.
class NewFile final {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)) {}
  ~NewFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  const std::string& path() const { return path_; }

  Result<void> make() {
    ::unlink(path_.c_str());
    int fd = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return failed_to("write", path_);
    ::close(fd);
    return {};
  }
  Result<void> rename_to(const std::string& path) {
    if (::rename(path_.c_str(), path.c_str()) != 0) return failed_to("write", path);
    path_.clear();
    return {};
  }

 private:
  std::string path_;
};

Result<void> sync(const std::string& path, int flags) {
  int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return failed_to("open", path);
  const bool is_synced = ::fsync(fd) == 0;
  Error error = failed_to("make durable", path);
  ::close(fd);
  if (!is_synced) return error;
  return {};
}

Result<void> sync_folder_of(const std::string& path) {
  fs::path folder = fs::path(path).parent_path();
  return sync(folder.empty() ? std::string(".") : folder.string(), O_RDONLY | O_DIRECTORY);
}

// Opens a database of Errand's that this program knows.
Result<std::unique_ptr<Database>> open_known(const std::string& path) {
  if (!exists(path)) return Error(ErrorCode::not_found, cat("there is no database at ", path));
  ERRAND_TRY(auto database, Database::open(path, Database::Access::read));
  auto tables = database->integer(kCountTables);
  if (!tables) return with_context(cat("cannot read ", path), tables.error());
  if (*tables != kTables) {
    return Error(ErrorCode::unsupported, cat(path, " is not a database of Errand's"));
  }
  ERRAND_CHECK(check_version(*database, schema()));
  return database;
}

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (char c : text) out.append(c == '\'' ? 2 : 1, c);
  return out + "'";
}

// Copies into an empty file, so that the copy is one that gives room back.
Result<void> copy_into(Database& database, const std::string& file) {
  ERRAND_TRY(std::int64_t vacuums, database.integer("PRAGMA auto_vacuum"));
  if (vacuums == 0) ERRAND_CHECK(database.execute("PRAGMA auto_vacuum = INCREMENTAL"));
  ERRAND_CHECK(database.execute(cat("VACUUM INTO ", quoted(file))));
  return sync(file, O_RDONLY);
}

Result<CopyReport> look_at(const std::string& file) {
  ERRAND_TRY(auto copy, Database::open(file, Database::Access::read));
  ERRAND_TRY(std::int64_t runs, copy->integer("SELECT count(*) FROM runs"));
  std::error_code error;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(file, error));
  return CopyReport{.bytes = error ? 0 : bytes, .runs = runs};
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

// Gives what is there another name as well, and its log, in which the latest commits may be.
// Nothing opens it: it may be damaged, and SQLite would throw away a log that does not fit.
Result<void> keep_old(const std::string& database, const std::string& kept) {
  for (const char* suffix : {"", "-wal"}) {
    const std::string from = cat(database, suffix);
    const std::string to = cat(kept, suffix);
    if (exists(from) && ::link(from.c_str(), to.c_str()) != 0) return failed_to("make", to);
  }
  return sync_folder_of(kept);
}

// A log that is not of this database would be taken for its own.
Result<void> remove_logs(const std::string& database) {
  for (const char* suffix : {"-wal", "-shm"}) {
    const std::string path = cat(database, suffix);
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed_to("remove", path);
  }
  return sync_folder_of(database);
}

}  // namespace

Result<CopyReport> back_up(const BackupOptions& options) {
  if (options.existing == Existing::keep && exists(options.file)) {
    return Error(ErrorCode::conflict, cat(options.file, " exists")).reason(kFileExists);
  }
  ERRAND_TRY(auto database, open_known(options.database));
  NewFile copy(cat(options.file, ".partial-", ::getpid()));
  ERRAND_CHECK(copy.make());
  if (options.progress) {
    database->while_working([&options, path = copy.path()] {
      std::error_code error;
      const auto bytes = fs::file_size(path, error);
      if (!error) options.progress(static_cast<std::int64_t>(bytes));
    });
  }
  ERRAND_CHECK(copy_into(*database, copy.path()));
  ERRAND_TRY(CopyReport report, look_at(copy.path()));
  ERRAND_CHECK(copy.rename_to(options.file));
  ERRAND_CHECK(sync_folder_of(options.file));
  return report;
}

Result<RestoreReport> restore(const RestoreOptions& options) {
  ERRAND_TRY(auto lock, FileLock::take(cat(options.database, ".lock")));
  ERRAND_TRY(auto backup, open_known(options.file));
  ERRAND_CHECK(check_whole(*backup, options.file));
  const bool replaces = exists(options.database);
  if (replaces && options.existing == Existing::keep) {
    return Error(ErrorCode::conflict, cat("there is a database at ", options.database))
        .reason(kFileExists);
  }
  NewFile copy(cat(options.database, ".restoring"));
  ERRAND_CHECK(copy.make());
  ERRAND_CHECK(copy_into(*backup, copy.path()));
  RestoreReport report;
  ERRAND_TRY(report.copy, look_at(copy.path()));
  if (replaces) {
    report.kept = name_for_old(options.database, options.now);
    ERRAND_CHECK(keep_old(options.database, report.kept));
  }
  ERRAND_CHECK(remove_logs(options.database));
  ERRAND_CHECK(copy.rename_to(options.database));
  ERRAND_CHECK(sync_folder_of(options.database));
  return report;
}

}  // namespace errand::sqlite
