#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/id.hpp"

namespace errand {

using RunId = Id<struct RunIdTag>;          // "run_..."
using SessionId = Id<struct SessionIdTag>;  // "sess_..."
using ToolUseId = Id<struct ToolUseIdTag>;  // "tu_...", unique within its run
using ClaimId = Id<struct ClaimIdTag>;      // "claim_...", of a pending call
using KeyId = Id<struct KeyIdTag>;          // "key_..."
using WorkspaceSlug = Id<struct WorkspaceSlugTag>;

// A run and the workspace it belongs to. A run is found by both only, so that no workspace reaches
// into another.
struct RunKey {
  WorkspaceSlug workspace;
  RunId run;

  friend auto operator<=>(const RunKey&, const RunKey&) = default;
};

// The run that a call of a stored agent begins. It follows from the call, so that a call that is
// made again after a crash finds its run. Not for calls whose ids others have made up.
inline RunId child_run_of(const ToolUseId& call) {
  std::string_view suffix = call.view();
  suffix.remove_prefix(std::min(suffix.size(), std::string_view("tu_").size()));
  std::string id("run_");
  id += suffix;
  return RunId::parse(id).value_or(RunId());
}

// Position of an event in its run's log: 1, 2, 3 ... without gaps. 0 is "before the first".
using EventSeq = std::int64_t;

}  // namespace errand
