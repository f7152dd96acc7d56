#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "store/sqlite/sqlite_fixture.hpp"

namespace {
std::atomic<bool> sync_fails = false;
}

// SQLite is linked into this program, so these take the place of the C library's.
extern "C" int fdatasync(int fd) {
  if (!sync_fails) return static_cast<int>(::syscall(SYS_fdatasync, fd));
  errno = EIO;
  return -1;
}
extern "C" int fsync(int fd) {
  return ::fdatasync(fd);
}

namespace errand::sync_failure_test {
namespace {

using namespace store_contract;

// The files go first, because nothing runs after the end of the process.
void write_to_a_failing_disk() {
  SqliteFile file;
  std::filesystem::remove_all(file.folder());
  sync_fails = true;
  (void)wait_for(file.store().create(new_run(1)));
}

TEST(SqliteStoreDeathTest, AFailedSyncEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(write_to_a_failing_disk(), "error fsync failed: the server exits");
}

}  // namespace
}  // namespace errand::sync_failure_test
