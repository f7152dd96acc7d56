#include "cli/commands/mcp_command.hpp"

#include <csignal>

#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "sdk/internal/served_mcp.hpp"

namespace errand::cli {

int mcp_command(const AgentOptions& options) {
  std::signal(SIGPIPE, SIG_IGN);
  auto checked = check_options(options);
  if (!checked) return fail_usage(checked.error());
  const bool is_here = is_embedded(options);
  auto mcp = is_here ? sdk::mcp_of_this_process(options.config, options.server.data.value_or(""))
                     : sdk::mcp_of_server(options.server);
  if (!mcp) return is_here ? fail_usage(mcp.error()) : fail_setup(mcp.error());
  auto served = (*mcp)->serve();
  return served ? kExitOk : fail(served.error());
}

}  // namespace errand::cli
