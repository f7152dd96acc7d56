#include "engine/records/agent_access.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "run/scope_error.hpp"
#include "tool/secrets.hpp"

namespace errand::engine {
namespace {

bool names_secrets(const Headers& headers) {
  return std::any_of(headers.begin(), headers.end(),
                     [](const auto& header) { return mentions_secret(header.second); });
}

bool names_secrets(const ToolRef& ref) {
  if (const auto* server = std::get_if<McpServer>(&ref)) return names_secrets(server->headers);
  if (const auto* agent = std::get_if<RemoteAgent>(&ref)) return names_secrets(agent->headers);
  return false;
}

// Whether only the workspace can say what the ref stands for.
bool is_of_workspace(const ToolRef& ref) {
  if (const auto* server = std::get_if<McpServer>(&ref)) return server->is_configured();
  return std::holds_alternative<WorkspaceTool>(ref) || std::holds_alternative<PluginTool>(ref);
}

Error lacks_tools(std::string pointer) {
  return lacks_scope(kToolsUseScope)
      .pointer(std::move(pointer))
      .hint("store the tool in an agent, or use a key or token that has the scope");
}

Result<void> check_tools(const Principal& who, const ToolSet& tools) {
  if (may_use_tools(who)) return {};
  for (std::size_t i = 0; i < tools.refs.size(); ++i) {
    if (is_of_workspace(tools.refs[i])) return lacks_tools(cat("/tools/", i));
  }
  return {};
}

Result<void> check_messages(const Principal& who, const std::vector<Message>& messages) {
  if (who.may_use_any_agent()) return {};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != Role::system) continue;
    return Error(ErrorCode::forbidden, "this key must not add to the system prompt of an agent")
        .pointer(cat("/messages/", i, "/role"));
  }
  return {};
}

Result<void> check_secrets(const Principal& who, const ToolSet& tools) {
  if (who.has_scope(kSecretsUseScope)) return {};
  for (std::size_t i = 0; i < tools.refs.size(); ++i) {
    if (!names_secrets(tools.refs[i])) continue;
    return lacks_scope(kSecretsUseScope)
        .pointer(cat("/tools/", i, "/headers"))
        .hint("store the tool in an agent, or use a key or token that has the scope");
  }
  return {};
}

}  // namespace

bool may_use_tools(const Principal& who) {
  return who.may_use_any_agent() || who.has_scope(kToolsUseScope);
}

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

Result<void> check_asked(const Principal& who, const Spec& asked) {
  ERRAND_CHECK(check_messages(who, asked.messages));
  ERRAND_CHECK(check_tools(who, *asked.tools));
  ERRAND_CHECK(check_secrets(who, *asked.tools));
  const bool joins_own_room = asked.room && asked.room->url.empty();
  if (joins_own_room && !may_use_tools(who)) return lacks_tools("/room");
  return {};
}

Result<void> check_overrides(const Principal& who, const SpecOverrides& overrides) {
  if (overrides.tools) {
    ERRAND_CHECK(check_tools(who, *overrides.tools));
    ERRAND_CHECK(check_secrets(who, *overrides.tools));
  }
  if (who.may_use_any_agent() || !overrides.system_prompt) return {};
  return Error(ErrorCode::forbidden, "this key must not change the system prompt of an agent")
      .pointer("/systemPrompt");
}

Result<void> check_scope_of_agents(const Principal& who, std::string_view scope) {
  static constexpr auto kOfAgents =
      std::to_array<std::string_view>({"agents:write", "tools:write", "secrets:write"});
  if (who.may_use_any_agent()) return {};
  if (std::find(kOfAgents.begin(), kOfAgents.end(), scope) == kOfAgents.end()) return {};
  return Error(ErrorCode::forbidden,
               "this key runs certain agents only, and changes no agents, tools or secrets")
      .hint("use a key that is not restricted to agents");
}

}  // namespace errand::engine
