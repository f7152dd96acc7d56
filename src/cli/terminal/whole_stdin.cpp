#include "cli/terminal/whole_stdin.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/text.hpp"
#include "base/whole_file.hpp"

namespace errand::cli {
namespace {

constexpr int kSilenceMillis = 1000;

Error bad_stdin(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

void note(std::string_view text) {
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, cat("errand: ", text, "\n"));
}

bool is_silent() {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  for (;;) {
    const int ready = ::poll(&input, 1, kSilenceMillis);
    if (ready >= 0) return ready == 0;
    if (errno != EINTR) return false;
  }
}

// A command that waits for input without saying so looks as if it hung.
void say_what_is_waited_for(const StdinRead& wanted) {
  if (::isatty(STDIN_FILENO) == 1) {
    note(cat("type ", wanted.what, "; Ctrl-D on a line of its own ends it"));
  } else if (!wanted.silence.empty() && is_silent()) {
    note(wanted.silence);
  }
}

}  // namespace

Result<std::string> read_whole_stdin(StdinRead wanted) {
  say_what_is_waited_for(wanted);
  std::string text;
  std::string buffer(std::size_t{64} * 1024, '\0');
  for (;;) {
    ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return bad_stdin(cat("cannot read stdin: ", std::generic_category().message(errno)));
    }
    text.append(buffer, 0, static_cast<std::size_t>(count));
    if (text.size() > wanted.bytes_max) return bad_stdin(cat(wanted.what, " on stdin is too long"));
  }
}

}  // namespace errand::cli
