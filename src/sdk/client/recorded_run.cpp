// An exported run as a regression test.
#include <errand/testing.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "run/log/journal.hpp"
#include "run/log/run_export.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/public_error.hpp"

namespace errand::v1 {
namespace {

Json arguments_of(const std::string& text) {
  return detail::json_of_model(text).value_or(Json::object());
}

std::vector<std::variant<FileContent, LinkContent>> attached(const std::vector<FilePart>& files) {
  std::vector<std::variant<FileContent, LinkContent>> out;
  for (const FilePart& file : files) {
    if (file.url.empty()) {
      out.emplace_back(FileContent{.mime_type = file.mime_type, .name = file.filename});
    } else {
      out.emplace_back(
          LinkContent{.url = file.url, .name = file.filename, .mime_type = file.mime_type});
    }
  }
  return out;
}

// Reads a journal entry by entry.
class Recorder final {
 public:
  void operator()(const CreatedEntry& one) {
    RunOptions& options = run_.options;
    options.prompt = one.spec.prompt.value_or("");
    options.system_prompt = one.spec.system_prompt;
    for (const errand::Message& message : one.spec.messages) {
      options.messages.push_back({.role = static_cast<Role>(message.role),
                                  .text = message.text,
                                  .attachments = attached(message.files)});
    }
    options.max_tool_turns = one.spec.budgets.max_tool_turns;
    if (one.spec.tool_budgets) {
      options.tool_budgets.emplace(one.spec.tool_budgets->begin(), one.spec.tool_budgets->end());
    }
    if (one.spec.loop_detection) {
      options.loop_detection =
          LoopDetection{.enabled = !one.spec.loop_detection->is_off,
                        .consecutive_threshold = one.spec.loop_detection->consecutive_threshold,
                        .hard_cutoff_threshold = one.spec.loop_detection->hard_cutoff_threshold};
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
    made_[one.id] = {.tool = one.name, .arguments = arguments_of(one.arguments)};
    turn_.calls.push_back({.tool = one.name, .arguments = arguments_of(one.arguments)});
  }
  void operator()(const OutcomeEntry& one) {
    auto made = made_.find(one.id);
    if (made == made_.end() || one.synthetic) return;
    RecordedCall call = made->second;
    call.ok = one.ok;
    call.text = one.text;
    run_.calls.push_back(std::move(call));
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
  std::map<ToolUseId, RecordedCall> made_;
};

// Recorded calls that were not made again.
struct CallsLeft {
  std::mutex mutex;
  std::vector<RecordedCall> calls;

  ToolResult take(std::string_view tool, const Json& arguments) {
    std::lock_guard lock(mutex);
    auto found = std::ranges::find_if(calls, [&](const RecordedCall& one) {
      return one.tool == tool && one.arguments == arguments;
    });
    if (found == calls.end()) {
      return ToolResult::failed(
          cat("The recorded run has no call of ", tool, " with these arguments left."));
    }
    RecordedCall call = std::move(*found);
    calls.erase(found);
    if (!call.ok) return ToolResult::failed(std::move(call.text));
    ToolResult result;
    result.content.emplace_back(TextContent{std::move(call.text)});
    return result;
  }
};

}  // namespace

std::vector<Tool> RecordedRun::tools() const {
  auto left = std::make_shared<CallsLeft>();
  left->calls = calls;
  std::set<std::string> names;
  for (const RecordedCall& call : calls) names.insert(call.tool);
  std::vector<Tool> out;
  for (const std::string& name : names) {
    out.push_back(
        tool(name, "As it was recorded.", detail::any_object_schema(),
             [left, name](const Json& arguments) { return left->take(name, arguments); }));
  }
  return out;
}

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
