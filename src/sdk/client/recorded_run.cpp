// An exported run as a regression test.
#include <errand/model.hpp>

#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/log/journal.hpp"
#include "run/log/run_export.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/public_error.hpp"

namespace errand::v1 {
namespace {

Json arguments_of(const std::string& text) {
  auto value = json::parse(text, {.duplicate_keys = json::DuplicateKeys::last_wins});
  return value ? detail::from_value(*value) : Json::object();
}

// Takes a journal, entry by entry.
class Recorder final {
 public:
  void operator()(const CreatedEntry& one) {
    RunOptions& options = run_.options;
    options.prompt = one.spec.prompt.value_or("");
    options.system_prompt = one.spec.system_prompt;
    for (const errand::Message& message : one.spec.messages) {
      options.messages.push_back({.role = static_cast<Role>(message.role), .text = message.text});
    }
    if (one.spec.output_schema) {
      options.output =
          OutputSchema{.schema = detail::from_value(json::Value(*one.spec.output_schema->schema)),
                       .name = one.spec.output_schema->name};
    }
  }
  void operator()(const TurnEntry&) { turn_ = {}; }
  void operator()(const CallEntry& one) {
    turn_.text += one.text;
    turn_.calls.push_back({.tool = one.name, .arguments = arguments_of(one.arguments)});
  }
  void operator()(const TurnEndEntry& one) {
    turn_.text += one.text;
    turn_.usage = {.input_tokens = one.usage.input_tokens,
                   .cached_tokens = one.usage.cached_tokens,
                   .reasoning_tokens = one.usage.reasoning_tokens,
                   .output_tokens = one.usage.output_tokens};
    if (one.fatal) turn_.error = Error(ErrorCode::invalid_argument, one.fatal->message);
    run_.turns.push_back(std::exchange(turn_, {}));
  }
  void operator()(const TerminalEntry& one) {
    run_.reply.status = static_cast<RunStatus>(one.status);
    run_.reply.error = one.message;
    if (run_.reply.ok() && !run_.turns.empty()) run_.reply.text = run_.turns.back().text;
  }
  template <class Other>
  void operator()(const Other&) {}

  RecordedRun take() && { return std::move(run_); }

 private:
  RecordedRun run_{.reply = {.status = RunStatus::running}};
  ScriptedTurn turn_;
};

}  // namespace

RecordedRun read_export(std::string_view text) {
  auto exported = parse_export(text);
  if (!exported) throw sdk::public_error(exported.error());
  std::string lines;
  for (const json::Value& entry : exported->journal) append(lines, json::write(entry), "\n");
  auto journal = parse_journal(lines);
  if (!journal) {
    throw Error(ErrorCode::invalid_argument,
                cat("the journal of the export cannot be read: ", journal.error().message()));
  }
  Recorder recorder;
  for (const JournalEntry& entry : *journal) std::visit(recorder, entry);
  return std::move(recorder).take();
}

}  // namespace errand::v1
