#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "net/sse_reader.hpp"
#include "run/ids.hpp"

namespace errand::cli {

// An event of a run as a server sent it.
struct RunEvent {
  EventSeq seq = 0;
  std::string type;
  json::Object fields;  // all members, in order, without the nested copy under "data"

  std::string_view text(std::string_view key) const;  // empty if it is not a text
};

// internal: it is not an event of a run.
Result<RunEvent> parse_run_event(const net::SseEvent& event);

// How a run ended.
struct RunEnd {
  enum class Kind { succeeded, failed, cancelled };
  Kind kind = Kind::succeeded;
  std::string message;  // what is wrong, for people

  friend bool operator==(const RunEnd&, const RunEnd&) = default;
};

// Nothing unless the event is the last one of its run.
std::optional<RunEnd> end_of(const RunEvent& event);

}  // namespace errand::cli
