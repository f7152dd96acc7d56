#pragma once

#include <optional>
#include <string>

#include "cli/agent/agent_options.hpp"

namespace errand::cli {

struct ChatOptions {
  AgentOptions agent;
  std::optional<std::string> resume;  // a chat to go on with; empty: the latest
  bool list = false;                  // lists chats instead
};

// Talks until the user ends it; returns the exit code. Without a terminal on stdin each line there
// is a message, and the first one that fails ends it. Without a server the chat is kept in the data
// directory.
int chat_command(const ChatOptions& options);

}  // namespace errand::cli
