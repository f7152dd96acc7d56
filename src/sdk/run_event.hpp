#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "net/client/sse_reader.hpp"
#include "run/ids.hpp"
#include "run/usage.hpp"

namespace errand::sdk {

// An event of a run as a server sent it.
struct RunEvent {
  EventSeq seq = 0;
  std::string type;
  json::Object fields;  // all members, in order, without the nested copy under "data"

  std::string_view text(std::string_view key) const;  // empty if it is not a text
};

// internal: it is not an event of a run.
Result<RunEvent> parse_run_event(const net::SseEvent& event);

// Whether the event is a call of a tool, wherever the tool runs, or the result of one.
bool is_tool_call(const RunEvent& event);
bool is_tool_result(const RunEvent& event);
const json::Value* arguments_of_call(const RunEvent& event);  // null: it has none
bool has_call_failed(const RunEvent& event);
// What a tool answered, or why it failed.
std::string_view text_of_result(const RunEvent& event);

// How a run ended, and what it took.
struct RunEnd {
  enum class Kind { succeeded, failed, cancelled };
  Kind kind = Kind::succeeded;
  std::string message = {};  // what is wrong, for people
  std::string model = {};    // its id
  std::int64_t turns = 0;
  Usage usage = {};

  friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

// Nothing unless the event is the last one of its run.
std::optional<RunEnd> end_of(const RunEvent& event);

}  // namespace errand::sdk
