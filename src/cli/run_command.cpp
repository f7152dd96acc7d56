#include "cli/run_command.hpp"

#include <boost/asio/io_context.hpp>
#include <utility>

#include "cli/agent_api.hpp"
#include "cli/agent_tools.hpp"
#include "cli/command.hpp"
#include "cli/prompt_run.hpp"
#include "cli/run_body.hpp"
#include "cli/terminal_approver.hpp"
#include "cli/toolbox.hpp"

namespace errand::cli {

int run_command(const RunOptions& options) {
  ignore_broken_pipes();
  const AgentOptions& agent = options.agent;
  if (auto right = check_options(agent); !right) return fail_usage(right.error());
  auto config = load_agent_config(agent);
  if (!config) return fail_usage(config.error());
  asio::io_context io(1);  // outlives the tools, which keep connections for the next request
  auto printer = make_printer(options.form, look_here());
  Console console;
  BlockingPool pool(kToolThreads, kToolQueueMax);
  using Consent = TerminalApprover::Consent;
  TerminalApprover approver(console, *printer, kTerminal,
                            agent.yes ? Consent::given : Consent::asked_for);
  ToolSurroundings around{.approver = approver, .pool = pool, .networks = {}};
  if (*config) around.networks = (*config)->networks;
  auto tools = make_tools(agent, around);
  if (!tools) return fail_usage(tools.error());
  Toolbox toolbox(std::move(*tools));
  auto body = make_run_body(options, toolbox.declarations());
  if (!body) return fail_usage(body.error());
  ApiSurroundings api{.io = io, .printer = *printer, .console = console};
  return with_api(api, agent, std::move(*config), [&](AgentApi place) {
    PromptRun run({.place = place, .tools = toolbox, .printer = *printer, .console = console},
                  std::move(*body));
    run.start();
    io.run();
    return run.exit_code();
  });
}

}  // namespace errand::cli
