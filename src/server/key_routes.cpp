// API keys.
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/request_body.hpp"

namespace errand::server {
namespace {

json::Object key_json(const ApiKeyRow& key) {
  json::Object out{{"id", key.id.view()},
                   {"name", key.name},
                   {"prefix", key.prefix},
                   {"createdAt", to_iso8601(key.created_at)}};
  out["revokedAt"] = key.revoked_at ? json::Value(to_iso8601(*key.revoked_at)) : json::Value();
  return out;
}

}  // namespace

Api::Answer Api::create_key(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto body, json_body(request));
  json::Fields in(body, "");
  std::string name = in.optional_text("name").value_or("");
  if (utf8_length(name) > kKeyNameCharsMax) {
    in.fail("name", cat("a name has at most ", kKeyNameCharsMax, " characters"));
  }
  ERRAND_CO_CHECK(in.finish());
  ERRAND_CO_TRY(auto idempotency, idempotency_of(request));
  Result<engine::NewKey> key = Error(ErrorCode::internal, "not made");
  if (idempotency.key.empty()) {
    key = co_await keys_.create(who.workspace, std::move(name), engine::KeyRing::make_secret());
  } else {
    key = co_await keys_.create_once(who.workspace, std::move(name),
                                     std::string(credential(request)), std::move(idempotency));
  }
  ERRAND_CO_CHECK(key);
  json::Object out = key_json(key->row);
  out["key"] = key->secret;
  co_return json_response(201, json::write(out));
}

Api::Answer Api::list_keys(Principal who, net::Request) {
  json::Array keys;
  for (const ApiKeyRow& key : keys_.list(who.workspace)) keys.push_back(key_json(key));
  json::Object body{{"apiKeys", std::move(keys)}, {"nextCursor", nullptr}};
  co_return json_response(200, json::write(body));
}

Api::Answer Api::revoke_key(Principal who, net::Request request) {
  auto id = KeyId::parse(request.params.at(1));
  if (!id) co_return Error(ErrorCode::not_found, "there is no such key");
  ERRAND_CO_CHECK(co_await keys_.revoke(who.workspace, *id));
  co_return json_response(204, {});
}

}  // namespace errand::server
