#include "llm/demo/demo_model.hpp"

#include <algorithm>
#include <regex>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/demo/calls.hpp"
#include "llm/members.hpp"
#include "llm/played_model.hpp"

namespace errand::llm {
namespace {

constexpr std::string_view kSelf =
    "I am Errand's demo model: I follow simple rules and need neither key nor network.";
// Slow enough to see that it streams, fast enough for tests.
constexpr milliseconds kWordPause{10};
constexpr std::size_t kQuestionsMax = 4;  // earlier ones are forgotten
constexpr std::size_t kLinesMax = 20;     // of a result
constexpr std::size_t kLineBytesMax = 200;
constexpr const char* kGoingOn = "^ (and|or|also|same|now|(what|how) about) ";

// What a request asks. Holds pointers into the request.
struct Conversation {
  std::vector<const Message*> questions;
  std::vector<std::pair<const ToolCallPart*, const ToolResultPart*>> made;  // for the last question
};

Conversation read_conversation(const MessageList& messages) {
  Conversation out;
  const Message* turn = nullptr;
  for (const MessagePtr& message : messages) {
    if (message->role == Role::assistant) turn = message.get();
    if (message->role == Role::user && message->results.empty()) {
      if (out.questions.size() == kQuestionsMax) out.questions.erase(out.questions.begin());
      out.questions.push_back(message.get());
      out.made.clear();
    }
    for (const ToolCallPart& call : turn ? turn->calls : message->calls) {
      for (const ToolResultPart& result : message->results) {
        if (result.id == call.id && result.provider_id == call.provider_id)
          out.made.emplace_back(&call, &result);
      }
    }
  }
  return out;
}

bool begins_with(std::string_view question, const char* form) {
  return std::regex_search(words_of(question), std::regex(form));
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
  std::string first = "(empty)";
  std::string quoted;
  std::size_t count = 0;
  for (std::string_view rest = result.text; !rest.empty(); ++count) {
    const std::string_view line = take_line(rest);
    if (count == 0) first = shortened(line);
    if (count < kLinesMax) append(quoted, line.empty() ? ">" : "> ", shortened(line), "\n");
  }
  if (!result.ok) return cat("Sorry, ", call.name, " failed", source, ": ", first, "\n");
  if (count <= 1) return cat(label.empty() ? call.name : label, ": ", first, "\n");
  std::string cut =
      count > kLinesMax ? cat(", the first ", kLinesMax, " of ", count, " lines") : "";
  return cat("This is what ", call.name, " gave", source, cut, ":\n\n", quoted, "\n");
}

std::string answer_without_result(std::string_view question, const std::vector<ToolDecl>& tools,
                                  const Plan& plan) {
  if (!plan.missing.empty())
    return cat("I would ask ", plan.tool->name, ", but you did not say its ", listed(plan.missing),
               ". What shall I use?\n\n", kSelf);
  std::vector<std::string> names;
  for (const ToolDecl& tool : tools) names.push_back(tool.name);
  const bool greets = begins_with(question, "^ (hello|hi|hey|good|thanks?) ");
  std::string help = greets ? "Ask me for something that my tools can do: "
                            : "None of my tools fits this. I have ";
  append(help, listed(names), ".");
  if (names.empty()) help = "This run has no tools, and without them I know nothing.";
  return greets ? cat("Hello! ", kSelf, " ", help) : cat(help, " ", kSelf);
}

// The answer as text, or as an instance of the schema that the request has.
std::string answer(const TurnRequest& request, const Conversation& conversation, const Plan& plan) {
  const auto& [questions, made] = conversation;
  std::string source = questions.empty() ? "" : questions.back()->text;
  std::string out = questions.empty() ? "" : told_files("You", questions.back()->files);
  if (!out.empty()) out += '\n';
  if (made.empty()) append(out, answer_without_result(source, *request.tools, plan));
  for (const auto& [call, result] : made) {
    append(out, told(*call, *result), told_files(call->name, result->files));
    append(source, "\n", result->text);
  }
  if (!made.empty()) append(out, out.ends_with("\n\n") ? "" : "\n", kSelf);
  if (!request.output_schema) return out;
  return json::write(make_instance(*request.output_schema, source, out));
}

// An estimate: one token for every four bytes.
std::int64_t tokens_of(std::size_t bytes) {
  return static_cast<std::int64_t>((bytes + 3) / 4);
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

ScriptedTurn turn_for(const TurnRequest& request, std::size_t) {
  Conversation conversation = read_conversation(request.messages);
  // Only the questions decide the plan, so that a recovered run and a fork plan the same calls.
  Plan plan;
  for (const Message* question : conversation.questions) {
    bool goes_on = !plan.missing.empty() || begins_with(question->text, kGoingOn);
    plan = plan_calls(*request.tools, question->text, goes_on ? plan.tool : nullptr);
  }
  std::vector<std::string>& calls = plan.arguments;
  if (!plan.missing.empty() || request.tools_off) calls.clear();
  // A call is made once, even if it failed. If a turn broke off, some calls are still to be made.
  for (const auto& [call, result] : conversation.made) std::erase(calls, call->arguments);
  std::string text = calls.empty() ? answer(request, conversation, plan)
                                   : cat("Let me ask ", plan.tool->name, ".\n");
  std::size_t bytes = text.size();
  ScriptedTurn turn{.delta_delay = kWordPause};
  for (std::string_view rest = text; !rest.empty();) {
    std::size_t end = rest.find_first_not_of(" \n,", rest.find_first_of(" \n,"));
    turn.text.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end, rest.size()));
  }
  for (const std::string& arguments : calls) {
    bytes += plan.tool->name.size() + arguments.size();
    turn.calls.push_back({.name = plan.tool->name, .arguments = arguments});
  }
  turn.usage = {.input_tokens = tokens_of(bytes_of(request)), .output_tokens = tokens_of(bytes)};
  return turn;
}

}  // namespace

std::unique_ptr<Model> make_demo_model(Timers& timers, Executor home, BlockingPool* pool) {
  return std::make_unique<PlayedModel>(turn_for, OutputMechanism::native, timers, home, pool);
}

}  // namespace errand::llm
