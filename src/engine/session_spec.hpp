#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "run/fork.hpp"
#include "run/spec.hpp"
#include "store/sessions.hpp"

namespace errand::engine {

// What the spec of a session has from its agent and its room. Messages add to it and cannot
// take it away.
struct FromAgent {
  std::size_t tools = 0;  // this many of the spec's tools, the first ones
  bool has_prompt = false;
};

// What a session is asked for with; runs of the session are asked for with the same.
struct SessionParams {
  Spec spec;  // without prompt and messages
  WhenBusy when_busy = WhenBusy::queue;
  FromAgent from_agent = {};  // the engine's to say
};

// A message to a session, and the settings that only its run has.
struct SessionMessage {
  Spec said;  // prompt or messages
  SpecOverrides overrides = {};
  std::optional<WhenBusy> when_busy = {};
};

// What a session keeps of how it was asked for: {"spec","whenBusy"}, and
// {"agentTools","agentPrompt"} if there are such.
json::Object to_json(const SessionParams& params);
// internal: the text was not made by to_json.
Result<SessionParams> parse_session_params(std::string_view text);

// A place in a list of sessions as a text for clients.
std::string to_cursor(const SessionPlace& place);
std::optional<SessionPlace> parse_cursor(std::string_view text);

std::string_view to_string(WhenBusy when_busy);
// "queue", "reject" or "interrupt".
std::optional<WhenBusy> parse_when_busy(std::string_view word);

}  // namespace errand::engine
