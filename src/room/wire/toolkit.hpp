#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/schema_cache.hpp"
#include "json/value.hpp"
#include "room/wire/content.hpp"

namespace errand::room {

// Bounds of a registration; one beyond is refused.
struct ToolkitLimits {
  std::size_t tools_max = 1'000;
  std::size_t name_bytes_max = 256;
  std::size_t registration_bytes_max = 1024U * 1024;  // of its header
};

// Which contents a tool takes or gives.
struct ContentSpec {
  std::vector<ContentKind> types;
  bool stream = false;
  std::optional<json::Object> schema;
};

struct Tool {
  std::optional<ContentSpec> input;
  json::Object defs;  // for "$defs" of the schema
};

// The annotation of a toolkit whose host wants to know when a caller gives up. It is told by a
// closed input, whether or not the input is a stream.
inline constexpr std::string_view kCancelAnnotation = "errand.cancel";

// A toolkit as its host registered it.
struct Toolkit {
  std::string name;
  bool is_public = false;
  bool takes_cancel = false;  // its host wants to know when a caller gives up
  std::map<std::string, Tool, std::less<>> tools;
  // JSON members as answers to a list have them, ready to be copied: titles, tools and so on.
  std::string listed;
  // The same for clients that do not know the content type `binary`.
  std::string listed_without_binary;
};

// Clients read a whole list strictly, so that one odd toolkit would hide all others: everything
// that could confuse them is refused here. invalid_argument, too_large: why.
Result<Toolkit> parse_toolkit(const json::Object& header, const ToolkitLimits& limits);

// Makes arguments fit for a host that checks nothing itself, or says why they do not fit
// (invalid_argument): the kind of content, then the schema. A required key that is missing and may
// be null becomes null.
Result<Content> fit_input(std::string_view name, const Tool& tool, Content arguments,
                          json::SchemaCache& schemas);

}  // namespace errand::room
