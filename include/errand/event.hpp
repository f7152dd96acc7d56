#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <errand/json.hpp>
#include <errand/run.hpp>

namespace errand::ERRAND_V1 {

// What happens in a run, one struct for each kind.

struct TextDelta {
  std::string text;
};

struct ThinkingDelta {
  std::string text;
};

// All that the model said in a turn.
struct AssistantMessage {
  std::string text;
  int turn = 0;
  std::string finish_reason = {};
};

// The model calls a tool. `by_client`: a client answers, such as this process.
struct ToolCalled {
  std::string id;
  std::string tool;
  Json arguments = {};
  bool by_client = false;
};

struct ToolAnswered {
  std::string id;
  std::string tool;
  bool ok = true;
  std::string text = {};
  std::vector<std::string> files = {};  // their names
};

struct ToolProgressed {
  std::string id;
  std::string tool;
  std::string message = {};
  std::optional<double> done = {};
  std::optional<double> total = {};
};

// The model repeats itself; it has been told, or must answer without tools.
struct LoopDetected {
  int count = 0;
  bool hard_cutoff = false;
  std::vector<std::string> tools = {};
};

// A call was refused, because its tool has been called as often as it may.
struct ToolBudgetExceeded {
  std::string tool;
  int max_calls = 0;
  int call_index = 0;
};

// The text that was streamed of a turn is void; the turn is asked again.
struct TurnRestarted {
  int turn = 0;
  int attempt = 0;
};

// The connection to the server broke. The stream reconnects by itself, and loses nothing.
struct ConnectionLost {
  std::string why;
};
struct ConnectionRestored {};

// The last event of a run.
struct RunEnded {
  Reply reply;
};

// An event of a type that this version does not know, as it came.
struct UnknownEvent {
  std::string type;
  Json fields = {};
};

using EventData = std::variant<TextDelta, ThinkingDelta, AssistantMessage, ToolCalled, ToolAnswered,
                               ToolProgressed, LoopDetected, ToolBudgetExceeded, TurnRestarted,
                               ConnectionLost, ConnectionRestored, RunEnded, UnknownEvent>;

struct Event {
  std::int64_t seq = 0;  // 1, 2, 3 ... in the run's log; 0 for what only this process sees
  EventData data = {};

  // Null if the event is of another kind.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
};

}  // namespace errand::ERRAND_V1
