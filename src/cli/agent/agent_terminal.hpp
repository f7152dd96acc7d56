#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>

#include "async/blocking_pool.hpp"
#include "cli/agent/agent_api.hpp"
#include "cli/agent/agent_options.hpp"
#include "cli/show/event_printer.hpp"
#include "cli/show/terminal_approver.hpp"
#include "cli/terminal/console.hpp"
#include "host/config.hpp"
#include "sdk/toolbox.hpp"

namespace errand::cli {

// What surrounds an agent that runs for this terminal: where it prints, who is asked before its
// tools act, and the tools.
class AgentTerminal final {
 public:
  AgentTerminal(const AgentOptions& options, std::unique_ptr<EventPrinter> printer);
  AgentTerminal(const AgentTerminal&) = delete;
  AgentTerminal& operator=(const AgentTerminal&) = delete;

  // Makes the tools that the options name; comes before tools(). `config` is that of
  // load_agent_config. invalid_argument: one of them cannot be had.
  Result<void> take_tools(const AgentOptions& options, const std::optional<host::Config>& config);

  asio::io_context& io() { return io_; }
  EventPrinter& printer() { return *printer_; }
  Console& console() { return console_; }
  BlockingPool& pool() { return pool_; }
  sdk::Toolbox& tools() { return *tools_; }
  ApiSurroundings api() { return {.io = io_, .printer = *printer_, .console = console_}; }

 private:
  asio::io_context io_{1};  // outlives the tools, which keep connections for the next request
  const std::unique_ptr<EventPrinter> printer_;
  Console console_;
  BlockingPool pool_;
  TerminalApprover approver_;
  std::optional<sdk::Toolbox> tools_;
};

}  // namespace errand::cli
