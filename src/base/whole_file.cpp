#include "base/whole_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/text.hpp"

namespace errand {
Result<void> write_fully(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t count = ::write(fd, text.data(), text.size());
    if (count >= 0) {
      text.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd wait{.fd = fd, .events = POLLOUT, .revents = 0};
      ::poll(&wait, 1, -1);
    } else if (errno == EPIPE) {
      return Error(ErrorCode::cancelled, "nobody reads the output").reason(kOutputClosed);
    } else if (errno != EINTR) {
      return Error(ErrorCode::unavailable,
                   cat("cannot write the output: ", std::generic_category().message(errno)));
    }
  }
  return {};
}

namespace {

Result<void> write_and_sync(int fd, std::string_view text) {
  ERRAND_CHECK(write_fully(fd, text));
  if (::fsync(fd) == 0) return {};
  return Error(ErrorCode::unavailable, std::strerror(errno));
}

}  // namespace

Result<void> write_whole_file(const std::filesystem::path& file, std::string_view text) {
  auto cannot = [&](std::string_view why) {
    return Error(ErrorCode::unavailable, cat("cannot write ", file.string(), ": ", why));
  };
  std::string fresh = cat(file.string(), ".", ::getpid(), ".new");
  int fd = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd < 0) return cannot(std::strerror(errno));
  auto written = write_and_sync(fd, text);
  ::close(fd);
  if (written && ::rename(fresh.c_str(), file.c_str()) == 0) return {};
  std::string why = written ? std::strerror(errno) : written.error().message();
  ::unlink(fresh.c_str());
  return cannot(why);
}

}  // namespace errand
