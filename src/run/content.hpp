#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/value.hpp"
#include "run/file_part.hpp"

namespace errand {

// What a result of a call holds at most, wherever the call is made. A text that is longer is cut in
// the middle, or refused if a client sends it.
constexpr std::size_t kResultBytesMax = 2U * 1024 * 1024;
constexpr std::size_t kErrorBytesMax = 8U * 1024;

// What a tool gives back, part by part. Where content keeps its shape (MCP, A2A, rooms) each part
// travels as it is; a model and the agent-runs protocol get it flattened.
struct TextContent {
  std::string text;
};

struct JsonContent {
  json::Value value;
};

// Bytes, with a type that says what they are. The name may be empty.
struct FileContent {
  enum class Kind { image, audio, file };
  Kind kind = Kind::file;
  FilePart file;
};

// Something that can be fetched elsewhere.
struct LinkContent {
  std::string uri;
  std::string name = {};
  std::string description = {};
  std::string mime_type = {};
};

// Something that could be fetched elsewhere and comes along instead.
struct ResourceContent {
  std::string uri;
  std::string mime_type = {};
  std::string text = {};  // unless it has bytes
  std::optional<FilePart> file = {};
};

using Content = std::variant<TextContent, JsonContent, FileContent, LinkContent, ResourceContent>;

// Content as a model and the agent-runs protocol take it.
struct FlatContent {
  std::string text;
  std::vector<FilePart> files;
};

// Texts and JSON stand below each other; bytes become files with names that can be saved. What is
// too much is left out, and the text says so: past kResultBytesMax its middle, past kFilesMax and
// kFileBytesMax the file.
FlatContent flatten(std::vector<Content> content);

}  // namespace errand
