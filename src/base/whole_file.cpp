#include "base/whole_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/descriptor.hpp"
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

// The new name of a file survives a power failure only when its folder is on the disk. Returns
// false with the reason in errno. A file system that cannot sync folders has its own way of keeping
// names.
bool sync_folder_of(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) return errno == EACCES;
  return ::fsync(opened.get()) == 0 || errno == EINVAL;
}

ErrorCode code_of_errno(int error) {
  if (error == ENOENT || error == ENOTDIR) return ErrorCode::not_found;
  return error == EACCES || error == EPERM ? ErrorCode::forbidden : ErrorCode::unavailable;
}

}  // namespace

Result<std::string> read_whole_file(const std::filesystem::path& file, std::size_t bytes_max) {
  auto cannot = [&](int error) {
    return Error(code_of_errno(error), cat("cannot read the file ", file.string(), ": ",
                                           std::generic_category().message(error)));
  };
  Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!in.is_open()) return cannot(errno);
  std::string text;
  std::string buffer(std::size_t{64} * 1024, '\0');
  for (;;) {
    ssize_t count = ::read(in.get(), buffer.data(), buffer.size());
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot(errno);
    text.append(buffer, 0, static_cast<std::size_t>(count));
    if (text.size() > bytes_max) {
      return Error(ErrorCode::too_large,
                   cat("the file ", file.string(), " has more than ", bytes_max, " bytes"));
    }
  }
}

Result<void> write_whole_file(const std::filesystem::path& file, std::string_view text) {
  auto cannot = [&](std::string_view why) {
    return Error(ErrorCode::unavailable, cat("cannot write ", file.string(), ": ", why));
  };
  std::string fresh = cat(file.string(), ".", ::getpid(), ".new");
  Descriptor out(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!out.is_open()) return cannot(std::strerror(errno));
  auto written = write_and_sync(out.get(), text);
  out.reset(-1);
  if (written && ::rename(fresh.c_str(), file.c_str()) == 0) {
    if (sync_folder_of(file)) return {};
    return cannot(std::strerror(errno));
  }
  std::string why = written ? std::strerror(errno) : written.error().message();
  ::unlink(fresh.c_str());
  return cannot(why);
}

}  // namespace errand
