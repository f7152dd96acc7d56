// API keys, and the workspaces that they belong to.
#include <set>
#include <utility>

#include "base/text.hpp"
#include "engine/records/agent_access.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/openapi/request_members.hpp"
#include "server/request_body.hpp"
#include "server/routes/grant_body.hpp"

namespace errand::server {
namespace {

json::Value time_json(const std::optional<WallTime>& time) {
  return time ? json::Value(to_iso8601(*time)) : json::Value();
}

json::Object usage_json(const engine::KeyUsage& usage) {
  json::Object out{{"runs", usage.runs},
                   {"inputTokens", usage.input_tokens},
                   {"outputTokens", usage.output_tokens},
                   {"unpricedRuns", usage.unpriced_runs}};
  if (usage.runs > usage.unpriced_runs) out["costUsd"] = usage.cost_usd;
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
  if (key.more.usage.runs > 0) out["usage"] = usage_json(key.more.usage);
  return out;
}

json::Object new_key_json(const engine::NewKey& key) {
  json::Object out = key_json(key.key);
  out["apiKey"] = key.secret;
  return out;
}

Result<void> check_operator(const Principal& who) {
  if (engine::Workspaces::is_operator(who)) return {};
  return Error(ErrorCode::forbidden, cat("only keys of the workspace \"",
                                         engine::Workspaces::kOperator, "\" see workspaces"))
      .hint("ask the operator of the server");
}

json::Object workspace_json(const engine::WorkspaceView& workspace) {
  return {{"slug", workspace.slug.view()}, {"name", workspace.name}};
}

Result<engine::WorkspaceView> parse_workspace(const json::Value& body) {
  json::Fields in(body, "");
  refuse_unknown_members(in, body, kWorkspaceMembers);
  auto slug = WorkspaceSlug::parse(in.text("slug"));
  if (in.ok() && !slug) {
    in.fail("slug", "a slug is 1 to 39 letters, digits, dashes and underscores");
  }
  std::string name = read_name(in);
  ERRAND_CHECK(in.finish());
  return engine::WorkspaceView{.slug = *slug, .name = std::move(name)};
}

}  // namespace

std::vector<std::string> Api::known_scopes() const {
  std::set<std::string> scopes;
  for (const Row& row : rows_) {
    if (!row.info.scope.empty()) scopes.emplace(row.info.scope);
  }
  scopes.emplace("metrics:read");  // of a route that also works without a key
  scopes.emplace(engine::kSecretsUseScope);
  scopes.emplace(engine::kToolsUseScope);
  return {scopes.begin(), scopes.end()};
}

Api::Answer Api::create_key(Principal who, net::Request request) {
  auto read = [scopes = known_scopes()](const json::Value& body) {
    return parse_grant(body, scopes, kKeyMembers);
  };
  ERRAND_CO_TRY(auto params, co_await read_json(&request, engine_.pool(), read));
  ERRAND_CO_CHECK(confine(params, who, time_left(credential(request), who.key)));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine_.pool()));
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
  ERRAND_CO_TRY(auto asked, co_await read_json(&request, engine_.pool(), parse_workspace));
  engine::Once once{.caller_secret = std::string(credential(request))};
  ERRAND_CO_TRY(once.idempotency, co_await idempotency_of(&request, engine_.pool()));
  ERRAND_CO_TRY(auto made, co_await workspaces_.create(std::move(asked.slug), std::move(asked.name),
                                                       std::move(once)));
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
