#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/value.hpp"

namespace errand::mcp {

// The two protocols that go by the name of MCP.
enum class Era : std::uint8_t {
  legacy,  // up to 2025-11-25: a handshake, and perhaps a session
  modern,  // 2026-07-28: every request stands alone
};

struct Implementation {
  std::string name;
  std::string version;
  std::string title = {};
  json::Object more = {};  // other members, as they came

  friend bool operator==(const Implementation&, const Implementation&) = default;
};

// What a server says of itself.
struct ServerInfo {
  Era era = Era::legacy;
  std::string protocol_version;
  Implementation server;
  std::string instructions = {};
  bool has_tools = false;
  bool announces_tool_changes = false;

  friend bool operator==(const ServerInfo&, const ServerInfo&) = default;
};

// Hints of the server about a tool, which may be wrong.
struct ToolAnnotations {
  std::optional<bool> read_only = {};
  std::optional<bool> destructive = {};
  std::optional<bool> idempotent = {};
  std::optional<bool> open_world = {};

  friend bool operator==(const ToolAnnotations&, const ToolAnnotations&) = default;
};

// An argument that the modern era's HTTP repeats as a header.
struct HeaderParameter {
  std::string header;             // "Mcp-Param-Region"
  std::vector<std::string> path;  // the members that lead to the argument

  friend bool operator==(const HeaderParameter&, const HeaderParameter&) = default;
};

struct Tool {
  std::string name;
  std::string title = {};
  std::string description = {};
  json::Object input_schema = {};
  std::optional<json::Object> output_schema = {};
  ToolAnnotations annotations = {};
  std::vector<HeaderParameter> header_parameters = {};
  // Other members, as they came; with the annotations, if those have other members.
  json::Object more = {};

  friend bool operator==(const Tool&, const Tool&) = default;
};

struct TextContent {
  std::string text;
  friend bool operator==(const TextContent&, const TextContent&) = default;
};

struct ImageContent {
  std::string base64;
  std::string mime_type;
  friend bool operator==(const ImageContent&, const ImageContent&) = default;
};

struct AudioContent {
  std::string base64;
  std::string mime_type;
  friend bool operator==(const AudioContent&, const AudioContent&) = default;
};

struct ResourceLink {
  std::string uri;
  std::string name;
  std::string title = {};
  std::string description = {};
  std::string mime_type = {};
  friend bool operator==(const ResourceLink&, const ResourceLink&) = default;
};

struct TextBody {
  std::string text;
  friend bool operator==(const TextBody&, const TextBody&) = default;
};
struct BlobBody {
  std::string base64;
  friend bool operator==(const BlobBody&, const BlobBody&) = default;
};

struct EmbeddedResource {
  std::string uri;
  std::string mime_type;
  std::variant<TextBody, BlobBody> body;
  friend bool operator==(const EmbeddedResource&, const EmbeddedResource&) = default;
};

// A kind that this program does not know, or that lacks what its kind needs.
struct UnknownContent {
  std::string type;
  friend bool operator==(const UnknownContent&, const UnknownContent&) = default;
};

using Content = std::variant<TextContent, ImageContent, AudioContent, ResourceLink,
                             EmbeddedResource, UnknownContent>;

struct CallToolResult {
  std::vector<Content> content = {};
  std::optional<json::Value> structured_content = {};
  bool is_error = false;

  friend bool operator==(const CallToolResult&, const CallToolResult&) = default;
};

struct CallToolParams {
  std::string name;
  json::Object arguments = {};
  json::Object meta = {};  // goes into `_meta`
};

// A folder that the server may work in.
struct Root {
  std::string uri;  // file://...
  std::string name = {};

  friend bool operator==(const Root&, const Root&) = default;
};

struct SamplingMessage {
  std::string role;  // "user" or "assistant"
  std::vector<Content> content;

  friend bool operator==(const SamplingMessage&, const SamplingMessage&) = default;
};

// A server's question to a model.
struct CreateMessageParams {
  std::vector<SamplingMessage> messages;
  std::string system_prompt = {};
  std::int64_t max_tokens = 0;
  std::optional<double> temperature = {};
  std::vector<std::string> stop_sequences = {};
  std::vector<std::string> model_hints = {};

  friend bool operator==(const CreateMessageParams&, const CreateMessageParams&) = default;
};

struct CreateMessageResult {
  Content content;
  std::string model;
  std::string stop_reason = "endTurn";
};

// A server's question to the user.
struct ElicitParams {
  enum class Mode : std::uint8_t { form, url };

  Mode mode = Mode::form;
  std::string message;
  json::Object requested_schema = {};  // of a form
  std::string url = {};

  friend bool operator==(const ElicitParams&, const ElicitParams&) = default;
};

struct ElicitResult {
  enum class Action : std::uint8_t { accept, decline, cancel };

  Action action = Action::decline;
  json::Object content = {};  // of a form that was accepted
};

}  // namespace errand::mcp
