#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mcp/types.hpp"

namespace errand::mcp {

// What a server says of itself, and what it has.
struct ServerOffer {
  Implementation server;
  std::string instructions = {};
  bool tools = false;
  bool prompts = false;
  bool resources = false;
  bool resource_changes = false;  // clients are told of changes to resources and to their list
  bool completions = false;
  bool logging = false;
};

struct PromptArgument {
  std::string name;
  std::string description = {};
  bool is_required = false;
};

struct Prompt {
  std::string name;
  std::string title = {};
  std::string description = {};
  std::vector<PromptArgument> arguments = {};
};

struct PromptMessage {
  std::string role;  // "user" or "assistant"
  Content content;
};

// With what the client has been asked for before (modern era).
struct GetPromptParams {
  std::string name;
  std::map<std::string, std::string> arguments = {};
  json::Object input_responses = {};
  std::optional<std::string> request_state = {};
};

struct GetPromptResult {
  std::string description = {};
  std::vector<PromptMessage> messages = {};
};

struct Resource {
  std::string uri;
  std::string name;
  std::string title = {};
  std::string description = {};
  std::string mime_type = {};
};

struct ResourceTemplate {
  std::string uri_template;
  std::string name;
  std::string title = {};
  std::string description = {};
  std::string mime_type = {};
};

struct CompleteParams {
  enum class Kind : std::uint8_t { prompt, resource };

  Kind kind = Kind::prompt;
  std::string name;  // of the prompt, or the template of the resource
  std::string argument;
  std::string value;  // what was typed so far
};

struct Completion {
  static constexpr std::size_t kValuesMax = 100;  // beyond, values are left out

  std::vector<std::string> values = {};
};

enum class LogLevel : std::uint8_t {
  debug,
  info,
  notice,
  warning,
  error,
  critical,
  alert,
  emergency,
};

}  // namespace errand::mcp
