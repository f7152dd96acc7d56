#pragma once

#include <memory>
#include <mutex>
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
  std::optional<int> reasoning_level = {};
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

// ---- For tests ----------------------------------------------------------------------------------

struct ScriptedCall {
  std::string tool = {};
  Json arguments = Json::object();
};

// What a scripted model says in a turn.
struct ScriptedTurn {
  std::string text = {};
  std::vector<ScriptedCall> calls = {};
  std::string thinking = {};
  std::optional<Error> error = {};  // instead of everything else
  Usage usage = {};
};

// A model that plays turns, and keeps a record of what it was asked. The number of answers in the
// conversation picks the turn.
class ScriptedModel final : public Model {
 public:
  explicit ScriptedModel(std::vector<ScriptedTurn> turns);
  ~ScriptedModel() override;

  void ask(const Question& question, AnswerSink& sink) override;

  // Everything that was asked, in order. Safe to call from any thread.
  std::vector<Question> questions() const;

 private:
  const std::vector<ScriptedTurn> turns_;
  mutable std::mutex mutex_;
  std::vector<Question> questions_;
};

std::shared_ptr<ScriptedModel> scripted(std::vector<ScriptedTurn> turns);

// A call of a tool, and what it gave.
struct RecordedCall {
  std::string tool = {};
  Json arguments = {};
  bool ok = true;
  std::string text = {};

  bool operator==(const RecordedCall&) const = default;
};

// Keeps a record of the calls of tools, in the order of their ends. Copies share the record; safe
// to use from any thread.
class CallRecord final {
 public:
  CallRecord();

  // The same tool or toolkit, whose calls are recorded.
  Tool watch(const Tool& tool) const;
  Toolkit watch(const Toolkit& toolkit) const;

  std::vector<RecordedCall> calls() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// A run that `errand runs export` wrote, as a regression test: what was asked, what the model said,
// and how the run ended. Add your tools to `options`, and play the turns with `scripted`.
struct RecordedRun {
  RunOptions options = {};  // prompt or messages, system prompt, output schema
  std::vector<ScriptedTurn> turns = {};
  std::vector<RecordedCall> calls = {};  // that have a result, in their order
  Reply reply = {};  // text and status; nothing is known of a run that has not ended

  // Tools that answer as those of the run did: each call with the result of the first recorded call
  // of its tool with the same arguments that is left. Other calls fail.
  std::vector<Tool> tools() const;
};

// Throws an Error (invalid_argument) if the text is no export. A turn that the model began anew is
// there as it ended.
RecordedRun read_export(std::string_view text);

}  // namespace errand::ERRAND_V1
