#include "cli/show/terminal_approver.hpp"

#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <optional>
#include <utility>

#include "base/descriptor.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"

namespace errand::cli {
namespace {

// Enough for all of what a tool may ask for: what is not seen cannot be judged.
constexpr std::size_t kShownChars = 100'000;

Descriptor open_terminal(const std::string& path) {
  Descriptor terminal(::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (terminal.is_open() && ::isatty(terminal.get()) == 1) return terminal;
  return {};
}

// The next line that is typed; nothing at the end of the input. The kernel hands out whole lines.
Task<std::optional<std::string>> read_line(int terminal) {
  Executor home = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor input(home, ::fcntl(terminal, F_DUPFD_CLOEXEC, 0));
  auto [error] = co_await input.async_wait(asio::posix::descriptor_base::wait_read, as_result);
  std::array<char, 256> buffer{};
  ssize_t count = error ? 0 : ::read(terminal, buffer.data(), buffer.size());
  if (count <= 0) co_return std::nullopt;
  std::string_view line(buffer.data(), static_cast<std::size_t>(count));
  co_return to_lower(trim(line.substr(0, line.find('\n'))));
}

}  // namespace

Task<bool> TerminalApprover::approve(ApprovalRequest request) {
  if (is_all_allowed_) co_return true;
  co_await shown_.wait(request.run, request.call);
  Descriptor terminal = open_terminal(terminal_);
  if (!terminal.is_open()) co_return co_await refuse(std::move(request.what));
  Gate::Pass pass = co_await console_.take();
  if (is_all_allowed_) co_return true;
  ::tcflush(terminal.get(), TCIFLUSH);
  auto asked = co_await console_.ask(printer_.make_room(), terminal.get(),
                                     cat(clean_line(request.what, kShownChars), "? [y/N/a] "));
  if (!asked) co_return false;
  auto answer = co_await read_line(terminal.get());
  if (!answer) {
    // Nobody has pressed Enter: what comes next would stand beside the question.
    [[maybe_unused]] auto ended = write_fully(terminal.get(), "\n");
    co_return false;
  }
  is_all_allowed_ = *answer == "a";
  co_return is_all_allowed_ || *answer == "y" || *answer == "yes";
}

Task<bool> TerminalApprover::refuse(std::string what) {
  std::string text =
      cat("refused, as there is no terminal to ask on (--yes allows it): ", clean_line(what, 200));
  [[maybe_unused]] auto written = co_await console_.write(printer_.note(text));
  co_return false;
}

}  // namespace errand::cli
