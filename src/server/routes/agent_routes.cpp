// Stored agents.
#include <utility>

#include "engine/records/agents.hpp"
#include "server/request_body.hpp"
#include "server/routes/named_record_routes.hpp"

namespace errand::server {
namespace {

Task<Result<NewNamedRecord>> read_agent(engine::Engine* engine, net::Request* request,
                                        WorkspaceSlug workspace, std::string name) {
  auto read = [name](const json::Value& body) { return engine::parse_agent(body, name); };
  ERRAND_CO_TRY(auto asked, co_await read_json(request, engine->pool(), read));
  ERRAND_CO_TRY(auto agent,
                co_await engine::sealed_agent(&engine->records().secrets, engine->pool(), workspace,
                                              std::move(asked)));
  co_return NewNamedRecord{.name = std::move(agent.name), .body = std::move(agent.body)};
}

}  // namespace

const NamedKind kAgentKind{.noun = "agent",
                           .nouns = "agents",
                           .records = &engine::RecordBooks::agents,
                           .shown = engine::agent_json,
                           .read = read_agent};

}  // namespace errand::server
