#include "cli/operate/held_log.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "base/whole_file.hpp"

namespace errand::cli {
namespace {

// If no memory file can be made, lines are written at once.
int open_lines() {
  const int file = ::memfd_create("held log", MFD_CLOEXEC);
  return file >= 0 ? file : ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
}

}  // namespace

HeldLog::HeldLog(const Clock& clock, LogFormat format, LogLevel least)
    : lines_(open_lines()), log_(clock, lines_.get(), format, least) {}

void HeldLog::release() {
  const Descriptor held(::fcntl(lines_.get(), F_DUPFD_CLOEXEC, 0));
  ::dup3(STDERR_FILENO, lines_.get(), O_CLOEXEC);
  std::array<char, 4096> piece{};
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(held.get(), piece.data(), piece.size(), at);
    if (count <= 0) return;
    // Lines that stderr does not accept are lost, as they always are.
    (void)write_fully(STDERR_FILENO, {piece.data(), static_cast<std::size_t>(count)});
    at += count;
  }
}

}  // namespace errand::cli
