#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/value.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

// What an answer with this status and body means: the one place that maps statuses. Those from 500
// on are unavailable, because trying again may help.
Error error_of_answer(int status, std::string_view body);

// The body of an answer, null if it is empty. internal: it is not JSON; `from` is who sent it.
Result<json::Value> parse_body(std::string_view body, std::string_view from);

// The event of a server-sent frame, without the copy of its fields under "data". internal: it is
// none.
Result<StampedEvent> event_of_frame(std::string_view data);

// Bodies of other answers. internal: a required member is missing.
Result<RunId> parse_run_id(const json::Value& answer);
Result<RunStatus> parse_status(const json::Value& answer);
Result<RunInfo> parse_run_info(const json::Value& answer);
Result<RunPage> parse_run_page(const json::Value& answer);
Result<std::vector<OpenCall>> parse_open_calls(const json::Value& answer);
Result<Claim> parse_claim(const json::Value& answer);
Result<SessionId> parse_session_id(const json::Value& answer);
Result<SessionInfo> parse_session_info(const json::Value& answer);
Result<std::vector<SaidMessage>> parse_said(const json::Value& answer);
Result<SessionPage> parse_session_page(const json::Value& answer);

// Appends the items of a page to `all`; the cursor of the next page, empty after the last.
std::string take_page(const json::Value& page, std::string_view key, std::vector<json::Value>& all);

}  // namespace errand::sdk
