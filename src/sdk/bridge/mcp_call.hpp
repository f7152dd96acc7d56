#pragma once

#include <map>
#include <string>
#include <string_view>

#include <errand/tool_context.hpp>

#include "json/value.hpp"
#include "mcp/codec.hpp"

namespace errand::sdk {

// The MCP client of a call whose handler runs. Every function may be called from any thread.
class McpCall {
 public:
  virtual ~McpCall() = default;

  virtual void log(v1::LogLevel level, std::string_view message) = 0;
  virtual const mcp::ClientCapabilities& client() const = 0;
  // A name for a question that has none; the same in every round.
  virtual std::string next_key() = 0;
  // Waits for the answers, which are objects. Throws an Error, or v1::mcp::Asked.
  virtual json::Object ask(std::map<std::string, mcp::InputRequest> questions) = 0;
};

}  // namespace errand::sdk
