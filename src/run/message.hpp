#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "json/value.hpp"
#include "run/file_part.hpp"
#include "run/ids.hpp"
#include "run/tools/origin.hpp"

namespace errand {

enum class Role { system, user, assistant };
std::string_view to_string(Role role);

// A call the model asked for. `provider_id` is the vendor's own, `id` is ours.
struct ToolCallPart {
  ToolUseId id;
  std::string provider_id;
  std::string name;
  std::string arguments;  // raw text as the model wrote it
};

struct ToolResultPart {
  ToolUseId id;
  std::string provider_id;
  std::string name;
  bool ok = true;
  std::string text;
  std::vector<FilePart> files = {};
};

// One entry of the conversation that is put to the model. Results of a turn's calls come as one
// user message that has only `results`, in the order of the calls.
struct Message {
  Role role = Role::user;
  std::string text;
  std::vector<ToolCallPart> calls;
  std::vector<ToolResultPart> results;
  // The vendor's own blocks of an assistant turn, verbatim; replayed to the same vendor only.
  std::vector<std::string> provider_blocks;
  std::vector<FilePart> files;  // of a user, after the text
};

// Limits of what a caller may send; past them: invalid_argument with the pointer.
constexpr std::size_t kMessageCharsMax = 200'000;

// A message as callers send it: {"role", "content", "attachments"?}; and as the journal has it,
// with files whose bytes are kept, and with the "calls" and "results" of a turn.
Result<Message> parse_input_message(const json::Value& value, std::string_view pointer,
                                    Origin origin);
json::Object to_input_json(const Message& message, Origin origin);

// What is asked of a caller's messages as a whole: the last one that is not the system's is the
// user's, and it alone has files. invalid_argument: with the pointer.
Result<void> check_conversation(const std::vector<Message>& messages, std::string_view pointer);

}  // namespace errand
