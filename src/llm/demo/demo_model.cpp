#include "llm/demo/demo_model.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/demo/compose.hpp"
#include "llm/demo/conversation.hpp"
#include "llm/demo/fill.hpp"
#include "llm/paced_stream.hpp"

namespace errand::llm {
namespace {

// Slow enough to see that it streams, fast enough for tests.
constexpr milliseconds kWordPause{10};
constexpr std::size_t kBytesPerToken = 4;

std::int64_t tokens_of(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + kBytesPerToken - 1) / kBytesPerToken);
}

std::int64_t input_tokens(const TurnRequest& request) {
  std::size_t bytes = request.system_prompt.size();
  for (const Message& message : request.messages) {
    bytes += message.text.size();
    for (const ToolCallPart& call : message.calls)
      bytes += call.name.size() + call.arguments.size();
    for (const ToolResultPart& result : message.results) bytes += result.text.size();
  }
  for (const ToolDecl& tool : request.tools) {
    std::string schema;
    json::write(schema, *tool.input_schema);
    bytes += tool.name.size() + tool.description.size() + schema.size();
  }
  return tokens_of(bytes);
}

// The calls that the plan wants and nobody has made: all of them, or what a turn that broke off
// left undone. A call that failed is not made again.
std::vector<std::string> open_calls(const Plan& plan, const Conversation& conversation) {
  std::vector<std::string> open;
  for (const std::string& arguments : plan.arguments) {
    bool is_made =
        std::any_of(conversation.made.begin(), conversation.made.end(), [&](const MadeCall& made) {
          return made.call->name == plan.tool->name && made.call->arguments == arguments;
        });
    if (!is_made) open.push_back(arguments);
  }
  return open;
}

std::string answer(const TurnRequest& request, const Conversation& conversation, const Plan& plan) {
  std::string files = told_files(conversation);
  if (!conversation.made.empty()) return cat(files, answer_from_results(conversation));
  if (plan.tool) return cat(files, ask_for_missing(plan));
  return cat(files, answer_without_tool(conversation, request.tools));
}

// The answer as an instance of the schema that the request asks for.
std::string structured(const json::Object& schema, const Conversation& conversation,
                       std::string_view answer) {
  std::string source;
  if (!conversation.questions.empty()) source = *conversation.questions.back();
  for (const MadeCall& made : conversation.made) append(source, "\n", made.result->text);
  return json::write(make_instance(schema, read_pieces(source), answer));
}

// Each piece is a word with the space after it.
void stream_words(std::vector<TurnEvent>& events, std::string_view text) {
  constexpr std::string_view kSeparators = " \n,";
  while (!text.empty()) {
    std::size_t end = text.find_first_of(kSeparators);
    end = std::min(text.find_first_not_of(kSeparators, end), text.size());
    events.emplace_back(TextDelta{std::string(text.substr(0, end))});
    text.remove_prefix(end);
  }
}

std::vector<TurnEvent> events_for(const TurnRequest& request) {
  Conversation conversation = read_conversation(request.messages);
  Plan plan = make_plan(conversation, request.tools);
  std::vector<std::string> calls;
  if (plan.missing.empty() && !request.tools_off) calls = open_calls(plan, conversation);

  std::string text = calls.empty() ? answer(request, conversation, plan) : announce(plan);
  if (calls.empty() && request.output_schema)
    text = structured(*request.output_schema, conversation, text);
  std::size_t bytes = text.size();
  std::vector<TurnEvent> events;
  stream_words(events, text);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    bytes += plan.tool->name.size() + calls[i].size();
    events.emplace_back(CallClosed{.provider_id = cat("call_", conversation.turns, "_", i),
                                   .name = plan.tool->name,
                                   .arguments = std::move(calls[i])});
  }
  events.emplace_back(Finished{
      .finish_reason = calls.empty() ? "end_turn" : "tool_use",
      .usage = {.input_tokens = input_tokens(request), .output_tokens = tokens_of(bytes)}});
  return events;
}

}  // namespace

DemoModel::DemoModel(Timers& timers, Executor home) : timers_(timers), home_(std::move(home)) {}

std::unique_ptr<TurnStream> DemoModel::ask(TurnRequest request) {
  return std::make_unique<PacedStream>(events_for(request), Pace{.delta_delay = kWordPause},
                                       timers_, home_);
}

}  // namespace errand::llm
