#include "cli/terminal/plain_input.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/console.hpp"

namespace errand::cli {
namespace {

Result<InputLine> line_of(std::string text) {
  if (text.ends_with('\r')) text.pop_back();
  if (is_utf8(text)) return InputLine{.text = std::move(text)};
  return Error(ErrorCode::invalid_argument, "a line on stdin is not UTF-8");
}

}  // namespace

PlainInput::PlainInput(int fd, Prompt prompt) : fd_(fd), prompt_(prompt), reader_(1, 1) {}

Task<Result<InputLine>> PlainInput::read(std::string prompt) {
  waiter_.forget_interruption();
  co_return co_await reader_.run([this, prompt = std::move(prompt)] { return ask(prompt); });
}

Result<InputLine> PlainInput::ask(const std::string& prompt) {
  if (prompt_ == Prompt::left_out) return next();
  ERRAND_CHECK(write_fully(STDERR_FILENO, prompt));
  auto line = next();
  // The line that the user typed does not end on the screen.
  bool is_open = line && line->kind != InputLine::Kind::text;
  if (is_open) ERRAND_CHECK(write_fully(STDERR_FILENO, "\n"));
  return line;
}

Result<InputLine> PlainInput::next() {
  for (;;) {
    if (std::size_t end = ready_.find('\n'); end != std::string::npos) {
      std::string line = ready_.substr(0, end);
      ready_.erase(0, end + 1);
      return line_of(std::move(line));
    }
    if (has_ended_ && ready_.empty()) return InputLine{.kind = InputLine::Kind::ended};
    if (has_ended_) return line_of(std::exchange(ready_, {}));
    if (ready_.size() > kLineBytesMax) {
      return Error(ErrorCode::invalid_argument,
                   cat("a line on stdin is longer than ", kLineBytesMax, " bytes"));
    }
    if (waiter_.wait(fd_) != InputWaiter::Found::input) {
      return InputLine{.kind = InputLine::Kind::interrupted, .text = std::exchange(ready_, {})};
    }
    std::array<char, 16 * 1024> buffer{};
    ssize_t count = ::read(fd_, buffer.data(), buffer.size());
    if (count > 0) ready_.append(buffer.data(), static_cast<std::size_t>(count));
    has_ended_ = count == 0 || (count < 0 && errno == EIO);  // EIO: the terminal is gone
    if (count >= 0 || has_ended_ || errno == EINTR || errno == EAGAIN) continue;
    return Error(ErrorCode::unavailable,
                 cat("cannot read stdin: ", std::generic_category().message(errno)));
  }
}

}  // namespace errand::cli
