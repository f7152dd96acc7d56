#pragma once

#include <string>

#include "cli/show/event_printer.hpp"
#include "cli/show/shown_calls.hpp"
#include "cli/terminal/console.hpp"
#include "tool/tool.hpp"

namespace errand::cli {

// The tool that answers what MCP servers ask the user (kElicitationTool): on the terminal,
// first whether the user wants to answer, then field by field. Anything but a yes declines, and the
// end of the input cancels. Without a terminal the question fails, and a note on stderr says what
// was asked. Questions come one at a time, each after the call that it is about. Lives on one home.
class TerminalElicitation final : public Tool {
 public:
  // `terminal` is the file of the terminal, such as /dev/tty. All references outlive the tool.
  TerminalElicitation(Console& console, EventPrinter& printer, ShownCalls& shown,
                      std::string terminal);

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override;

 private:
  Task<ToolOutcome> refuse(std::string message);
  Task<std::optional<std::string>> ask(int terminal, std::string question);
  Task<ToolOutcome> fill_in(int terminal, json::Object schema);

  Console& console_;
  EventPrinter& printer_;
  ShownCalls& shown_;
  const std::string terminal_;
  const ToolDecl decl_;
};

}  // namespace errand::cli
