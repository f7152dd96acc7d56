#include "cli/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.hpp"
#include "cli/console.hpp"

namespace errand::cli {
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

}  // namespace errand::cli
