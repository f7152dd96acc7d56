#include "store/sqlite/file/database.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "base/text.hpp"
#include "store/sqlite/file/gathering_vfs.hpp"

namespace errand::sqlite {
namespace {

// Page caches: a writer touches the ends of a few trees, a reader pages that it rarely sees again.
constexpr const char* kWritePragmas = R"sql(
  PRAGMA synchronous = FULL;
  PRAGMA cache_size = -4096;
  PRAGMA temp_store = MEMORY;
  PRAGMA journal_size_limit = 8388608;
)sql";
constexpr const char* kReadPragmas = R"sql(
  PRAGMA cache_size = -512;
  PRAGMA temp_store = MEMORY;
)sql";
constexpr int kBusyMillis = 5000;
// The number of SQLite's virtual machine steps between two calls of while_working's function.
constexpr int kWorkSteps = 1000;

// Only a database without any pages can be set up so that its file can shrink.
Result<void> let_new_file_shrink(Database& database) {
  ERRAND_TRY(std::int64_t pages, database.integer("PRAGMA page_count"));
  if (pages > 0) return {};
  return database.execute("PRAGMA auto_vacuum = INCREMENTAL");
}

Result<void> set_up(Database& database, Database::Access access) {
  if (access != Database::Access::write) return database.execute(kReadPragmas);
  ERRAND_CHECK(let_new_file_shrink(database));
  ERRAND_CHECK(database.execute("PRAGMA journal_mode = WAL"));
  return database.execute(kWritePragmas);
}

// A URI for SQLITE_OPEN_URI which says that the file does not change.
std::string frozen_address(const std::string& path) {
  std::string out = "file:";
  for (char c : path) append(out, c == '/' ? std::string("/") : percent_encode({&c, 1}));
  return out + "?immutable=1";
}

}  // namespace

void count_no_memory() {
  ::sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

Error with_context(std::string_view tried, const Error& error) {
  return Error(error.code(), cat(tried, ": ", error.message()))
      .reason(error.reason())
      .hint(error.hint());
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Access access) {
  int flags = SQLITE_OPEN_NOMUTEX;
  flags |= access == Access::write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  std::string place = path;
  if (access == Access::frozen) {
    flags |= SQLITE_OPEN_URI;
    place = frozen_address(path);
  }
  sqlite3* handle = nullptr;
  const char* vfs = access == Access::write ? gathering_vfs() : nullptr;
  int code = sqlite3_open_v2(place.c_str(), &handle, flags, vfs);
  std::unique_ptr<Database> database(new Database(handle));
  Result<void> ready;
  if (code != SQLITE_OK) {
    ready = database->fail(code);
  } else {
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, kBusyMillis);
    ready = set_up(*database, access);
    // Replaces SQLite's automatic checkpoints, which hide their failures.
    sqlite3_wal_hook(handle, remember_log_size, &database->log_);
  }
  if (!ready) return with_context(cat("cannot open the database ", path), ready.error());
  return database;
}

Database::~Database() {
  sqlite3_finalize(commit_);
  sqlite3_close(handle_);
}

int Database::remember_log_size(void* log, sqlite3*, const char*, int pages) {
  auto* size = static_cast<LogSize*>(log);
  // A log with fewer pages than before was started again.
  size->pages_written += pages > size->pages ? pages - size->pages : pages;
  size->pages = pages;
  return SQLITE_OK;
}

Error Database::fail(int code) {
  const int kind = code & 0xff;
  sync_failed_ |= code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
  const bool is_foreign = kind == SQLITE_NOTADB;
  const bool is_damaged = kind == SQLITE_CORRUPT || is_foreign;
  const bool is_full =
      kind == SQLITE_FULL || (kind == SQLITE_IOERR && sqlite3_system_errno(handle_) == ENOSPC);
  Error error(ErrorCode::unavailable,
              cat(is_foreign   ? ""
                  : is_damaged ? "the database is damaged: "
                               : "the database failed: ",
                  is_foreign ? "the file is not a database" : sqlite3_errmsg(handle_)));
  if (is_full) error = std::move(error).reason("disk_full");
  if (is_damaged) {
    error =
        std::move(error)
            .reason(kStoreDamaged)
            .hint(is_foreign
                      ? "Name another place with --data DIR; if this was a database of Errand's, "
                        "restore a backup with 'errand restore'."
                      : "Run 'errand check-data' to see what is damaged, or restore a backup with "
                        "'errand restore'.");
  }
  if (!failure_) failure_ = error;
  return error;
}

Result<void> Database::execute(const std::string& sql) {
  int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(code);
  return {};
}

