#include "agent/fold/offers.hpp"

#include <utility>

namespace errand::agent {

LocalToolCall offer_of(const CallState& call, std::string args) {
  return {.id = call.id,
          .name = call.name,
          .args = std::move(args),
          .kind = call.tool->kind,
          .echo = call.tool->echo};
}

bool promises_repeat(const ToolDecl& tool) {
  const ToolAnnotations& notes = tool.annotations;
  return notes.read_only || notes.idempotent || notes.resumable;
}

}  // namespace errand::agent
