#include "store/sqlite/database.hpp"

#include <sqlite3.h>

#include "base/text.hpp"

namespace errand::sqlite {
namespace {

// Memory for pages: a writer touches the ends of a few trees, a reader pages that it rarely sees
// again.
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

int remember_log_pages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

Result<void> set_up(Database& database, Database::Access access) {
  if (access == Database::Access::read) return database.execute(kReadPragmas);
  ERRAND_CHECK(database.execute("PRAGMA journal_mode = WAL"));
  return database.execute(kWritePragmas);
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::string& path, Access access) {
  int flags = SQLITE_OPEN_NOMUTEX;
  flags |= access == Access::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  sqlite3* handle = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  std::unique_ptr<Database> database(new Database(handle));
  Result<void> ready;
  if (code != SQLITE_OK) {
    ready = database->fail(code);
  } else {
    sqlite3_extended_result_codes(handle, 1);
    sqlite3_busy_timeout(handle, kBusyMillis);
    ready = set_up(*database, access);
    // Instead of SQLite's own checkpoints, which hide their failures.
    sqlite3_wal_hook(handle, remember_log_pages, &database->log_pages_);
  }
  if (!ready) {
    return Error(ErrorCode::unavailable,
                 cat("cannot open the database ", path, ": ", ready.error().message()));
  }
  return database;
}

Database::~Database() {
  sqlite3_close(handle_);
}

Error Database::fail(int code) {
  if ((code & 0xff) == SQLITE_IOERR) {
    sync_failed_ |= code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
  }
  Error error(ErrorCode::unavailable, cat("the database failed: ", sqlite3_errmsg(handle_)));
  if ((code & 0xff) == SQLITE_FULL) error = std::move(error).reason("disk_full");
  if (!failure_) failure_ = error;
  return error;
}

Result<void> Database::execute(const std::string& sql) {
  int code = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(code);
  return {};
}

Result<std::int64_t> Database::integer(const char* sql) {
  Statement statement(*this, sql);
  Rows rows = statement.query();
  ERRAND_TRY(bool found, rows.next());
  const std::int64_t value = found ? rows.integer(0) : 0;
  if (found) ERRAND_CHECK(rows.next());  // a statement that writes has done so only at its end
  return value;
}

void Database::rollback() {
  // SQLite has rolled back by itself after some failures.
  if (sqlite3_get_autocommit(handle_) == 0) {
    int code = sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) fail(code);
  }
  if (sqlite3_get_autocommit(handle_) != 0) failure_.reset();
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_);
}

Result<void> Database::checkpoint() {
  int code =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code == SQLITE_OK || code == SQLITE_BUSY) return {};
  Error error = fail(code);
  failure_.reset();  // no transaction is hurt: what it could not move is still in the log
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
  // A null pointer would bind NULL.
  const char* data = text.empty() ? "" : text.data();
  int code = sqlite3_bind_text64(handle_, index, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code_ == SQLITE_OK) code_ = code;
}

void Statement::bind(int index, Blob blob) {
  const char* data = blob.bytes.empty() ? "" : blob.bytes.data();
  int code = sqlite3_bind_blob64(handle_, index, data, blob.bytes.size(), SQLITE_STATIC);
  if (code_ == SQLITE_OK) code_ = code;
}

void Statement::bind(int index, std::optional<WallTime> time) {
  if (time) return bind(index, *time);
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
