#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <errand/mcp.hpp>

namespace errand::ERRAND_V1 {

// ---- MCP servers and A2A agents that this program talks to for its runs -------------------------

struct LocalMcpOptions {
  // Runs know its tools as "<name>_<tool>". Empty: what the server calls itself.
  std::string name = {};
  // The tools that are used, by the server's own names. Nothing: all of them.
  std::optional<std::vector<std::string>> tool_filter = {};
  std::map<std::string, std::string> headers = {};      // of every request over HTTP
  std::map<std::string, std::string> environment = {};  // of a command, besides the program's own
  std::vector<std::string> roots = {};  // folders that the server is told to work in; whole paths
};

// An MCP server: one of this program, a command whose standard streams are the connection, or a
// URL. Servers of every era are spoken to, over Streamable HTTP or HTTP+SSE as they need it. The
// connection is kept for later runs and comes back by itself; a command that ends is started again.
struct McpServer {
  McpServer(mcp::Server server, LocalMcpOptions with = {})
      : place(std::move(server)), options(std::move(with)) {}
  McpServer(std::string url_or_command, LocalMcpOptions with = {})
      : place(std::move(url_or_command)), options(std::move(with)) {}

  std::variant<std::string, mcp::Server> place;
  LocalMcpOptions options;
};

// What an MCP server asks the user in the middle of a call.
struct UserQuestion {
  std::string tool = {};  // that was called, by its name in the run
  std::string message = {};
  Json schema = {};      // of a form: an object with flat properties
  std::string url = {};  // of a page that the user is to open, in place of a form
};

// Asks the user, on a thread of its own like a tool's handler. An exception is a refusal.
using AskUser = std::function<mcp::Elicited(const UserQuestion& question)>;

// A server by its URL ("https://...") or its command line, which the shell reads.
inline McpServer local_mcp(std::string url_or_command, LocalMcpOptions options = {}) {
  return {std::move(url_or_command), std::move(options)};
}

struct LocalA2aOptions {
  std::string name = {};                        // of the tool; empty: the card's
  std::optional<std::string> description = {};  // for the model, instead of what the card says
  std::map<std::string, std::string> headers = {};
  std::string context_id = {};  // of the conversation that calls belong to which name no other
};

// An A2A agent, which is a tool that takes a message.
struct A2aAgent {
  std::string card_url;
  LocalA2aOptions options = {};
};

// An agent by the URL of its card.
inline A2aAgent local_a2a(std::string card_url, LocalA2aOptions options = {}) {
  return {std::move(card_url), std::move(options)};
}

}  // namespace errand::ERRAND_V1
