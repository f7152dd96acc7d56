// Stored agents.
#include <utility>

#include "engine/records/agents.hpp"
#include "server/routes/named_record_routes.hpp"

namespace errand::server {
namespace {

Task<Result<NewNamedRecord>> read_agent(engine::SecretVault* vault, WorkspaceSlug workspace,
                                        json::Value body, std::string name) {
  ERRAND_CO_TRY(auto asked, engine::parse_agent(body, name));
  ERRAND_CO_TRY(auto agent, co_await engine::sealed_agent(vault, workspace, std::move(asked)));
  co_return NewNamedRecord{.name = std::move(agent.name), .body = std::move(agent.body)};
}

}  // namespace

const NamedKind kAgentKind{.noun = "agent",
                           .nouns = "agents",
                           .records = &engine::RecordBooks::agents,
                           .shown = engine::agent_json,
                           .read = read_agent};

}  // namespace errand::server
