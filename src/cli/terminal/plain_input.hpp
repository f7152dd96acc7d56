#pragma once

#include <string>

#include "async/blocking_pool.hpp"
#include "cli/terminal/input_waiter.hpp"
#include "cli/terminal/line_input.hpp"

namespace errand::cli {

// Lines of a file, a pipe, or a terminal that can do nothing but lines.
class PlainInput final : public LineInput {
 public:
  static constexpr std::size_t kLineBytesMax = std::size_t{1024} * 1024;

  enum class Prompt { shown, left_out };  // shown: on stderr

  // `fd` stays the caller's.
  PlainInput(int fd, Prompt prompt);

  Task<Result<InputLine>> read(std::string prompt) override;
  void interrupt() override { waiter_.wake(InputWaiter::Found::interruption); }
  void redraw() override {}
  void remember(std::string_view) override {}

 private:
  Result<InputLine> ask(const std::string& prompt);
  Result<InputLine> next();

  const int fd_;
  const Prompt prompt_;
  std::string ready_;  // has been read, and is of the next lines
  bool has_ended_ = false;
  InputWaiter waiter_;
  BlockingPool reader_;  // last: its thread uses everything above
};

}  // namespace errand::cli
