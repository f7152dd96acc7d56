#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "run/message.hpp"

namespace errand {

// A message as the history of a session keeps it: what the user said, or what was answered. Files
// are named; their bytes belong to the run that brought them.
struct HistoryEntry {
  Message message;
  // What the model did before it gave this answer, as far as it is kept: pairs of a message with
  // calls and a message with their results.
  std::vector<Message> steps = {};
};

// A call that a session keeps, with its result.
struct RetainedCall {
  ToolUseId id;
  std::string text = {};  // what the model said before the calls of a turn; on the first of them
  std::string name;
  std::string arguments;
  bool ok = true;
  std::string result;

  friend bool operator==(const RetainedCall&, const RetainedCall&) = default;
};
// The calls of the entry's steps, in order.
std::vector<RetainedCall> retained_calls(const HistoryEntry& entry);

std::string to_history_entry(const HistoryEntry& entry);
// internal: the text is not one that to_history_entry made.
Result<HistoryEntry> parse_history_entry(std::string_view body);

}  // namespace errand
