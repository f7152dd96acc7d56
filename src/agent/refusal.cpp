#include "agent/refusal.hpp"

#include "agent/arguments.hpp"
#include "base/text.hpp"

namespace errand::agent {

std::string unknown_tool_text(const State& state, const std::string& name) {
  std::string text = cat("There is no tool called \"", name, "\".");
  const std::vector<ToolDecl>& tools = state.created().tools;
  if (tools.empty()) return text + " No tools are available.";
  text += " Available tools:";
  for (const ToolDecl& tool : tools) append(text, " ", tool.name);
  return text;
}

std::optional<Refusal> refusal_of(const State& state, const CallState& call,
                                  json::SchemaCache& schemas) {
  if (!call.tool) return Refusal{unknown_tool_text(state, call.name)};
  if (call.tool->site == ToolSite::nowhere) return Refusal{call.tool->description};
  if (auto text = invalid_arguments_text(call, schemas)) return Refusal{std::move(*text)};
  return {};
}

}  // namespace errand::agent
