#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "llm/model.hpp"

namespace errand::llm {

struct ScriptedCall {
  std::string name;
  std::string arguments;  // JSON text
};

struct ScriptedTurn {
  milliseconds delay{0};        // before the first event
  milliseconds delta_delay{0};  // before each further event
  std::vector<std::string> thinking;
  std::vector<std::string> text;
  std::vector<ScriptedCall> calls;
  std::string finish_reason;  // empty: "tool_use" with calls, else "end_turn"
  Usage usage;
  std::optional<ModelFailure> failure;   // instead of everything else
  std::optional<std::size_t> cut_after;  // the stream breaks after this many pieces
};

using Script = std::vector<ScriptedTurn>;

// The file's format is in docs/guide/scripted-model.md. invalid_argument: with the pointer.
Result<Script> parse_script(std::string_view json_text);

}  // namespace errand::llm
