#pragma once

// For tests of programs: models that play turns, records of calls, and runs that were exported.
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <errand/error.hpp>
#include <errand/json.hpp>
#include <errand/model.hpp>
#include <errand/run.hpp>
#include <errand/tool.hpp>
#include <errand/toolkit.hpp>

namespace errand::ERRAND_V1 {

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

// A model that plays turns, and keeps a record of its questions. The number of answers in the
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

// A call of a tool, and its result.
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
  // Prompt or messages, system prompt, output schema and limits; the messages of a session's run
  // include the earlier ones. Attachments have no bytes: exports have none.
  RunOptions options = {};
  std::vector<ScriptedTurn> turns = {};
  std::vector<RecordedCall> calls = {};  // that have a result, in their order
  Reply reply = {};  // text and status; nothing is known of a run that has not ended

  // Tools that answer as the run's tools did: each call gets the result of the first recorded call
  // of its tool with the same arguments that is left. Other calls fail.
  std::vector<Tool> tools() const;
};

// Throws an Error (invalid_argument) if the text is no export. A turn that the model began anew is
// there as it ended.
RecordedRun read_export(std::string_view text);

}  // namespace errand::ERRAND_V1
