#include "llm/demo/conversation.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "llm/demo/choose_tool.hpp"
#include "llm/demo/fill.hpp"

namespace errand::llm {
namespace {

// Whether a question goes on with the one before it: "and in Oslo?".
bool is_follow_up(const std::vector<Piece>& pieces) {
  if (pieces.empty()) return false;
  bool asks_about =
      pieces.size() > 1 && is_one_of(pieces[0].word, "what how") && pieces[1].word == "about";
  return asks_about || is_one_of(pieces[0].word, "and or also same now");
}

// The tool of the question that the last one goes on with, over other follow-ups.
const ToolDecl* tool_gone_on_with(const std::vector<const std::string*>& questions,
                                  const std::vector<ToolDecl>& tools) {
  for (std::size_t i = questions.size() - 1; i-- > 0;) {
    std::vector<Piece> pieces = read_pieces(*questions[i]);
    const ToolDecl* tool = choose_tool(tools, pieces);
    if (tool || !is_follow_up(pieces)) return tool;
  }
  return nullptr;
}

Plan plan_for(const ToolDecl* tool, const std::vector<Piece>& pieces) {
  Plan plan{.tool = tool};
  if (!tool) return plan;
  FilledCalls calls = fill_calls(*tool, pieces);
  plan.missing = std::move(calls.missing);
  for (const json::Object& arguments : calls.arguments) {
    plan.arguments.emplace_back();
    json::write(plan.arguments.back(), arguments);
  }
  return plan;
}

const ToolResultPart* result_of(const Message& results, const ToolCallPart& call) {
  for (const ToolResultPart& result : results.results) {
    if (result.id == call.id && result.provider_id == call.provider_id) return &result;
  }
  return nullptr;
}

}  // namespace

Conversation read_conversation(const std::vector<Message>& messages) {
  Conversation out;
  const Message* calling = nullptr;
  for (const Message& message : messages) {
    if (message.role == Role::assistant) {
      ++out.turns;
      calling = &message;
    } else if (!message.results.empty() && calling) {
      for (const ToolCallPart& call : calling->calls) {
        if (const ToolResultPart* result = result_of(message, call))
          out.made.push_back({.call = &call, .result = result});
      }
    } else if (message.role == Role::user) {
      out.questions.push_back(&message.text);
      out.files = message.files;
      out.made.clear();
    }
  }
  return out;
}

Plan make_plan(const Conversation& conversation, const std::vector<ToolDecl>& tools) {
  const auto& questions = conversation.questions;
  if (questions.empty()) return {};
  std::vector<Piece> pieces = read_pieces(*questions.back());
  Plan plan = plan_for(choose_tool(tools, pieces), pieces);
  if (plan.tool || questions.size() < 2) return plan;

  const std::string& before = *questions[questions.size() - 2];
  std::vector<Piece> pieces_before = read_pieces(before);
  Plan unanswered = plan_for(choose_tool(tools, pieces_before), pieces_before);
  // What was missing then is said now.
  if (!unanswered.missing.empty())
    return plan_for(unanswered.tool, read_pieces(cat(before, "\n", *questions.back())));
  if (!is_follow_up(pieces)) return plan;
  Plan again = plan_for(tool_gone_on_with(questions, tools), pieces);
  return again.missing.empty() ? again : plan;
}

}  // namespace errand::llm
