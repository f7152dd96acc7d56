#include "llm/demo/demo_model.hpp"

#include <algorithm>
#include <span>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/demo/calls.hpp"
#include "llm/members.hpp"
#include "llm/paced_stream.hpp"

namespace errand::llm {
namespace {

constexpr std::string_view kSelf =
    "I am Errand's demo model: I follow simple rules and need neither key nor network.";
// Slow enough to see that it streams, fast enough for tests.
constexpr milliseconds kWordPause{10};
constexpr std::size_t kBytesPerToken = 4;
constexpr std::size_t kQuestionsMax = 4;  // earlier ones are forgotten
constexpr std::size_t kLinesMax = 20;     // of a result
constexpr std::size_t kLineBytesMax = 200;
constexpr std::size_t kSourceBytesMax = 2048;  // of a result, to answer a schema from

constexpr std::string_view kGreetings[] = {"hello", "hi", "hey", "good", "thanks", "thank"};
constexpr std::string_view kGoingOn[] = {"and", "or",         "also",     "same",
                                         "now", "what about", "how about"};

// What a request says. Points into the request.
struct Conversation {
  std::vector<const Message*> questions;
  std::vector<std::pair<const ToolCallPart*, const ToolResultPart*>> made;  // for the last question
};

Conversation read_conversation(const std::vector<MessagePtr>& messages) {
  Conversation out;
  const Message* turn = nullptr;
  for (const MessagePtr& shared : messages) {
    const Message& message = *shared;
    if (message.role == Role::assistant) turn = &message;
    if (message.role == Role::user && message.results.empty()) {
      if (out.questions.size() == kQuestionsMax) out.questions.erase(out.questions.begin());
      out.questions.push_back(&message);
      out.made.clear();
    }
    for (const ToolCallPart& call : turn ? turn->calls : message.calls) {
      for (const ToolResultPart& result : message.results) {
        if (result.id == call.id && result.provider_id == call.provider_id)
          out.made.emplace_back(&call, &result);
      }
    }
  }
  return out;
}

bool begins_with(std::string_view question, std::span<const std::string_view> words) {
  const std::string said = words_of(question);
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view one) { return said.starts_with(cat(" ", one, " ")); });
}

std::string shortened(std::string_view text) {
  return cat(utf8_prefix(text, kLineBytesMax), text.size() > kLineBytesMax ? " ..." : "");
}

// "a, b and c"
std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names)
    append(out, out.empty() ? "" : &name == &names.back() ? " and " : ", ", name);
  return out;
}

std::string told_files(std::string_view sender, const std::vector<FilePart>& files) {
  std::vector<std::string> names;
  for (const FilePart& file : files) {
    names.push_back(file.filename.empty() ? file.url : file.filename);
    if (file.url.empty()) append(names.back(), " (", file.mime_type, ", ", file.size, " bytes)");
  }
  return names.empty() ? "" : cat(sender, " sent ", listed(names), ".\n");
}

std::string told(const ToolCallPart& call, const ToolResultPart& result) {
  std::vector<std::string> values;
  for (const auto& member : parse_object(call.arguments).value_or(json::Object())) {
    const json::Value& value = member.value();
    values.push_back(value.is_string() ? std::string(value.get_string()) : json::write(value));
  }
  std::string label = shortened(listed(values));
  std::string source = label.empty() ? "" : cat(" for ", label);
  std::vector<std::string> lines;
  std::size_t count = 0;
  for (std::string_view rest = result.text; !rest.empty(); ++count) {
    std::string_view line = take_line(rest);
    if (count < kLinesMax) lines.push_back(shortened(line));
  }
  std::string first = lines.empty() ? "" : lines[0];
  if (!result.ok) return cat("Sorry, ", call.name, " failed", source, ": ", first, "\n");
  if (lines.empty()) return cat(call.name, source, " gave an empty result.\n");
  if (count == 1) return cat(label.empty() ? call.name : label, ": ", first, "\n");
  std::string out = cat("This is what ", call.name, " gave", source);
  if (count > kLinesMax) append(out, ", the first ", kLinesMax, " of ", count, " lines");
  append(out, ":\n\n");
  for (const std::string& line : lines) append(out, line.empty() ? ">" : "> ", line, "\n");
  return cat(out, "\n");
}

