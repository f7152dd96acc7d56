#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "run/tools/tool_decl.hpp"

namespace errand::llm {

// The words of a name or a sentence in lower case: "getUser_name" gives " get user name ".
std::string words_of(std::string_view text);

// The calls of one tool: several if an argument has several values, such as two cities.
struct Plan {
  const ToolDecl* tool = nullptr;      // nullptr: none fits
  std::vector<std::string> arguments;  // JSON, one per call
  std::vector<std::string> missing;    // required arguments that the question does not have
};

// Calls for the tool that fits the question best. If none does, `other` is called, unless it is
// nullptr or the question lacks a required argument of it.
Plan plan_calls(const std::vector<ToolDecl>& tools, std::string_view question,
                const ToolDecl* other);

// An instance of a schema. A text such as "summary" holds `answer`; other members are filled from
// `source` and, if they are required, made up.
json::Value make_instance(const json::Object& schema, std::string_view source,
                          std::string_view answer);

}  // namespace errand::llm
