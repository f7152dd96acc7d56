#include "engine/records/agent_access.hpp"

#include "base/text.hpp"

namespace errand::engine {

bool may_run(const Principal& who, std::string_view asked, const Result<NamedRecord>& agent) {
  if (who.may_use_agent(asked)) return true;
  return agent && (who.may_use_agent(agent->id) || who.may_use_agent(agent->name));
}

Error agent_not_allowed(std::string_view agent) {
  return Error(ErrorCode::forbidden, cat("this key must not run the agent \"", agent, "\""))
      .pointer("/agentId");
}

Result<void> check_may_run_without_agent(const Principal& who) {
  if (who.may_use_any_agent()) return {};
  return Error(ErrorCode::forbidden, "this key runs certain agents only")
      .pointer("/agentId")
      .hint("name one of the key's agents as \"agentId\"");
}

Result<void> check_overrides(const Principal& who, const SpecOverrides& overrides) {
  if (who.may_use_any_agent() || !overrides.system_prompt) return {};
  return Error(ErrorCode::forbidden, "this key must not change the system prompt of an agent")
      .pointer("/systemPrompt");
}

}  // namespace errand::engine
