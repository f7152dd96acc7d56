#include "store/sqlite/file/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/text.hpp"

namespace errand::sqlite {
namespace {

std::string pid_in(int fd) {
  char pid[24] = {};
  ssize_t size = ::pread(fd, pid, sizeof pid, 0);
  return std::string(trim(std::string_view(pid, size > 0 ? static_cast<std::size_t>(size) : 0)));
}

std::string shown(const std::string& pid) {
  return pid.empty() ? std::string("another process") : cat("process ", pid);
}

// The kernel's list has a line for each lock: "1: FLOCK ADVISORY WRITE 123 fe:00:5668983 0 EOF".
// The device is not compared, because some file systems report another one here than in stat().
bool is_listed(ino_t inode) {
  std::ifstream list("/proc/locks");
  const std::string end = cat(":", inode);
  for (std::string line; std::getline(list, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, pid, place;
    words >> number >> kind >> mode >> access >> pid >> place;
    if (kind == "FLOCK" && place.ends_with(end)) return true;
  }
  return false;
}

Result<void> write_pid(int fd, const std::string& path) {
  std::string pid = cat(::getpid());
  if (::ftruncate(fd, 0) == 0 && ::pwrite(fd, pid.data(), pid.size(), 0) > 0) return {};
  return Error(ErrorCode::unavailable, cat("cannot write ", path, ": ", std::strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<FileLock>> FileLock::take(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return Error(ErrorCode::unavailable, cat("cannot open ", path, ": ", std::strerror(errno)));
  }
  const int fd = file.get();
  std::unique_ptr<FileLock> lock(new FileLock(std::move(file)));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error(ErrorCode::conflict,
                   cat("in use by ", shown(pid_in(fd)), ", which holds ", path));
    }
    return Error(ErrorCode::unavailable, cat("cannot lock ", path, ": ", std::strerror(errno)));
  }
  ERRAND_CHECK(write_pid(fd, path));
  return lock;
}

std::string FileLock::holder(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return {};
  struct stat about{};
  bool is_held = ::fstat(file.get(), &about) == 0 && is_listed(about.st_ino);
  return is_held ? shown(pid_in(file.get())) : std::string();
}

}  // namespace errand::sqlite
