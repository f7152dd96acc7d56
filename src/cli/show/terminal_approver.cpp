#include "cli/show/terminal_approver.hpp"

#include <termios.h>

#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/terminal/typed_answer.hpp"

namespace errand::cli {
namespace {

// Enough for the longest command: a user cannot judge what is not shown.
constexpr std::size_t kShownChars = 100'000;

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
  auto typed = co_await read_answer(terminal.get());
  if (!typed) {
    // The question has no answer and no line end, so the next output would follow on its line.
    [[maybe_unused]] auto ended = write_fully(terminal.get(), "\n");
    co_return false;
  }
  const std::string answer = to_lower(*typed);
  is_all_allowed_ = answer == "a";
  co_return is_all_allowed_ || answer == "y" || answer == "yes";
}

Task<bool> TerminalApprover::refuse(std::string what) {
  std::string text =
      cat("refused, as there is no terminal to ask on (--yes allows it): ", clean_line(what, 200));
  [[maybe_unused]] auto written = co_await console_.write(printer_.note(text));
  co_return false;
}

}  // namespace errand::cli
