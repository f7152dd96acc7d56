#pragma once

// What tests of the SqliteStore stand on.

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "store/sqlite/sqlite_store.hpp"
#include "store/store_contract.hpp"

namespace errand {

// A folder that goes away with this object.
class TemporaryFolder final {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "errand-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(std::string_view name) const { return cat(path_, "/", name); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// How large a store may become. Without a reserve, so that tests run on any disk.
struct Room {
  std::int64_t pages_max = 0;
  std::int64_t reserve_bytes = 0;
};

// A SqliteStore on a file of its own, with everything that it needs.
class SqliteFile final {
 public:
  explicit SqliteFile(Room room = {}) : store_(open(path(), room).value()) {}

  SqliteStore& store() { return *store_; }
  ManualClock& clock() { return clock_; }
  void close() { store_.reset(); }
  void reopen(Room room = {}) {
    close();
    store_ = open(path(), room).value();
  }

  bool append(Commit commit) {
    return store_contract::is_appended(store_contract::wait_for(store_->append(std::move(commit))));
  }

  // Another store, beside or instead of this one.
  Result<std::unique_ptr<SqliteStore>> open(std::string path, Room room = {}) {
    return SqliteStore::open({.path = std::move(path),
                              .clock = clock_,
                              .pool = pool_,
                              .log = log_,
                              .pages_max = room.pages_max,
                              .reserve_bytes = room.reserve_bytes});
  }

  std::string path() const { return folder_.file("errand.db"); }
  const std::string& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  ManualClock clock_{store_contract::kStart};
  Log log_{clock_, STDERR_FILENO, LogFormat::text, LogLevel::warning};
  BlockingPool pool_{2, 1000};
  std::unique_ptr<SqliteStore> store_;  // null while closed
};

// Segment `n` with one event of that size.
inline Segment large_segment(std::int32_t n, std::size_t bytes) {
  Segment segment = store_contract::events_segment(n, n, 1);
  segment.events = cat("\"", std::string(bytes, 'x'), "\"\n");
  return segment;
}

}  // namespace errand
