#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <errand/content.hpp>
#include <errand/json.hpp>
#include <errand/run.hpp>

namespace errand::ERRAND_V1 {

// A call that a model made, and its result.
struct ToolUse {
  std::string id = {};  // the model's own; links a call to its result
  std::string tool = {};
  Json arguments = {};
};
struct ToolUseResult {
  std::string id = {};
  std::string tool = {};
  bool ok = true;
  std::string text = {};
  std::vector<std::variant<FileContent, LinkContent>> attachments = {};
};

// One entry of the conversation. Results of a turn's calls come as one message of the user.
struct QuestionMessage {
  Role role = Role::user;
  std::string text = {};
  std::vector<ToolUse> calls = {};
  std::vector<ToolUseResult> results = {};
  // Files with their bytes, and links. A file that is not kept any more has no bytes.
  std::vector<std::variant<FileContent, LinkContent>> attachments = {};
};

struct OfferedTool {
  std::string name = {};
  std::string description = {};
  Json input_schema = {};
};

// What a model is asked in a turn.
struct Question {
  std::string system_prompt = {};
  std::vector<QuestionMessage> messages = {};
  std::vector<OfferedTool> tools = {};
  bool tools_off = false;                  // no tool may be called
  std::optional<Json> output_schema = {};  // that the text must follow
  std::string output_name = {};            // of the schema, for vendors that want one
  std::optional<int> reasoning_level = {};
  std::optional<std::int64_t> output_tokens_max = {};  // thinking included; nothing: no limit
};

// Takes what a model says, piece by piece. A call starts while the model still speaks. The sink
// makes a model wait that is far ahead of its reader.
class AnswerSink {
 public:
  virtual ~AnswerSink();
  virtual void text(std::string_view piece) = 0;
  virtual void thinking(std::string_view piece) = 0;
  virtual void call(std::string_view tool, const Json& arguments, std::string_view id = {}) = 0;
  virtual void usage(const Usage& usage) = 0;
  // "end_turn" or "tool_use" unless the model says something else, such as "max_tokens".
  virtual void finish_reason(std::string_view reason) = 0;
  // Whether the answer is no longer wanted.
  virtual bool cancelled() const = 0;
};

// A model of one's own. `ask` blocks until the answer is complete, is called on a thread of the
// runtime, and for several runs at a time. An Error that it throws fails the turn; unavailable,
// timeout and rate_limited are tried again. Ask by what the question says, never by a counter: a
// run that is continued or forked asks the same again.
class Model {
 public:
  virtual ~Model();
  virtual void ask(const Question& question, AnswerSink& sink) = 0;
};

}  // namespace errand::ERRAND_V1
