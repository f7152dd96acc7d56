#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "agent/fold/state.hpp"
#include "async/breath.hpp"

namespace errand::engine {

// What takes long to free of a run's state.
struct LargeParts {
  std::shared_ptr<const CreatedEntry> asked;  // what the caller asked; nullptr: not long
  std::vector<llm::MessagePtr> said;          // the conversation; empty: not long
};

inline std::optional<LargeParts> large_parts(const agent::State& state) {
  LargeParts large{.asked = state.large_parts(), .said = {}};
  if (state.conversation_bytes() > kBytesInABreath) large.said = state.messages();
  if (!large.asked && large.said.empty()) return std::nullopt;
  return large;
}

}  // namespace errand::engine
