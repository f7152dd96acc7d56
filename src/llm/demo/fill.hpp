#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "llm/demo/prompt.hpp"
#include "run/tool_decl.hpp"

namespace errand::llm {

// The calls of a tool that a prompt asks for, or what it leaves open.
struct FilledCalls {
  std::vector<json::Object> arguments;  // one per call
  std::vector<std::string> missing;     // required arguments, as "address.city"
};

// One prompt asks for no more calls than this; what lies beyond is left out.
constexpr std::size_t kCallsMax = 8;

// Fills a tool's arguments from a prompt. A prompt that names several values for the one required
// argument, such as two cities, asks for one call each.
FilledCalls fill_calls(const ToolDecl& tool, const std::vector<Piece>& pieces);

// An instance of `schema`, filled from the pieces as far as they go. Texts that are to hold an
// answer hold `answer`; whatever else is missing is made up.
json::Value make_instance(const json::Object& schema, std::vector<Piece> pieces,
                          std::string_view answer);

}  // namespace errand::llm
