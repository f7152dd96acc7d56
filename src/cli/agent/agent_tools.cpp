#include "cli/agent/agent_tools.hpp"

#include <unistd.h>

#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "cli/terminal/report.hpp"
#include "tool/builtin/shell_tool.hpp"
#include "tool/files/files_tool.hpp"

namespace errand::cli {
namespace {

using Tools = std::vector<ToolPtr>;

Result<void> add_files(Tools& tools, const AgentOptions& options, BlockingPool& pool) {
  auto directory = SharedDirectory::open(
      options.files, sdk::credentials_file(sdk::data_directory(options.server)));
  if (!directory) {
    return Error(directory.error().code(), cat("--files: ", directory.error().message()));
  }
  Tools made = make_file_tools(std::move(*directory), pool);
  std::move(made.begin(), made.end(), std::back_inserter(tools));
  return {};
}

void add_shell(Tools& tools, const AgentOptions& options, Approver& approver) {
  ShellOptions shell{.directory = options.files.empty() ? "." : options.files};
  for (char** variable = environ; *variable; ++variable) shell.environment.emplace_back(*variable);
  tools.push_back(std::make_shared<ShellTool>(std::move(shell), approver));
}

Result<void> add_web_fetch(Tools& tools, const AgentOptions& options,
                           const ToolSurroundings& around) {
  sdk::WebAccess web = around.web;
  auto allowed = web.allow(options.allow_networks);
  if (!allowed) {
    return Error(allowed.error().code(), cat("--allow-network: ", allowed.error().message()));
  }
  tools.push_back(sdk::make_web_fetch(web, around.pool));
  return {};
}

}  // namespace

Result<Tools> make_tools(const AgentOptions& options, const ToolSurroundings& around) {
  Tools tools;
  if (!options.files.empty()) ERRAND_CHECK(add_files(tools, options, around.pool));
  if (options.shell) add_shell(tools, options, around.approver);
  if (options.web_fetch) ERRAND_CHECK(add_web_fetch(tools, options, around));
  if (options.web_search) tools.push_back(sdk::make_web_search(around.web));
  return tools;
}

}  // namespace errand::cli
