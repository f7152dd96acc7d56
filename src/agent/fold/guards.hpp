#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/guard_limits.hpp"
#include "run/log/event.hpp"
#include "run/log/journal.hpp"

namespace errand::agent {

class State;

// What the guards remember of the calls of one turn.
struct Batch {
  std::uint64_t calls = 0;  // of names and arguments, in any order and spelling
  std::uint64_t error =
      0;  // of what its calls were told, if all of them failed; 0: none or unknown
  std::vector<std::string> tools;  // names, each once

  friend bool operator==(const Batch&, const Batch&) = default;
};

// One text for all spellings of the same JSON: keys in order, 1.0 and 1e0 as 1. A text that is not
// JSON, or is too long for arguments, is left as it is.
std::string canonical_arguments(std::string_view raw);

// What the guards compare of one call, and of one failure. Taken when they are known, because those
// of a whole turn together may be long.
std::uint64_t call_mark(std::string_view name, std::string_view arguments);
// 0: a success, or a refusal in the loop guard's own words.
std::uint64_t failure_mark(std::string_view name, const OutcomeEntry& outcome);

// The calls of the state's turn, which is over.
Batch batch_of(const State& state);

// Longest cycle that is noticed: A-B-C-D-A-B-C-D.
constexpr std::size_t kCycleMax = 4;

// How the calls of the last batch repeat those before it.
struct Repetition {
  enum class Stage {
    none,
    known,   // the model was told already, and goes on
    nudge,   // the model gets a note
    cut_off  // the model must answer without tools
  };
  Stage stage = Stage::none;
  int count = 0;                   // how often in a row, the last one included
  std::vector<std::string> tools;  // that are called again and again

  friend bool operator==(const Repetition&, const Repetition&) = default;
};

// The same batch again and again, or the same few in a cycle.
Repetition find_loop(const std::vector<Batch>& batches, const LoopLimits& limits);
// Calls of any tools failed in the same way.
Repetition find_same_error(const std::vector<Batch>& batches, const LoopLimits& limits);
// Whether one more batch could be a repetition: its calls then wait until all of it is known.
bool is_near_loop(const std::vector<Batch>& batches, const LoopLimits& limits);

// The calls of a turn are not begun while it is streamed.
bool holds_calls(const State& state);

// The text that the model gets instead of each result, if none of the turn's calls is made. The
// turn is over.
std::optional<std::string> batch_refusal(const State& state);

// How the model is steered after a turn whose calls have all finished.
struct Steering {
  std::optional<std::string> nudge;  // said before the next turn, as if by the user
  bool tools_off = false;
  std::optional<LoopDetected> event;
};
Steering steering_after(const State& state);

}  // namespace errand::agent
