#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "run/message.hpp"

namespace errand {

// A message as the history of a session keeps it: what the user said, and what was answered. Files
// are named; their bytes belong to the run that brought them.
std::string to_history_entry(const Message& message);
// internal: the text is not one that to_history_entry made.
Result<Message> parse_history_entry(std::string_view body);

}  // namespace errand
