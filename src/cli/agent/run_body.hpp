#pragma once

#include <string>

#include "base/result.hpp"
#include "cli/agent/run_command.hpp"
#include "json/value.hpp"

namespace errand::cli {

// What the flags ask for of an agent with these tools, as members of a request for a run. Every
// error is invalid_argument and names the flag.
Result<json::Object> make_agent_fields(const AgentOptions& options, json::Array tools);

// What the flags of `errand run` ask for, as the body of a request for a run. Reads stdin if the
// prompt is "-". Every error is invalid_argument and names the flag.
Result<std::string> make_run_body(const RunOptions& options, json::Array tools);

}  // namespace errand::cli
