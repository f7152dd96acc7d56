#pragma once

#include <errand/tool.hpp>

namespace errand::v1::detail {

// What the copies of a Tool share.
struct ToolState {
  std::string name;
  std::string description;
  ToolOptions options;
  // Null while a hand-written schema refers to definitions that a toolkit will give; the schema is
  // then in written_input or written_output.
  std::shared_ptr<const CheckedSchema> input;
  std::shared_ptr<const CheckedSchema> output;
  std::optional<Json> written_input;
  std::optional<Json> written_output;
  std::shared_ptr<const Handler> handler;
};

// Adds definitions to hand-written schemas that refer to them.
// Throws an Error (invalid_argument) if a schema is wrong.
void add_definitions(ToolState& state, const JsonObject& definitions);

}  // namespace errand::v1::detail
