#include "cli/terminal/hidden_line.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "base/descriptor.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/whole_stdin.hpp"

namespace errand::cli {
namespace {

// Switches off the terminal's echo while it lives.
class HiddenTyping final {
 public:
  HiddenTyping() {
    is_changed_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    if (!is_changed_) return;
    termios hidden = before_;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
  }
  HiddenTyping(const HiddenTyping&) = delete;
  HiddenTyping& operator=(const HiddenTyping&) = delete;
  ~HiddenTyping() {
    if (is_changed_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }

 private:
  termios before_{};
  bool is_changed_ = false;
};

// Blocks the signals that would end this process and leave the terminal without echo.
class HeldSignals final {
 public:
  HeldSignals() {
    sigset_t held;
    sigemptyset(&held);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&held, signal);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
    waiting_ = Descriptor(::signalfd(-1, &held, SFD_CLOEXEC));
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  // Waits for input or a signal. Returns false for a signal.
  bool wait_for_input() const {
    std::array<pollfd, 2> waited{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                  {.fd = waiting_.get(), .events = POLLIN, .revents = 0}}};
    while (::poll(waited.data(), waited.size(), -1) < 0 && errno == EINTR) continue;
    return waited[1].revents == 0;
  }

 private:
  sigset_t before_{};
  Descriptor waiting_;
};

// Reads one line that is not shown while it is typed.
std::string ask_in_hiding(const std::string& question) {
  std::string line;
  HeldSignals signals;
  // Before the question: from then on, typed text is neither shown nor dropped.
  HiddenTyping hidden;
  [[maybe_unused]] auto asked = write_fully(STDERR_FILENO, question);
  for (char c = 0; c != '\n' && signals.wait_for_input();) {
    ssize_t count = ::read(STDIN_FILENO, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    line.push_back(c);
  }
  [[maybe_unused]] auto ended = write_fully(STDERR_FILENO, "\n");
  return line;
}

}  // namespace

Result<std::string> read_hidden_line(const std::string& question) {
  Result<std::string> text = ::isatty(STDIN_FILENO) == 1 ? ask_in_hiding(question)
                                                         : read_whole_stdin({.what = "the secret"});
  if (!text) return text;
  if (text->ends_with('\n')) text->pop_back();
  if (text->ends_with('\r')) text->pop_back();
  return text;
}

}  // namespace errand::cli
