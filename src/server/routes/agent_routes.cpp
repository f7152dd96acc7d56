// Stored agents.
#include <utility>

#include "base/text.hpp"
#include "engine/records/agents.hpp"
#include "json/fields.hpp"
#include "server/api.hpp"
#include "server/openapi/query.hpp"
#include "server/request_body.hpp"
#include "server/routes/record_answer.hpp"

namespace errand::server {
namespace {

Result<net::Response> agent_response(int status, const NamedRecord& agent) {
  ERRAND_TRY(auto body, engine::agent_json(agent));
  return record_response(status, body, agent.version);
}

Result<json::Array> agents_json(const std::vector<NamedRecord>& agents) {
  json::Array items;
  for (const NamedRecord& agent : agents) {
    ERRAND_TRY(auto item, engine::agent_json(agent));
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

Api::Answer Api::create_agent(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto body, json_body(request));
  ERRAND_CO_TRY(auto asked, engine::parse_agent(body));
  ERRAND_CO_TRY(auto agent, co_await engine::sealed_agent(&engine_.records().secrets, who.workspace,
                                                          std::move(asked)));
  ERRAND_CO_TRY(auto idempotency, idempotency_of(request));
  ERRAND_CO_TRY(auto saved, co_await engine_.records().agents.create(
                                who.workspace, std::move(agent.name), std::move(agent.body),
                                std::move(idempotency)));
  co_return agent_response(201, saved.record);
}

Api::Answer Api::list_agents(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto page, page_params(request));
  ERRAND_CO_TRY(auto found, co_await engine_.records().agents.list(
                                who.workspace, std::move(page.after), page.limit));
  ERRAND_CO_TRY(auto items, agents_json(found.records));
  co_return page_response("agents", std::move(items), found.next);
}

Api::Answer Api::get_agent(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "agent"));
  ERRAND_CO_TRY(auto version, integer_param(request, query::kVersion));
  NamedRecords& agents = engine_.records().agents;
  Result<NamedRecord> agent = Error(ErrorCode::internal, "not read");
  if (version == 0) {
    agent = co_await agents.find(who.workspace, std::move(id));
  } else {
    agent = co_await agents.find_version(who.workspace, std::move(id), version);
  }
  ERRAND_CO_CHECK(agent);
  co_return agent_response(200, *agent);
}

Api::Answer Api::list_agent_versions(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "agent"));
  ERRAND_CO_TRY(auto versions,
                co_await engine_.records().agents.versions(who.workspace, std::move(id)));
  ERRAND_CO_TRY(auto items, agents_json(versions));
  co_return page_response("versions", std::move(items), "");
}

Api::Answer Api::put_agent(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "agent"));
  ERRAND_CO_TRY(auto body, json_body(request));
  ERRAND_CO_TRY(auto wanted, precondition_of(request));
  NamedRecords& agents = engine_.records().agents;
  auto known = co_await agents.find(who.workspace, id);
  if (!known && known.error().code() != ErrorCode::not_found) co_return std::move(known).error();
  if (!known && wanted.must_exist) co_return must_exist_error();
  ERRAND_CO_TRY(auto asked, engine::parse_agent(body, known ? known->name : id));
  ERRAND_CO_TRY(auto agent, co_await engine::sealed_agent(&engine_.records().secrets, who.workspace,
                                                          std::move(asked)));
  ERRAND_CO_TRY(auto saved, co_await agents.put(who.workspace, std::move(id), std::move(agent.name),
                                                std::move(agent.body), wanted.version));
  co_return agent_response(saved.is_new ? 201 : 200, saved.record);
}

Api::Answer Api::delete_agent(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto id, record_of_path(request, "agent"));
  ERRAND_CO_TRY(auto wanted, precondition_of(request));
  ERRAND_CO_CHECK(
      co_await engine_.records().agents.remove(who.workspace, std::move(id), wanted.version));
  co_return json_response(204, {});
}

}  // namespace errand::server
