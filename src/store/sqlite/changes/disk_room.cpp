#include "store/sqlite/changes/disk_room.hpp"

#include <sys/statvfs.h>

#include <limits>
#include <utility>

#include "base/size_text.hpp"
#include "base/text.hpp"

namespace errand::sqlite {
namespace {

constexpr std::int64_t kPageBytes = 4096;
// The file system is asked again after this time, or after this many bytes were written.
constexpr milliseconds kLookInterval{1000};
constexpr std::int64_t kLookPages = 2000;

Result<std::int64_t> integer(Statement& statement) {
  Rows rows = statement.query();
  ERRAND_TRY(bool found, rows.next());
  return found ? rows.integer(0) : 0;
}

}  // namespace

std::int64_t bytes_left_beside(const std::string& path) {
  struct statvfs info{};
  if (::statvfs(path.c_str(), &info) != 0) return std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

DiskRoom::DiskRoom(Database& database, const Timekeeper& time, Limits limits)
    : database_(database),
      time_(time),
      limits_(std::move(limits)),
      page_count_(database, "PRAGMA page_count"),
      free_count_(database, "PRAGMA freelist_count") {}

Result<void> DiskRoom::check() {
  if (limits_.pages_max > 0) ERRAND_CHECK(check_pages());
  return check_file_system();
}

Result<void> DiskRoom::check_pages() {
  ERRAND_TRY(std::int64_t pages, integer(page_count_));
  ERRAND_TRY(std::int64_t free_pages, integer(free_count_));
  const std::int64_t left = (limits_.pages_max - pages + free_pages) * kPageBytes;
  if (left >= limits_.reserve_bytes) return {};
  return refusal(left, cat("of the ", size_text(limits_.pages_max * kPageBytes), " that ",
                           limits_.path, " may take"));
}

Result<void> DiskRoom::check_file_system() {
  if (should_look()) {
    has_looked_ = true;
    looked_at_ = time_.now();
    pages_written_ = database_.pages_written();
    left_bytes_ = bytes_left_beside(limits_.path);
  }
  if (left_bytes_ >= limits_.reserve_bytes) return {};
  return refusal(left_bytes_, cat("on the file system of ", limits_.path));
}

bool DiskRoom::should_look() const {
  return !has_looked_ || time_.now() - looked_at_ >= kLookInterval ||
         database_.pages_written() - pages_written_ >= kLookPages;
}

Error DiskRoom::refusal(std::int64_t left_bytes, const std::string& where) const {
  return Error(ErrorCode::unavailable,
               cat("the disk is nearly full: ", size_text(left_bytes), " are left ", where,
                   ", and below ", size_text(limits_.reserve_bytes),
                   " new runs are refused so that running ones can finish"))
      .reason("disk_full")
      .hint("Free some disk space, or wait until old runs are removed.");
}

}  // namespace errand::sqlite
