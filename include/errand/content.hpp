#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <errand/json.hpp>

namespace errand::ERRAND_V1 {

// What a tool gives back, in pieces. Bytes are raw, not base64.
struct TextContent {
  std::string text;

  bool operator==(const TextContent&) const = default;
};

struct JsonContent {
  Json value;

  bool operator==(const JsonContent&) const = default;
};

struct ImageContent {
  std::string bytes;
  std::string mime_type;

  bool operator==(const ImageContent&) const = default;
};

struct AudioContent {
  std::string bytes;
  std::string mime_type;

  bool operator==(const AudioContent&) const = default;
};

struct FileContent {
  std::string bytes;
  std::string mime_type;
  std::string name = {};

  bool operator==(const FileContent&) const = default;
};

// A resource that the reader may fetch by itself.
struct LinkContent {
  std::string url;
  std::string name = {};
  std::string description = {};
  std::string mime_type = {};

  bool operator==(const LinkContent&) const = default;
};

// A resource with its text or its bytes.
struct ResourceContent {
  std::string uri;
  std::string text = {};
  std::string bytes = {};
  std::string mime_type = {};

  bool operator==(const ResourceContent&) const = default;
};

// Success without anything to say.
struct EmptyContent {
  bool operator==(const EmptyContent&) const = default;
};

using Content = std::variant<TextContent, JsonContent, ImageContent, AudioContent, FileContent,
                             LinkContent, ResourceContent, EmptyContent>;

enum class ToolOutcome : std::uint8_t {
  ok,
  failed,  // the model reads why, and may try again
  fatal,   // the run ends
};

// What a call of a tool gives: content for the model, and how the call went.
struct ToolResult {
  std::vector<Content> content = {};
  std::optional<Json> structured = {};  // what programs read; fits the tool's output schema
  ToolOutcome outcome = ToolOutcome::ok;

  static ToolResult failed(std::string message);
  static ToolResult fatal(std::string message);

  bool ok() const { return outcome == ToolOutcome::ok; }
  // The text and JSON of all content, a line for each; other content is left out.
  std::string text() const;

  bool operator==(const ToolResult&) const = default;
};

// Content as JSON in the blocks of the Model Context Protocol: {"type": "text", "text": ...},
// {"type": "image", "data": base64, "mimeType": ...} and so on. JSON content becomes text; a file
// becomes an embedded resource.
Json to_block(const Content& content);

// Content from a block, of the Model Context Protocol or of model vendors
// ({"type": "image", "source": {"type": "base64", ...}}); nothing if the value is no block.
std::optional<Content> from_block(const Json& block);

}  // namespace errand::ERRAND_V1
