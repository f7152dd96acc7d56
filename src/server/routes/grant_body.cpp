#include "server/routes/grant_body.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "run/scope_error.hpp"
#include "server/openapi/request_limits.hpp"

namespace errand::server {
namespace {

// Scopes of the protocol for endpoints that this server does not have. Clients ask for them because
// other servers have them; here they allow nothing.
constexpr auto kScopesOfOtherEndpoints = std::to_array<std::string_view>(
    {"agents:invoke", "evals:read", "evals:write", "feedback:read", "plugins:read"});

bool is_scope(std::string_view name, const std::vector<std::string>& known) {
  return std::find(known.begin(), known.end(), name) != known.end() ||
         is_known(name, kScopesOfOtherEndpoints);
}

struct NamesBound {
  std::string_view limit;
  std::size_t max;
};

// Reads a list of names and returns each of them once, in order.
Grant::Names read_names(json::Fields& in, std::string_view key, NamesBound bound) {
  const json::Array* items = in.optional_array(key);
  if (!items) return {};
  if (items->size() > bound.max) {
    in.fail(Error(ErrorCode::invalid_argument, cat("at most ", bound.max, " are allowed"))
                .pointer(in.pointer_to(key))
                .limit(bound.limit, static_cast<std::int64_t>(bound.max)));
  }
  std::set<std::string> names;
  for (std::size_t i = 0; i < items->size() && in.ok(); ++i) {
    const auto* text = (*items)[i].if_string();
    bool is_name = text && !text->empty() && utf8_length(json::view(*text)) <= kAgentNameCharsMax;
    if (is_name) {
      names.emplace(json::view(*text));
      continue;
    }
    in.fail(Error(ErrorCode::invalid_argument,
                  cat("expected a string of 1 to ", kAgentNameCharsMax, " characters"))
                .pointer(json::child_pointer(in.pointer_to(key), i)));
  }
  return std::vector<std::string>(names.begin(), names.end());
}

void check_scopes(json::Fields& in, const Grant::Names& scopes,
                  const std::vector<std::string>& known) {
  if (!scopes) return;
  for (const std::string& scope : *scopes) {
    if (is_scope(scope, known)) continue;
    return in.fail(Error(ErrorCode::invalid_argument,
                         cat("there is no scope \"", utf8_prefix(scope, 80), "\""))
                       .pointer(in.pointer_to("scopes"))
                       .candidates(known));
  }
}

}  // namespace

json::Value names_json(const Grant::Names& names) {
  if (!names) return nullptr;
  json::Array out;
  for (const std::string& name : *names) out.emplace_back(name);
  return out;
}

std::string read_name(json::Fields& in) {
  std::string name = in.optional_text("name").value_or("");
  if (utf8_length(name) > kKeyNameCharsMax) {
    in.fail("name", cat("a name has at most ", kKeyNameCharsMax, " characters"));
  }
  return name;
}

Result<engine::KeyParams> parse_grant(const json::Value& body,
                                      const std::vector<std::string>& known_scopes,
                                      KnownMembers members) {
  json::Fields in(body, "");
  refuse_unknown_members(in, body, members);
  engine::KeyParams params{.name = read_name(in)};
  params.grant.scopes = read_names(in, "scopes", {"keyScopes", kKeyScopesMax});
  params.grant.agents = read_names(in, "agents", {"keyAgents", kKeyAgentsMax});
  check_scopes(in, params.grant.scopes, known_scopes);
  if (auto millis = in.optional_integer("ttlMs", 1, kKeyMillisMax)) {
    params.lives_for = milliseconds(*millis);
  }
  return in.finish(std::move(params));
}

Result<void> confine(engine::KeyParams& params, const Principal& who,
                     std::optional<milliseconds> time_left) {
  if (time_left) params.lives_for = std::min(params.lives_for.value_or(*time_left), *time_left);
  if (!who.grant) return {};
  if (!params.grant.scopes) params.grant.scopes = who.grant->scopes;
  if (!params.grant.agents) params.grant.agents = who.grant->agents;
  for (const std::string& scope : params.grant.scopes.value_or(std::vector<std::string>())) {
    if (!who.has_scope(scope)) return lacks_scope(scope);
  }
  for (const std::string& agent : params.grant.agents.value_or(std::vector<std::string>())) {
    if (who.may_use_agent(agent)) continue;
    return Error(ErrorCode::forbidden,
                 cat("this credential must not run the agent \"", utf8_prefix(agent, 80), "\""))
        .pointer("/agents");
  }
  return {};
}

}  // namespace errand::server
