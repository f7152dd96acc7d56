#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/id.hpp"
#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace errand::sqlite {

// SQLite takes a lock at each allocation to count its memory. A process whose only user of SQLite
// is this store may switch that off, before it opens the first database.
void count_no_memory();

// The reason of every error that means that the file itself is hurt.
inline constexpr std::string_view kStoreDamaged = "store_damaged";

// The same error, with the failed action before its message.
Error with_context(std::string_view tried, const Error& error);

// One connection to a database file, with its pragmas set. Use from one thread at a time.
class Database final {
 public:
  // `frozen` reads a file that no process writes meanwhile, and whose log is empty: it takes no
  // locks and leaves no other files beside it.
  enum class Access { write, read, frozen };
  // unavailable: the file cannot be opened, or is not a database.
  static Result<std::unique_ptr<Database>> open(const std::string& path, Access access);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Runs a script whose rows, if any, do not matter.
  Result<void> execute(const std::string& sql);
  // The one integer that `sql` gives.
  Result<std::int64_t> integer(const std::string& sql);
  // The one text that `sql` gives.
  Result<std::string> text(const std::string& sql);

  // The first thing that went wrong since the last rollback. The writer must then roll back.
  bool failed() const { return failure_.has_value(); }
  const Error& failure() const { return *failure_; }
  // The operating system lost writes that it was told to make durable: nothing in memory can be
  // trusted to match the disk any more.
  bool sync_failed() const { return sync_failed_; }
  void rollback();
  // Ends a transaction. unavailable: nothing of it is kept. outcome_unknown: this connection has
  // rolled it back, but the write-ahead log may hold all of it, and a new process would find it
  // there.
  Result<void> commit();

  // Number of rows that the last statement changed, and that all together did.
  std::int64_t changes() const;
  std::int64_t total_changes() const;

  // Pages in the write-ahead log, as of the last commit; and moving them into the database.
  int log_pages() const { return log_.pages; }
  Result<void> checkpoint();
  // Pages that all commits have written to the log.
  std::int64_t pages_written() const { return log_.pages_written; }

  // Calls `work` often during long statements. An empty function ends that.
  void while_working(std::function<void()> work);

 private:
  friend class Statement;
  friend class Rows;
  explicit Database(sqlite3* handle) : handle_(handle) {}
  Error fail(int code);
  bool is_rolled_back_for_sure(int code) const;

  struct LogSize {
    int pages = 0;
    std::int64_t pages_written = 0;
  };
  static int remember_log_size(void* log, sqlite3*, const char*, int pages);
  static int call_work(void* work);

  sqlite3* handle_;
  sqlite3_stmt* commit_ = nullptr;  // prepared when first used
  LogSize log_;
  std::function<void()> work_;
  bool sync_failed_ = false;
  std::optional<Error> failure_;
};

// Bytes that are not text.
struct Blob {
  std::string_view bytes;
};

class Rows;

// One statement, prepared when first used and kept. Bound values are not copied: they must live
// until the statement has run.
class Statement final {
 public:
  Statement(Database& database, const char* sql) : database_(database), sql_(sql) {}
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  // Runs a statement that gives no rows.
  template <class... Values>
  Result<void> run(const Values&... values) {
    bind_all(values...);
    return run_bound();
  }

  // Starts a statement that gives rows.
  template <class... Values>
  Rows query(const Values&... values);

 private:
  friend class Rows;

  template <class... Values>
  void bind_all(const Values&... values) {
    prepare();
    int index = 0;
    (bind(++index, values), ...);
  }

  void prepare();
  void bind(int index, std::int64_t value);
  void bind(int index, std::string_view text);
  void bind(int index, Blob blob);
  template <class AnyClock>
  void bind(int index, std::chrono::time_point<AnyClock, milliseconds> time) {
    bind(index, std::int64_t{time.time_since_epoch().count()});
  }
  template <class AnyClock>
  void bind(int index, std::optional<std::chrono::time_point<AnyClock, milliseconds>> time) {
    if (time) return bind(index, *time);
    bind_null(index);
  }
  void bind_null(int index);
  template <class Tag>
  void bind(int index, const Id<Tag>& id) {
    bind(index, id.view());
  }
  template <class N>
    requires((std::integral<N> && !std::same_as<N, std::int64_t>) || std::is_enum_v<N>)
  void bind(int index, N value) {
    bind(index, static_cast<std::int64_t>(value));
  }

  Result<void> run_bound();

  Database& database_;
  const char* const sql_;
  sqlite3_stmt* handle_ = nullptr;
  int code_ = 0;  // the first thing that went wrong while preparing or binding
};

// The rows of a running statement, which ends with this object.
class Rows final {
 public:
  explicit Rows(Statement& statement) : statement_(statement) {}
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  // Moves to the next row; false after the last one.
  Result<bool> next();

  // Columns of the current row. A view lives until the next row.
  std::int64_t integer(int column) const;
  std::string_view view(int column) const;
  std::string text(int column) const { return std::string(view(column)); }
  bool is_null(int column) const;
  WallTime time(int column) const { return from_millis(integer(column)); }
  template <class I>
  I id(int column) const {
    return I::parse(view(column)).value_or(I());
  }

 private:
  Statement& statement_;
};

template <class... Values>
Rows Statement::query(const Values&... values) {
  bind_all(values...);
  return Rows(*this);
}

}  // namespace errand::sqlite
