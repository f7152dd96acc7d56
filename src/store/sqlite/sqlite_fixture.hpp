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

// A SqliteStore on a file of its own, with everything that it needs.
class SqliteFile final {
 public:
  explicit SqliteFile(std::int64_t pages_max = 0) : store_(open(path(), pages_max).value()) {}

  SqliteStore& store() { return *store_; }
  void close() { store_.reset(); }
  void reopen() {
    close();
    store_ = open(path()).value();
  }

  // Another store, beside or instead of this one.
  Result<std::unique_ptr<SqliteStore>> open(std::string path, std::int64_t pages_max = 0) {
    return SqliteStore::open({.path = std::move(path),
                              .clock = clock_,
                              .pool = pool_,
                              .log = log_,
                              .pages_max = pages_max});
  }

  std::string path() const { return folder_.file("errand.db"); }
  const std::string& folder() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
  store_contract::FixedClock clock_;
  Log log_{clock_, STDERR_FILENO, LogFormat::text};
  BlockingPool pool_{2, 1000};
  std::unique_ptr<SqliteStore> store_;  // null while closed
};

}  // namespace errand
