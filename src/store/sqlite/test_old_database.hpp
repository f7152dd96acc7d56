#pragma once

// Databases of former versions, for tests.

#include <filesystem>
#include <fstream>
#include <string>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/schema.hpp"
#include "store/sqlite/sqlite_fixture.hpp"

namespace errand {

// Makes a database of this version in the place of any earlier one, with these rows.
inline void make_old_database(const std::string& path, std::size_t version,
                              const std::string& rows) {
  std::filesystem::remove(path);
  std::ofstream(path).close();
  auto old = sqlite::Database::open(path, sqlite::Database::Access::write).value();
  ASSERT_TRUE(
      sqlite::migrate(*old, sqlite::schema().first(version), from_millis(store_contract::kStart)));
  ASSERT_TRUE(old->execute(rows));
}

// Brings an old database to a later version that is old, too.
inline void bring_old_database_to(const std::string& path, std::size_t version) {
  auto old = sqlite::Database::open(path, sqlite::Database::Access::write).value();
  ASSERT_TRUE(
      sqlite::migrate(*old, sqlite::schema().first(version), from_millis(store_contract::kStart)));
}

// Ended runs of one segment, for version 4.
inline std::string many_old_runs(int count) {
  const std::string numbers =
      cat("WITH RECURSIVE number(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM number WHERE i < ",
          count, ") ");
  return cat(numbers,
             "INSERT INTO runs SELECT 'default', 'run_' || (10000 + i), 3, 1, 0, 1, 7, "
             "1699999000000 + i, 1699999000000 + i, 'a run', 'demo', '{\"team\":\"red\"}', "
             "1700085400000, 0, i FROM number;",
             numbers,
             "INSERT INTO segments SELECT i, 'run_' || (10000 + i), 0, 0, 0, 1699999000000 + i, 1, "
             "0, CAST('{\"j\":1}' AS BLOB), x'' FROM number;");
}

}  // namespace errand
