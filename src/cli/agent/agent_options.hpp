#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "sdk/internal/server_flags.hpp"

namespace errand::cli {

// The options of `errand run` and `errand chat` about the agent and where it runs.
struct AgentOptions {
  std::string agent;  // a stored one, by its name or id; empty: none
  std::string model;
  std::string system;
  std::string files;  // a directory; empty: none
  bool shell = false;
  bool yes = false;  // commands are run without a question
  bool web_fetch = false;
  bool web_search = false;
  std::vector<std::string> mcp;               // servers that this process talks to: URLs, commands
  std::vector<std::string> a2a;               // agents that this process talks to: URLs of cards
  std::vector<std::string> allow_networks;    // that web_fetch may reach besides public addresses
  std::string room;                           // that the run joins: a name, or a URL
  std::vector<std::string> require_toolkits;  // of the room
  std::string reasoning;                      // a word or a number; empty: left to the model
  std::optional<int> max_turns;
  bool embedded = false;  // without a server, although one may be known
  std::string config;     // of an agent without a server
  sdk::ServerFlags server;
};

// invalid_argument: flags that do not go together.
Result<void> check_options(const AgentOptions& options);

// The flags that an equal agent needs in the same place, as words of a shell: " --files . --yes".
// A model and a system prompt are left out, because a chat keeps them, and so is the key itself.
std::string flags_to_repeat(const AgentOptions& options);

// Whether this process drives the runs itself.
bool is_embedded(const AgentOptions& options);

}  // namespace errand::cli
