#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "json/value.hpp"

namespace errand::engine {

// What a session keeps of how it was asked for: {"spec","whenBusy"}.
json::Object to_json(const SessionParams& params);
// internal: the text is not one that to_json made.
Result<SessionParams> parse_session_params(std::string_view text);

std::string_view to_string(WhenBusy when_busy);
// "queue", "reject" or "interrupt".
std::optional<WhenBusy> parse_when_busy(std::string_view word);

}  // namespace errand::engine
