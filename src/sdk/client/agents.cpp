// A Runner's calls about stored agents.
#include <errand/runner.hpp>
#include <utility>

#include "crypto/random.hpp"
#include "json/members.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/run_request.hpp"
#include "sdk/client/read_reply.hpp"
#include "sdk/client/runner_core.hpp"

namespace errand::v1 {
namespace {

// An empty name would lead to the path of the list.
void check_name(std::string_view name) {
  if (name.empty()) throw Error(ErrorCode::invalid_argument, "an agent needs a name", "/name");
}

std::string text_in(const json::Object& agent, std::string_view key) {
  return std::string(json::text_at(&agent, key));
}

errand::Result<Agent> read_agent(const json::Object& agent) {
  auto version = json::integer_at(&agent, "version");
  if (!version || text_in(agent, "id").empty()) {
    return errand::Error(errand::ErrorCode::internal, "the server's answer is not an agent");
  }
  Agent out{.id = text_in(agent, "id"),
            .name = text_in(agent, "name"),
            .version = *version,
            .description = text_in(agent, "description"),
            .system_prompt = text_in(agent, "systemPrompt"),
            .model = text_in(agent, "modelId"),
            .created_at = text_in(agent, "createdAt"),
            .updated_at = text_in(agent, "updatedAt")};
  Json members = detail::from_value(agent);
  out.members = std::move(*members.if_object());
  return out;
}

std::vector<Agent> read_agents(const std::vector<json::Object>& all) {
  std::vector<Agent> agents;
  for (const json::Object& one : all) agents.push_back(sdk::value_or_throw(read_agent(one)));
  return agents;
}

// Sends a request that may be sent twice.
template <class T>
T ask(sdk::RunnerCore& core, std::function<Task<errand::Result<T>>()> verb) {
  return sdk::value_or_throw(
      core.wait<T>([core = &core, verb = std::move(verb)] { return core->persist<T>(verb); }));
}

Task<errand::Result<bool>> delete_at(sdk::RunnerCore* core, std::string which,
                                     std::optional<std::int64_t> version) {
  ERRAND_CO_CHECK(co_await core->api().delete_agent(std::move(which), version));
  co_return true;
}

}  // namespace

Agent Runner::create_agent(const AgentSpec& agent) const {
  auto made = ask<json::Object>(
      *core_, [core = core_.get(), body = sdk::agent_body(agent), key = crypto::random_hex(16)] {
        return core->api().create_agent(body, key);
      });
  return sdk::value_or_throw(read_agent(made));
}

Agent Runner::apply_agent(const AgentSpec& agent) const {
  check_name(agent.name);
  auto saved = ask<json::Object>(
      *core_, [core = core_.get(), name = agent.name, body = sdk::agent_body(agent)] {
        return core->api().put_agent(name, body, {});
      });
  return sdk::value_or_throw(read_agent(saved));
}

Agent Runner::replace_agent(const AgentSpec& agent, std::int64_t version) const {
  check_name(agent.name);
  auto saved = sdk::value_or_throw(core_->wait<json::Object>(
      [core = core_.get(), name = agent.name, body = sdk::agent_body(agent), version] {
        return core->api().put_agent(name, body, version);
      }));
  return sdk::value_or_throw(read_agent(saved));
}

Agent Runner::agent(std::string_view name_or_id, std::optional<std::int64_t> version) const {
  check_name(name_or_id);
  auto found =
      ask<json::Object>(*core_, [core = core_.get(), which = std::string(name_or_id), version] {
        return core->api().get_agent(which, version);
      });
  return sdk::value_or_throw(read_agent(found));
}

AgentPage Runner::agents(AgentQuery query) const {
  auto page = ask<sdk::AgentPage>(*core_, [core = core_.get(), query = std::move(query)] {
    return core->api().list_agents(query.limit, query.cursor);
  });
  return {.agents = read_agents(page.agents), .next_cursor = std::move(page.next_cursor)};
}

std::vector<Agent> Runner::agent_versions(std::string_view name_or_id) const {
  check_name(name_or_id);
  return read_agents(
      ask<std::vector<json::Object>>(*core_, [core = core_.get(), which = std::string(name_or_id)] {
        return core->api().agent_versions(which);
      }));
}

void Runner::delete_agent(std::string_view name_or_id, std::optional<std::int64_t> version) const {
  check_name(name_or_id);
  sdk::value_or_throw(core_->wait<bool>([core = core_.get(), which = std::string(name_or_id),
                                         version] { return delete_at(core, which, version); }));
}

}  // namespace errand::v1
