#include "agent/fold/refusal.hpp"

#include "agent/fold/arguments.hpp"
#include "base/close_names.hpp"
#include "base/text.hpp"

namespace errand::agent {

std::string unknown_tool_text(const State& state, const std::string& name) {
  std::string text = cat("There is no tool called \"", name, "\".");
  const std::vector<ToolDecl>& tools = *state.tools();
  if (tools.empty()) return text + " No tools are available.";
  std::vector<std::string_view> names;
  for (const ToolDecl& tool : tools) names.emplace_back(tool.name);
  if (std::string meant = did_you_mean(name, names); !meant.empty()) {
    append(text, " D", meant.substr(1));
  }
  text += " Available tools:";
  for (std::string_view known : names) append(text, " ", known);
  return text;
}

std::string gone_tool_text(const std::string& name) {
  return cat("The tool \"", name,
             "\" is not available any more. Go on without it, and tell the user if it was needed.");
}

std::optional<Refusal> refusal_unseen(const State& state, const CallState& call) {
  const ToolBudgets& budgets = state.created().limits.tool_budgets;
  auto budget = budgets.find(call.name);
  if (budget != budgets.end() && call.attempt > budget->second) {
    return Refusal{
        .text = cat("Budget exceeded: \"", call.name, "\" may be called ", budget->second,
                    " times in a run. This call was not made: pivot to "
                    "another approach, or finalize your answer."),
        .event = ToolBudgetExceeded{
            .tool = call.name, .max_calls = budget->second, .call_index = call.attempt}};
  }
  if (!call.tool) return Refusal{.text = unknown_tool_text(state, call.name)};
  if (call.tool->site == ToolSite::nowhere) return Refusal{.text = call.tool->description};
  return {};
}

std::optional<Refusal> refusal_of(const State& state, const CallState& call,
                                  json::SchemaCache& schemas) {
  if (auto refused = refusal_unseen(state, call)) return refused;
  if (auto text = invalid_arguments_text(call, schemas)) return Refusal{.text = std::move(*text)};
  return {};
}

}  // namespace errand::agent
