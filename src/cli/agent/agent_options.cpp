#include "cli/agent/agent_options.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::cli {
namespace {

bool names_server(const sdk::ServerFlags& flags) {
  return !flags.server.empty() || !flags.key.empty() || !flags.workspace.empty();
}

// The text as one word for a shell.
std::string shell_word(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+=,";
  bool is_plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
  if (is_plain) return std::string(text);
  std::string out = "'";
  for (char c : text) append(out, c == '\'' ? std::string_view("'\\''") : std::string_view(&c, 1));
  return out + "'";
}

void add_flag(std::string& out, std::string_view flag, const std::string& value) {
  if (!value.empty()) append(out, " ", flag, " ", shell_word(value));
}

Result<void> check_room(const AgentOptions& options) {
  if (!options.require_toolkits.empty() && options.room.empty()) {
    return Error(ErrorCode::invalid_argument, "--require-toolkit names a toolkit of --room");
  }
  return {};
}

}  // namespace

std::string flags_to_repeat(const AgentOptions& options) {
  std::string out;
  add_flag(out, "--files", options.files);
  const std::pair<bool, std::string_view> switches[] = {{options.shell, " --shell"},
                                                        {options.yes, " --yes"},
                                                        {options.web_fetch, " --web-fetch"},
                                                        {options.web_search, " --web-search"},
                                                        {options.embedded, " --embedded"}};
  for (const auto& [is_on, flag] : switches) out += is_on ? flag : "";
  for (const std::string& server : options.mcp) add_flag(out, "--mcp", server);
  for (const std::string& agent : options.a2a) add_flag(out, "--a2a", agent);
  for (const std::string& network : options.allow_networks) {
    add_flag(out, "--allow-network", network);
  }
  add_flag(out, "--room", options.room);
  for (const std::string& toolkit : options.require_toolkits) {
    add_flag(out, "--require-toolkit", toolkit);
  }
  add_flag(out, "--reasoning", options.reasoning);
  if (options.max_turns) add_flag(out, "--max-turns", std::to_string(*options.max_turns));
  add_flag(out, "--config", options.config);
  add_flag(out, "--data", options.server.data.value_or(""));
  add_flag(out, "--server", options.server.server);
  add_flag(out, "--workspace", options.server.workspace);
  if (!options.server.key.empty()) out += " --key KEY";
  return out;
}

Result<void> check_options(const AgentOptions& options) {
  if (options.yes && !options.shell) {
    return Error(ErrorCode::invalid_argument, "--yes answers the questions of --shell");
  }
  if (!options.allow_networks.empty() && !options.web_fetch) {
    return Error(ErrorCode::invalid_argument, "--allow-network is for --web-fetch");
  }
  ERRAND_CHECK(check_room(options));
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
