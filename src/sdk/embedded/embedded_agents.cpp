// Stored agents in this process.
#include <utility>

#include "base/text.hpp"
#include "sdk/embedded/embedded_api.hpp"

namespace errand::sdk {
namespace {

// A text that cannot be a name or an id belongs to no agent.
Result<void> check_known(std::string_view name_or_id) {
  if (is_valid_record_name(name_or_id)) return {};
  return Error(ErrorCode::not_found,
               cat("there is no agent \"", utf8_prefix(name_or_id, 80), "\""));
}

Result<json::Object> shown(const Result<SavedRecord>& saved) {
  if (!saved) return as_seen(saved.error());
  return as_seen(engine::agent_json(saved->record));
}

Result<std::vector<json::Object>> shown(const std::vector<NamedRecord>& records) {
  std::vector<json::Object> agents;
  for (const NamedRecord& record : records) {
    ERRAND_TRY(auto agent, as_seen(engine::agent_json(record)));
    agents.push_back(std::move(agent));
  }
  return agents;
}

}  // namespace

Task<Result<engine::AgentParams>> EmbeddedApi::read_agent(json::Object agent, std::string name) {
  ERRAND_CO_TRY(auto asked, engine::parse_agent(json::Value(std::move(agent)), name));
  auto sealed = co_await engine::sealed_agent(&engine_.records().secrets, engine_.pool(),
                                              who_.workspace, std::move(asked));
  co_return as_seen(std::move(sealed));
}

Task<Result<json::Object>> EmbeddedApi::create_agent(json::Object agent, std::string key) {
  Idempotency idempotency;
  if (!key.empty()) idempotency = idempotency_of(std::move(key), json::Value(agent));
  ERRAND_CO_TRY(auto asked, co_await read_agent(std::move(agent), ""));
  auto saved = co_await engine_.records().agents.create(
      who_.workspace, std::move(asked.name), std::move(asked.body), std::move(idempotency));
  co_return shown(saved);
}

Task<Result<json::Object>> EmbeddedApi::put_agent(std::string name, json::Object agent,
                                                  std::optional<std::int64_t> version) {
  ERRAND_CO_CHECK(check_known(name));
  NamedRecords& agents = engine_.records().agents;
  auto known = co_await agents.find(who_.workspace, name);
  if (!known && known.error().code() != ErrorCode::not_found) co_return as_seen(known.error());
  ERRAND_CO_TRY(auto asked, co_await read_agent(std::move(agent), known ? known->name : name));
  auto saved = co_await agents.put(who_.workspace, std::move(name), std::move(asked.name),
                                   std::move(asked.body), version);
  co_return shown(saved);
}

Task<Result<json::Object>> EmbeddedApi::get_agent(std::string name_or_id,
                                                  std::optional<std::int64_t> version) {
  ERRAND_CO_CHECK(check_known(name_or_id));
  NamedRecords& agents = engine_.records().agents;
  Result<NamedRecord> record = Error(ErrorCode::internal, "not read");
  if (version) {
    record = co_await agents.find_version(who_.workspace, std::move(name_or_id), *version);
  } else {
    record = co_await agents.find(who_.workspace, std::move(name_or_id));
  }
  if (!record) co_return as_seen(record.error());
  co_return as_seen(engine::agent_json(*record));
}

Task<Result<AgentPage>> EmbeddedApi::list_agents(std::size_t limit, std::string cursor) {
  auto found = co_await engine_.records().agents.list(who_.workspace, std::move(cursor), limit);
  if (!found) co_return as_seen(found.error());
  AgentPage page{.agents = {}, .next_cursor = std::move(found->next)};
  ERRAND_CO_TRY(page.agents, shown(found->records));
  co_return page;
}

Task<Result<std::vector<json::Object>>> EmbeddedApi::agent_versions(std::string name_or_id) {
  ERRAND_CO_CHECK(check_known(name_or_id));
  auto versions = co_await engine_.records().agents.versions(who_.workspace, std::move(name_or_id));
  if (!versions) co_return as_seen(versions.error());
  co_return shown(*versions);
}

Task<Result<void>> EmbeddedApi::delete_agent(std::string name_or_id,
                                             std::optional<std::int64_t> version) {
  ERRAND_CO_CHECK(check_known(name_or_id));
  auto removed =
      co_await engine_.records().agents.remove(who_.workspace, std::move(name_or_id), version);
  co_return as_seen(std::move(removed));
}

}  // namespace errand::sdk
