#include "cli/agent/agent_options.hpp"

#include "base/text.hpp"

namespace errand::cli {
namespace {

bool names_server(const sdk::ServerFlags& flags) {
  return !flags.server.empty() || !flags.key.empty() || !flags.workspace.empty();
}

}  // namespace

Result<void> check_options(const AgentOptions& options) {
  if (options.yes && !options.shell) {
    return Error(ErrorCode::invalid_argument, "--yes answers the questions of --shell");
  }
  if (!options.allow_networks.empty() && !options.web_fetch) {
    return Error(ErrorCode::invalid_argument, "--allow-network is for --web-fetch");
  }
  bool is_embedded = options.embedded || !options.config.empty();
  if (!is_embedded || !names_server(options.server)) return {};
  return Error(ErrorCode::invalid_argument,
               cat(options.embedded ? "--embedded" : "--config",
                   " is for a run without a server; --server, --key and --workspace name one"));
}

bool is_embedded(const AgentOptions& options) {
  if (options.embedded || !options.config.empty()) return true;
  if (names_server(options.server)) return false;
  auto known = sdk::find_server_here(options.server);
  return !known && known.error().code() == ErrorCode::not_found;
}

}  // namespace errand::cli
