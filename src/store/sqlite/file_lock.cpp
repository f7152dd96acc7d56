#include "store/sqlite/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"

namespace errand::sqlite {
namespace {

std::string holder(int fd) {
  char pid[24] = {};
  ssize_t size = ::pread(fd, pid, sizeof pid, 0);
  auto text = trim(std::string_view(pid, size > 0 ? static_cast<std::size_t>(size) : 0));
  return text.empty() ? std::string("another process") : cat("process ", text);
}

Result<void> write_pid(int fd, const std::string& path) {
  std::string pid = cat(::getpid());
  if (::ftruncate(fd, 0) == 0 && ::pwrite(fd, pid.data(), pid.size(), 0) > 0) return {};
  return Error(ErrorCode::unavailable, cat("cannot write ", path, ": ", std::strerror(errno)));
}

}  // namespace

Result<std::unique_ptr<FileLock>> FileLock::take(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) {
    return Error(ErrorCode::unavailable, cat("cannot open ", path, ": ", std::strerror(errno)));
  }
  std::unique_ptr<FileLock> lock(new FileLock(fd));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error(ErrorCode::conflict, cat("in use by ", holder(fd), ", which holds ", path));
    }
    return Error(ErrorCode::unavailable, cat("cannot lock ", path, ": ", std::strerror(errno)));
  }
  ERRAND_CHECK(write_pid(fd, path));
  return lock;
}

FileLock::~FileLock() {
  ::close(fd_);
}

}  // namespace errand::sqlite
