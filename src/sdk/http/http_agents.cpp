// The stored agents of a server.
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/http/http_answers.hpp"
#include "sdk/http/http_api.hpp"

namespace errand::sdk {
namespace {

std::string agent_path(std::string_view name_or_id, std::string_view rest = {}) {
  return cat("/agents/", percent_encode(name_or_id), rest);
}

Result<json::Object> agent_of(json::Value answer) {
  if (answer.is_object()) return std::move(answer.as_object());
  return Error(ErrorCode::internal, "the server's answer is not an agent");
}

Result<AgentPage> page_of(const json::Value& answer, std::string_view key) {
  std::vector<json::Value> items;
  AgentPage page{.agents = {}, .next_cursor = take_page(answer, key, items)};
  for (json::Value& item : items) {
    ERRAND_TRY(auto agent, agent_of(std::move(item)));
    page.agents.push_back(std::move(agent));
  }
  return page;
}

}  // namespace

Task<Result<json::Object>> HttpApi::create_agent(json::Object agent, std::string key) {
  ApiRequest request{
      .method = Method::post, .path = "/agents", .body = json::write(agent), .key = std::move(key)};
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return agent_of(std::move(answer));
}

Task<Result<json::Object>> HttpApi::put_agent(std::string name, json::Object agent,
                                              std::optional<std::int64_t> version) {
  ApiRequest request{.method = Method::put,
                     .path = agent_path(name),
                     .body = json::write(agent),
                     .version = version};
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return agent_of(std::move(answer));
}

Task<Result<json::Object>> HttpApi::get_agent(std::string name_or_id,
                                              std::optional<std::int64_t> version) {
  ApiRequest request{.path = agent_path(name_or_id)};
  if (version) request.query.emplace_back("version", std::to_string(*version));
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return agent_of(std::move(answer));
}

Task<Result<AgentPage>> HttpApi::list_agents(std::size_t limit, std::string cursor) {
  ApiRequest request{.path = "/agents", .query = {{"limit", std::to_string(limit)}}};
  if (!cursor.empty()) request.query.emplace_back("cursor", std::move(cursor));
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return page_of(answer, "agents");
}

Task<Result<std::vector<json::Object>>> HttpApi::agent_versions(std::string name_or_id) {
  ApiRequest request{.path = agent_path(name_or_id, "/versions")};
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  ERRAND_CO_TRY(auto page, page_of(answer, "versions"));
  co_return std::move(page.agents);
}

Task<Result<void>> HttpApi::delete_agent(std::string name_or_id,
                                         std::optional<std::int64_t> version) {
  ApiRequest request{.method = Method::delete_, .path = agent_path(name_or_id), .version = version};
  ERRAND_CO_CHECK(co_await send(std::move(request)));
  co_return Result<void>();
}

}  // namespace errand::sdk
