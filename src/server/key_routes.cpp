// API keys, and the workspaces that they belong to.
#include <algorithm>
#include <set>
#include <utility>

#include "base/close_names.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/credential_errors.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/request_body.hpp"

namespace errand::server {
namespace {

json::Value time_json(const std::optional<WallTime>& time) {
  return time ? json::Value(to_iso8601(*time)) : json::Value();
}

json::Value names_json(const Grant::Names& names) {
  if (!names) return nullptr;
  json::Array out;
  for (const std::string& name : *names) out.emplace_back(name);
  return out;
}

json::Object key_json(const engine::KeyView& key) {
  json::Object out{{"id", key.row.id.view()},
                   {"name", key.row.name},
                   {"prefix", key.row.prefix},
                   {"createdAt", to_iso8601(key.row.created_at)}};
  out["scopes"] = names_json(key.more.grant.scopes);
  out["agents"] = names_json(key.more.grant.agents);
  out["expiresAt"] = time_json(key.more.expires_at);
  out["lastUsedAt"] = time_json(key.more.last_used_at);
  out["revokedAt"] = time_json(key.row.revoked_at);
  return out;
}

json::Object new_key_json(const engine::NewKey& key) {
  json::Object out = key_json(key.key);
  out["key"] = key.secret;
  return out;
}

struct NamesBound {
  std::string_view limit;
  std::size_t max;
};

// A list of names, each once and in order.
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
    if (std::find(known.begin(), known.end(), scope) != known.end()) continue;
    return in.fail(Error(ErrorCode::invalid_argument,
                         cat("there is no scope \"", utf8_prefix(scope, 80), "\""))
                       .pointer(in.pointer_to("scopes"))
                       .candidates(known));
  }
}

std::string read_key_name(json::Fields& in) {
  std::string name = in.optional_text("name").value_or("");
  if (utf8_length(name) > kKeyNameCharsMax) {
    in.fail("name", cat("a name has at most ", kKeyNameCharsMax, " characters"));
  }
  return name;
}

void refuse_unknown(json::Fields& in, const json::Value& body,
                    const std::vector<std::string>& known) {
  const json::Object* members = body.if_object();
  if (!members) return;
  for (const auto& member : *members) {
    std::string key(member.key());
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    in.fail(Error(ErrorCode::invalid_argument,
                  cat("there is no member \"", utf8_prefix(key, 80), "\" here"))
                .pointer(in.pointer_to(key))
                .candidates(known));
  }
}

Result<engine::KeyParams> parse_key(const json::Value& body,
                                    const std::vector<std::string>& known_scopes) {
  json::Fields in(body, "");
  refuse_unknown(in, body, {"name", "scopes", "agents", "ttlMs"});
  engine::KeyParams params{.name = read_key_name(in)};
  params.grant.scopes = read_names(in, "scopes", {"keyScopes", kKeyScopesMax});
  params.grant.agents = read_names(in, "agents", {"keyAgents", kKeyAgentsMax});
  check_scopes(in, params.grant.scopes, known_scopes);
  if (auto millis = in.optional_integer("ttlMs", 1, kKeyMillisMax)) {
    params.lives_for = milliseconds(*millis);
  }
  return in.finish(std::move(params));
}

// Nobody makes a key that may do more, or lives longer, than the credential that makes it.
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

Result<void> check_operator(const Principal& who) {
  if (engine::Workspaces::is_operator(who)) return {};
  return Error(ErrorCode::forbidden, cat("only keys of the workspace \"",
                                         engine::Workspaces::kOperator, "\" see workspaces"))
      .hint("ask whoever runs the server");
}

json::Object workspace_json(const engine::WorkspaceView& workspace) {
  return {{"slug", workspace.slug.view()}, {"name", workspace.name}};
}

}  // namespace

std::vector<std::string> Api::known_scopes() const {
  std::set<std::string> scopes;
  for (const Row& row : rows_) {
    if (!row.info.scope.empty()) scopes.emplace(row.info.scope);
  }
  scopes.emplace("metrics:read");  // of a route that may be asked without a key
  return {scopes.begin(), scopes.end()};
}

Api::Answer Api::create_key(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto body, json_body(request));
  ERRAND_CO_TRY(auto params, parse_key(body, known_scopes()));
  ERRAND_CO_CHECK(confine(params, who, keys_.time_left(who.key)));
  ERRAND_CO_TRY(auto idempotency, idempotency_of(request));
  Result<engine::NewKey> key = Error(ErrorCode::internal, "not made");
  if (idempotency.key.empty()) {
    key = co_await keys_.create(who.workspace, std::move(params), engine::KeyRing::make_secret());
  } else {
    key = co_await keys_.create_once(who.workspace, std::move(params),
                                     std::string(credential(request)), std::move(idempotency));
  }
  ERRAND_CO_CHECK(key);
  co_return json_response(201, json::write(new_key_json(*key)));
}

Api::Answer Api::list_keys(Principal who, net::Request) {
  json::Array keys;
  for (const engine::KeyView& key : keys_.list(who.workspace)) keys.push_back(key_json(key));
  json::Object body{{"apiKeys", std::move(keys)}, {"nextCursor", nullptr}};
  co_return json_response(200, json::write(body));
}

Api::Answer Api::revoke_key(Principal who, net::Request request) {
  auto id = KeyId::parse(request.params.at(1));
  if (!id) co_return Error(ErrorCode::not_found, "there is no such key");
  ERRAND_CO_CHECK(co_await keys_.revoke(who.workspace, *id));
  co_return json_response(204, {});
}

Api::Answer Api::create_workspace(Principal who, net::Request request) {
  ERRAND_CO_CHECK(check_operator(who));
  ERRAND_CO_TRY(auto body, json_body(request));
  json::Fields in(body, "");
  refuse_unknown(in, body, {"slug", "name"});
  auto slug = WorkspaceSlug::parse(in.text("slug"));
  if (in.ok() && !slug) {
    in.fail("slug", "a slug is 1 to 39 letters, digits, dashes and underscores");
  }
  std::string name = read_key_name(in);
  ERRAND_CO_CHECK(in.finish());
  ERRAND_CO_TRY(auto made, co_await workspaces_.create(*slug, std::move(name)));
  json::Object out = workspace_json(made.workspace);
  out["apiKey"] = new_key_json(made.key);
  co_return json_response(201, json::write(out));
}

Api::Answer Api::list_workspaces(Principal who, net::Request) {
  ERRAND_CO_CHECK(check_operator(who));
  ERRAND_CO_TRY(auto all, co_await workspaces_.list());
  json::Array workspaces;
  for (const engine::WorkspaceView& one : all) workspaces.push_back(workspace_json(one));
  json::Object body{{"workspaces", std::move(workspaces)}, {"nextCursor", nullptr}};
  co_return json_response(200, json::write(body));
}

}  // namespace errand::server
