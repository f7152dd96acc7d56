#pragma once

#include <string>

#include "cli/show/event_printer.hpp"
#include "cli/show/shown_calls.hpp"
#include "cli/terminal/console.hpp"
#include "tool/builtin/approval.hpp"

namespace errand::cli {

// Asks the user on the terminal before something is done: y yes, a yes to this and all that follow,
// anything else no. Questions come one at a time, and what is typed before one is shown does not
// answer it. A question comes after the call that it is about. Without a terminal the answer is no,
// and a note on stderr says how to allow it. Lives on one home.
class TerminalApprover final : public Approver {
 public:
  enum class Consent { asked_for, given };  // given: nobody is asked

  // `terminal` is the file of the terminal, such as /dev/tty.
  TerminalApprover(Console& console, EventPrinter& printer, ShownCalls& shown, std::string terminal,
                   Consent consent)
      : console_(console),
        printer_(printer),
        shown_(shown),
        terminal_(std::move(terminal)),
        is_all_allowed_(consent == Consent::given) {}

  Task<bool> approve(ApprovalRequest request) override;

 private:
  Task<bool> refuse(std::string what);

  Console& console_;
  EventPrinter& printer_;
  ShownCalls& shown_;
  const std::string terminal_;
  bool is_all_allowed_;
};

}  // namespace errand::cli
