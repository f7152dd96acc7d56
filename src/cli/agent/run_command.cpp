#include "cli/agent/run_command.hpp"

#include <utility>

#include "cli/agent/agent_api.hpp"
#include "cli/agent/agent_terminal.hpp"
#include "cli/agent/prompt_run.hpp"
#include "cli/agent/run_body.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {

int run_command(const RunOptions& options) {
  ignore_broken_pipes();
  const AgentOptions& agent = options.agent;
  if (auto right = check_options(agent); !right) return fail_usage(right.error());
  auto config = load_agent_config(agent);
  if (!config) return fail_usage(config.error());
  AgentTerminal terminal(agent, make_printer(options.form, look_here()));
  if (auto taken = terminal.take_tools(agent, *config); !taken) return fail_usage(taken.error());
  auto body = make_run_body(options, terminal.tools().declarations());
  if (!body) return fail_usage(body.error());
  return with_api(terminal.api(), agent, std::move(*config), [&](AgentApi place) {
    PromptRun run({.place = place,
                   .tools = terminal.tools(),
                   .printer = terminal.printer(),
                   .console = terminal.console()},
                  std::move(*body));
    run.start();
    terminal.io().run();
    return run.exit_code();
  });
}

}  // namespace errand::cli
