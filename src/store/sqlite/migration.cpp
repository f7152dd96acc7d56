#include "store/sqlite/migration.hpp"

#include <algorithm>
#include <utility>

#include "base/size_text.hpp"
#include "base/text.hpp"
#include "store/sqlite/changes/disk_room.hpp"
#include "store/sqlite/file/database_copy.hpp"
#include "store/sqlite/schema.hpp"

namespace errand::sqlite {
namespace {

constexpr milliseconds kToldEvery{3000};
// At most this many backups of one database, each of another state, are kept beside it.
constexpr int kBackupsMax = 100;

// Two databases with the same mark have the same content, because every process that opens a
// database counts itself in `meta`.
constexpr const char* kMark =
    "SELECT (SELECT group_concat(key || ' ' || value) FROM meta) || "
    "(SELECT ' runs ' || count(*) || ' ' || total(last_seq) || ' ' || coalesce(max(updated_at), 0) "
    "FROM runs)";

// Logs the progress of a long piece of work every few seconds.
class Reporter final {
 public:
  Reporter(const MigrationOptions& options, std::string_view doing)
      : options_(options), doing_(doing), told_at_(options.clock.steady_now()) {}

  template <class Amount>
  void tell(std::string_view key, const Amount& amount) {
    const SteadyTime now = options_.clock.steady_now();
    if (now - told_at_ < kToldEvery) return;
    told_at_ = now;
    options_.log.info(doing_, {{key, amount()}});
  }

 private:
  const MigrationOptions& options_;
  const std::string_view doing_;
  SteadyTime told_at_;
};

// Whether the file is a copy of the database in its present state.
bool is_copy_of(Database& database, const std::string& file) {
  auto copy = Database::open(file, Database::Access::frozen);
  if (!copy) return false;
  auto version = database.integer("PRAGMA user_version");
  auto copied_version = (*copy)->integer("PRAGMA user_version");
  auto mark = database.text(kMark);
  auto copied_mark = (*copy)->text(kMark);
  return version && copied_version && mark && copied_mark && *version == *copied_version &&
         *mark == *copied_mark;
}

struct Backup {
  std::string file;
  bool is_made = false;
};

// The backup that an interrupted start made, or a free name for a new one.
Result<Backup> find_backup(Database& database, const std::string& path, std::int64_t version) {
  for (int i = 1; i <= kBackupsMax; ++i) {
    Backup backup{.file = cat(path, ".schema", version, i == 1 ? "" : cat(".", i), ".bak")};
    if (!file_exists(backup.file)) return backup;
    backup.is_made = is_copy_of(database, backup.file);
    if (backup.is_made) return backup;
  }
  return Error(ErrorCode::unavailable, cat("there are too many backups beside ", path))
      .hint("Remove some of the files that end with \".bak\".");
}

Result<void> check_room(const std::string& path, std::int64_t needed_bytes) {
  const std::int64_t missing = needed_bytes - bytes_left_beside(path);
  if (missing <= 0) return {};
  return Error(ErrorCode::unavailable,
               cat("the upgrade to schema version ", schema().size(), " needs ",
                   size_text(needed_bytes), " of free disk space for a backup and the new tables, ",
                   "and ", size_text(missing), " are missing"))
      .reason("disk_full")
      .hint("Free some disk space and start again. The database is unchanged.");
}

// New rows take space twice, in the write-ahead log and in the file. Version 4 rewrites the
// segments; version 5 rewrites the blobs, and the runs, which are less than half of a file.
Result<std::int64_t> bytes_to_rewrite(Database& database, std::int64_t version,
                                      std::int64_t bytes) {
  if (version < 4) return 2 * bytes;
  ERRAND_TRY(std::int64_t blob_bytes,
             database.integer("SELECT coalesce(sum(length(bytes)), 0) FROM blobs"));
  return bytes + std::min(bytes, blob_bytes);
}

Result<void> back_up(const MigrationOptions& options, const std::string& file) {
  ERRAND_TRY(auto reader, Database::open(options.path, Database::Access::read));
  const std::int64_t all = file_bytes(options.path);
  Reporter reporter(options, "backing up the database");
  NewFile copy(cat(file, ".partial"));
  ERRAND_CHECK(copy.make());
  ERRAND_CHECK(copy_into(*reader, copy.path(), [&](std::int64_t bytes) {
    reporter.tell("done", [&] { return cat(bytes * 100 / std::max(all, bytes), "%"); });
  }));
  if (!is_copy_of(*reader, copy.path())) {
    return Error(ErrorCode::unavailable, cat("the backup ", file, " cannot be read back"));
  }
  ERRAND_CHECK(copy.rename_to(file));
  options.log.info("the database is backed up", {{"file", file}});
  return {};
}

Result<void> rewrite(Database& database, const MigrationOptions& options) {
  Reporter reporter(options, "rewriting the database");
  database.while_working([&] {
    reporter.tell("written", [&] { return size_text(file_bytes(options.path + "-wal")); });
  });
  auto done = migrate(database, schema(), options.clock.now());
  database.while_working(nullptr);
  ERRAND_CHECK(done);
  // The write-ahead log is now as large as the new tables. If it cannot be truncated, a later
  // checkpoint will do it.
  if (!database.execute("PRAGMA wal_checkpoint(TRUNCATE)")) database.rollback();
  return {};
}

}  // namespace

Result<void> bring_up_to_date(Database& database, const MigrationOptions& options) {
  ERRAND_CHECK(check_version(database, schema()));
  ERRAND_TRY(const std::int64_t version, database.integer("PRAGMA user_version"));
  if (version == 0 || version >= kLastRewrite) {
    return migrate(database, schema(), options.clock.now());
  }
  // This also truncates a write-ahead log that an interrupted start left behind.
  ERRAND_CHECK(database.execute("PRAGMA wal_checkpoint(TRUNCATE)"));
  ERRAND_TRY(const Backup backup, find_backup(database, options.path, version));
  const std::int64_t bytes = file_bytes(options.path);
  ERRAND_TRY(std::int64_t needed_bytes, bytes_to_rewrite(database, version, bytes));
  if (!backup.is_made) needed_bytes += bytes;
  ERRAND_CHECK(check_room(options.path, needed_bytes));
  options.log.info("the database has an old schema version and is rewritten",
                   {{"database", options.path},
                    {"from", cat(version)},
                    {"to", cat(schema().size())},
                    {"size", size_text(bytes)}});
  if (!backup.is_made) ERRAND_CHECK(back_up(options, backup.file));
  ERRAND_CHECK(rewrite(database, options));
  options.log.info("the database is rewritten",
                   {{"version", cat(schema().size())}, {"backup", backup.file}});
  return {};
}

}  // namespace errand::sqlite
