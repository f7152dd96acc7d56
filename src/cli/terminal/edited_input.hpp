#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "cli/terminal/input_waiter.hpp"
#include "cli/terminal/line_history.hpp"
#include "cli/terminal/line_input.hpp"

namespace errand::cli {

// Lines that are edited on the terminal, with those before them at hand. The keys are those that
// the user has chosen for libedit (~/.editrc). Text that is pasted stays one line with line ends in
// it, and is kept for this process alone. One in a process, as its text is UTF-8 by the locale
// of the process.
class EditedInput final : public LineInput {
 public:
  static constexpr int kLinesMax = 1000;                     // that the user can go back to
  static constexpr std::size_t kPastedCharsMax = 1'000'000;  // more at once is refused

  // stdin is the terminal, and so is stderr, where the line is shown. `lines` are earlier ones,
  // oldest first; new ones are added to `history`, if there is one.
  // unavailable: the terminal cannot be used.
  static Result<std::unique_ptr<EditedInput>> open(const std::vector<std::string>& lines,
                                                   std::optional<LineHistory> history);
  ~EditedInput() override;

  Task<Result<InputLine>> read(std::string prompt) override;
  void interrupt() override { waiter_.wake(InputWaiter::Found::interruption); }
  void redraw() override { waiter_.wake(InputWaiter::Found::redraw); }
  void remember(std::string_view line) override;

 private:
  struct Editor;

  explicit EditedInput(std::optional<LineHistory> history);
  Result<InputLine> edit(const std::string& prompt);

  std::optional<LineHistory> history_;
  InputWaiter waiter_;
  std::unique_ptr<Editor> editor_;
  BlockingPool reader_;  // last: its thread uses everything above
};

}  // namespace errand::cli
