#pragma once

#include <cstdint>
#include <string>

#include "store/sqlite/changes/timekeeper.hpp"
#include "store/sqlite/file/database.hpp"

namespace errand::sqlite {

// The free space on the file system of a file. If the file system does not tell: unlimited.
std::int64_t bytes_left_beside(const std::string& path);

// Whether there is room for more runs. When less than a reserve is left, it is kept for the
// existing runs, so that they can go on and end. Use from the writer's thread.
class DiskRoom final {
 public:
  struct Limits {
    std::string path;  // the database's file
    std::int64_t reserve_bytes = 0;
    std::int64_t pages_max = 0;  // of the file; 0: no limit
  };
  DiskRoom(Database& database, const Timekeeper& time, Limits limits);

  // unavailable with reason "disk_full": there is room only for the runs that are there.
  Result<void> check();

 private:
  Result<void> check_pages();
  Result<void> check_file_system();
  bool should_look() const;
  Error refusal(std::int64_t left_bytes, const std::string& where) const;

  Database& database_;
  const Timekeeper& time_;
  const Limits limits_;

  Statement page_count_;
  Statement free_count_;

  // Of the last look at the file system.
  bool has_looked_ = false;
  StoreTime looked_at_{};
  std::int64_t pages_written_ = 0;
  std::int64_t left_bytes_ = 0;
};

}  // namespace errand::sqlite
