#include "cli/agent/agent_terminal.hpp"

#include <utility>

#include "cli/agent/agent_tools.hpp"

namespace errand::cli {

using Consent = TerminalApprover::Consent;

AgentTerminal::AgentTerminal(const AgentOptions& options, std::unique_ptr<EventPrinter> printer)
    : printer_(std::move(printer)),
      pool_(kToolThreads, kToolQueueMax),
      approver_(console_, *printer_, kTerminal, options.yes ? Consent::given : Consent::asked_for) {
}

Result<void> AgentTerminal::take_tools(const AgentOptions& options,
                                       const std::optional<host::Config>& config) {
  ToolSurroundings around{.approver = approver_, .pool = pool_, .networks = {}};
  if (config) around.networks = config->networks;
  ERRAND_TRY(auto tools, make_tools(options, around));
  tools_.emplace(std::move(tools));
  return {};
}

}  // namespace errand::cli