Result<std::int64_t> Database::integer(const std::string& sql) {
  Statement statement(*this, sql.c_str());
  Rows rows = statement.query();
  ERRAND_TRY(bool found, rows.next());
  const std::int64_t value = found ? rows.integer(0) : 0;
  if (found) ERRAND_CHECK(rows.next());  // a statement with RETURNING is done only at its end
  return value;
}

Result<std::string> Database::text(const std::string& sql) {
  Statement statement(*this, sql.c_str());
  Rows rows = statement.query();
  ERRAND_TRY(bool found, rows.next());
  return found ? rows.text(0) : std::string();
}

void Database::while_working(std::function<void()> work) {
  work_ = std::move(work);
  sqlite3_progress_handler(handle_, kWorkSteps, work_ ? call_work : nullptr, &work_);
}

int Database::call_work(void* work) {
  (*static_cast<std::function<void()>*>(work))();
  return 0;  // go on
}

void Database::rollback() {
  // After some failures, SQLite has rolled back already.
  if (sqlite3_get_autocommit(handle_) == 0) {
    int code = sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code);
  }
  if (sqlite3_get_autocommit(handle_) != 0) failure_.reset();
}

Result<void> Database::commit() {
  int code = SQLITE_OK;
  if (!commit_) {
    code = sqlite3_prepare_v3(handle_, "COMMIT", -1, SQLITE_PREPARE_PERSISTENT, &commit_, nullptr);
  }
  if (code == SQLITE_OK) code = sqlite3_step(commit_);
  const bool is_sure = is_rolled_back_for_sure(code);
  Result<void> done;
  if (code != SQLITE_DONE) done = fail(code);
  sqlite3_reset(commit_);
  if (done || is_sure) return done;
  return Error(ErrorCode::outcome_unknown, done.error().message());
}

// COMMIT writes the changed pages to the write-ahead log and marks the last of them as the end of a
// transaction. A failed write leaves no such mark. After the write, SQLite informs the other
// connections through shared memory. If that fails, this process goes on without the transaction,
// but a process that reads the log again finds it.
bool Database::is_rolled_back_for_sure(int code) const {
  if (sqlite3_get_autocommit(handle_) == 0)
    return true;  // it is still open and will be rolled back
  return (code & 0xff) == SQLITE_FULL || code == SQLITE_IOERR_WRITE;
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_);
}

std::int64_t Database::total_changes() const {
  return sqlite3_total_changes64(handle_);
}

Result<void> Database::checkpoint() {
  int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK || code == SQLITE_BUSY) return {};
  Error error = fail(code);
  failure_
      .reset();  // no transaction is affected: the pages that were not moved are still in the log
  return error;
}

Statement::~Statement() {
  sqlite3_finalize(handle_);
}

void Statement::prepare() {
  if (handle_) return;
  code_ =
      sqlite3_prepare_v3(database_.handle_, sql_, -1, SQLITE_PREPARE_PERSISTENT, &handle_, nullptr);
}

void Statement::bind(int index, std::int64_t value) {
  int code = sqlite3_bind_int64(handle_, index, value);
  if (code_ == SQLITE_OK) code_ = code;
}

void Statement::bind(int index, std::string_view text) {
  // Binding a null pointer would bind NULL.
  const char* data = text.empty() ? "" : text.data();
  int code = sqlite3_bind_text64(handle_, index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code_ == SQLITE_OK) code_ = code;
}

void Statement::bind(int index, Blob blob) {
  const char* data = blob.bytes.empty() ? "" : blob.bytes.data();
  int code = sqlite3_bind_blob64(handle_, index, data, blob.bytes.size(), SQLITE_STATIC);
  if (code_ == SQLITE_OK) code_ = code;
}

void Statement::bind_null(int index) {
  int code = sqlite3_bind_null(handle_, index);
  if (code_ == SQLITE_OK) code_ = code;
}

Result<void> Statement::run_bound() {
  Rows rows(*this);
  ERRAND_TRY([[maybe_unused]] bool row, rows.next());
  return {};
}

Rows::~Rows() {
  statement_.code_ = SQLITE_OK;
  sqlite3_reset(statement_.handle_);
}

Result<bool> Rows::next() {
  int code = statement_.code_;
  if (code == SQLITE_OK) code = sqlite3_step(statement_.handle_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return statement_.database_.fail(code);
}

std::int64_t Rows::integer(int column) const {
  return sqlite3_column_int64(statement_.handle_, column);
}

std::string_view Rows::view(int column) const {
  auto data = static_cast<const char*>(sqlite3_column_blob(statement_.handle_, column));
  int size = sqlite3_column_bytes(statement_.handle_, column);
  return {data, static_cast<std::size_t>(size)};
}

bool Rows::is_null(int column) const {
  return sqlite3_column_type(statement_.handle_, column) == SQLITE_NULL;
}

}  // namespace errand::sqlite