std::string answer_without_tool(const std::string& question, const std::vector<ToolDecl>& tools) {
  std::vector<std::string> names;
  for (const ToolDecl& tool : tools) names.push_back(tool.name);
  bool greets = begins_with(question, kGreetings);
  std::string help = "This run has no tools, and without them I know nothing.";
  if (!names.empty())
    help = cat(greets ? "Ask me for something that my tools can do: "
                      : "None of my tools fits this. I have ",
               listed(names), ".");
  return greets ? cat("Hello! ", kSelf, " ", help) : cat(help, " ", kSelf);
}

// The answer as text, or as an instance of the schema that the request asks for.
std::string answer(const TurnRequest& request, const Conversation& conversation, const Plan& plan) {
  const auto& [questions, made] = conversation;
  std::string source = questions.empty() ? "" : questions.back()->text;
  std::string out = questions.empty() ? "" : told_files("You", questions.back()->files);
  if (!out.empty()) out += '\n';
  if (made.empty() && !plan.missing.empty()) {
    append(out, "I would ask ", plan.tool->name, ", but you did not say its ", listed(plan.missing),
           ". What shall I use?\n\n", kSelf);
  } else if (made.empty()) {
    append(out, answer_without_tool(source, *request.tools));
  }
  for (const auto& [call, result] : made) {
    append(out, told(*call, *result), told_files(call->name, result->files));
    append(source, "\n", utf8_prefix(result->text, kSourceBytesMax));
  }
  if (!made.empty()) append(out, out.ends_with("\n\n") ? "" : "\n", kSelf);
  if (!request.output_schema) return out;
  return json::write(make_instance(*request.output_schema, source, out));
}

std::int64_t tokens_of(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + kBytesPerToken - 1) / kBytesPerToken);
}

std::size_t bytes_of(const TurnRequest& request) {
  std::size_t bytes = request.system_prompt->size();
  for (const MessagePtr& message : request.messages) {
    bytes += message->text.size();
    for (const ToolCallPart& call : message->calls)
      bytes += call.name.size() + call.arguments.size();
    for (const ToolResultPart& result : message->results) bytes += result.text.size();
  }
  for (const ToolDecl& tool : *request.tools)
    bytes += tool.name.size() + tool.description.size() + json::write(*tool.input_schema).size();
  return bytes;
}

std::vector<TurnEvent> events_for(const TurnRequest& request) {
  Conversation conversation = read_conversation(request.messages);
  // The questions alone decide the plan, so that a recovered run and a fork want the same.
  Plan plan;
  for (const Message* question : conversation.questions) {
    bool goes_on = !plan.missing.empty() || begins_with(question->text, kGoingOn);
    plan = plan_calls(*request.tools, question->text, goes_on ? plan.tool : nullptr);
  }
  std::vector<std::string> calls;
  if (plan.missing.empty() && !request.tools_off) calls = plan.arguments;
  // A call is made once, even if it failed. Some are left to be made if a turn broke off.
  for (const auto& [call, result] : conversation.made) std::erase(calls, call->arguments);
  std::string text = calls.empty() ? answer(request, conversation, plan)
                                   : cat("Let me ask ", plan.tool->name, ".\n");
  std::size_t bytes = text.size();
  std::vector<TurnEvent> events;
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t end = rest.find_first_not_of(" \n,", rest.find_first_of(" \n,"));
    events.emplace_back(TextDelta{std::string(rest.substr(0, end))});
    rest.remove_prefix(std::min(end, rest.size()));
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    bytes += plan.tool->name.size() + calls[i].size();
    events.emplace_back(CallClosed{.provider_id = cat("call_", request.messages.size(), "_", i),
                                   .name = plan.tool->name,
                                   .arguments = calls[i]});
  }
  events.emplace_back(Finished{
      .finish_reason = calls.empty() ? "end_turn" : "tool_use",
      .usage = {.input_tokens = tokens_of(bytes_of(request)), .output_tokens = tokens_of(bytes)}});
  return events;
}

}  // namespace

DemoModel::DemoModel(Timers& timers, Executor home) : timers_(timers), home_(std::move(home)) {}

std::unique_ptr<TurnStream> DemoModel::ask(TurnRequest request) {
  return std::make_unique<PacedStream>(events_for(request), Pace{.delta_delay = kWordPause},
                                       timers_, home_);
}

}  // namespace errand::llm
