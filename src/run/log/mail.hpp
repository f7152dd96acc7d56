#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"
#include "run/content.hpp"
#include "run/file_part.hpp"
#include "run/log/event.hpp"

namespace errand {

// What the mailbox of a tool call asks: the arguments alone for a plain local call, else an array
// of the arguments and of what goes along with them.
std::string to_mail_request(const LocalToolCall& call);
// "args", "kind" and what goes along, as members of one object. A text that to_mail_request did not
// make is a plain local call without arguments.
json::Object parse_mail_request(std::string_view request);

// What a filled mailbox of a tool call holds.
struct ToolAnswer {
  bool ok = true;
  std::string text;
  bool timed_out = false;  // nobody answered in time; put there by the owner itself
  std::vector<FilePart> files = {};
  bool is_fatal = false;  // a failure with which the run ends
};

// A tool result with neither "result" nor "error".
enum class MissingResult {
  refuse,  // the call stays pending
  empty    // counts as an empty result, which some clients mean by it
};

std::string to_mail_body(const ToolAnswer& answer);
// internal: the text is not one that to_mail_body made.
Result<ToolAnswer> parse_tool_answer(std::string_view body);

// The mailbox of a cancel request; its body is the reason.
inline constexpr std::string_view kCancelSlot = "cancel";

// The mailbox in which a client tells how far a call has come. It holds one report:
// further ones are dropped until the owner has taken it, because nobody waits for them.
std::string progress_slot(const ToolUseId& call);
std::string to_mail_body(const ToolProgress& progress);
// internal: the text is not one that to_mail_body made.
Result<ToolProgress> parse_progress(std::string_view body);

}  // namespace errand
