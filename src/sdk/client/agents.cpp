// The stored agents of a server.
#include <errand/client.hpp>
#include <utility>

#include "base/text.hpp"
#include "crypto/random.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/run_request.hpp"
#include "sdk/client/read_reply.hpp"
#include "sdk/client/runner_core.hpp"
#include "sdk/http_answers.hpp"

namespace errand::v1 {
namespace {

using sdk::ApiRequest;

std::string path_of(std::string_view name_or_id, std::string_view rest = {}) {
  return cat("/agents/", percent_encode(name_or_id), rest);
}

// An empty name would be the path of the list.
void check_name(std::string_view name) {
  if (name.empty()) throw Error(ErrorCode::invalid_argument, "an agent needs a name", "/name");
}

std::string text_in(const json::Object& agent, std::string_view key) {
  return std::string(json::text_at(&agent, key));
}

errand::Result<Agent> read_agent(const json::Value& answer) {
  const json::Object* agent = answer.if_object();
  auto version = json::integer_at(agent, "version");
  if (!agent || !version || text_in(*agent, "id").empty()) {
    return errand::Error(errand::ErrorCode::internal, "the server's answer is not an agent");
  }
  Agent out{.id = text_in(*agent, "id"),
            .name = text_in(*agent, "name"),
            .version = *version,
            .description = text_in(*agent, "description"),
            .system_prompt = text_in(*agent, "systemPrompt"),
            .model = text_in(*agent, "modelId"),
            .created_at = text_in(*agent, "createdAt"),
            .updated_at = text_in(*agent, "updatedAt")};
  Json members = detail::from_value(answer);
  out.members = std::move(*members.if_object());
  return out;
}

std::vector<Agent> read_agents(const json::Value& answer, std::string_view key,
                               std::string* next_cursor) {
  std::vector<json::Value> items;
  *next_cursor = sdk::take_page(answer, key, items);
  std::vector<Agent> agents;
  for (const json::Value& item : items) agents.push_back(sdk::value_or_throw(read_agent(item)));
  return agents;
}

enum class Repeat { while_unreachable, never };

json::Value ask(sdk::RunnerCore& core, ApiRequest request, Repeat repeat) {
  return sdk::value_or_throw(core.wait<json::Value>([core = &core, request, repeat] {
    auto send = [server = core->backend().server(), request] { return server->send(request); };
    return repeat == Repeat::never ? send() : core->persist<json::Value>(send);
  }));
}

Agent put(sdk::RunnerCore& core, const AgentSpec& agent, std::optional<std::int64_t> version) {
  check_name(agent.name);
  ApiRequest request{.method = sdk::Method::put,
                     .path = path_of(agent.name),
                     .body = json::write(sdk::agent_body(agent)),
                     .version = version};
  Repeat repeat = version ? Repeat::never : Repeat::while_unreachable;
  return sdk::value_or_throw(read_agent(ask(core, std::move(request), repeat)));
}

}  // namespace

Agent Client::create_agent(const AgentSpec& agent) const {
  ApiRequest request{.method = sdk::Method::post,
                     .path = "/agents",
                     .body = json::write(sdk::agent_body(agent)),
                     .key = crypto::random_hex(16)};
  return sdk::value_or_throw(
      read_agent(ask(*core_, std::move(request), Repeat::while_unreachable)));
}

Agent Client::apply_agent(const AgentSpec& agent) const {
  return put(*core_, agent, {});
}

Agent Client::replace_agent(const AgentSpec& agent, std::int64_t version) const {
  return put(*core_, agent, version);
}

Agent Client::agent(std::string_view name_or_id, std::optional<std::int64_t> version) const {
  check_name(name_or_id);
  ApiRequest request{.path = path_of(name_or_id)};
  if (version) request.query.emplace_back("version", std::to_string(*version));
  return sdk::value_or_throw(
      read_agent(ask(*core_, std::move(request), Repeat::while_unreachable)));
}

AgentPage Client::agents(AgentQuery query) const {
  ApiRequest request{.path = "/agents", .query = {{"limit", std::to_string(query.limit)}}};
  if (!query.cursor.empty()) request.query.emplace_back("cursor", query.cursor);
  AgentPage page;
  page.agents = read_agents(ask(*core_, std::move(request), Repeat::while_unreachable), "agents",
                            &page.next_cursor);
  return page;
}

std::vector<Agent> Client::agent_versions(std::string_view name_or_id) const {
  check_name(name_or_id);
  std::string none;
  return read_agents(
      ask(*core_, {.path = path_of(name_or_id, "/versions")}, Repeat::while_unreachable),
      "versions", &none);
}

void Client::delete_agent(std::string_view name_or_id, std::optional<std::int64_t> version) const {
  check_name(name_or_id);
  ApiRequest request{
      .method = sdk::Method::delete_, .path = path_of(name_or_id), .version = version};
  ask(*core_, std::move(request), Repeat::never);
}

}  // namespace errand::v1
