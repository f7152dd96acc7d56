// Secrets: written and never read.
#include <utility>

#include "base/text.hpp"
#include "json/fields.hpp"
#include "run/unknown_members.hpp"
#include "server/api.hpp"
#include "server/openapi/request_members.hpp"
#include "server/request_body.hpp"
#include "server/routes/record_answer.hpp"

namespace errand::server {
namespace {

json::Object secret_json(const engine::SecretInfo& secret) {
  return {{"id", secret.name},
          {"name", secret.name},
          {"version", secret.version},
          {"createdAt", to_iso8601(secret.created_at)},
          {"updatedAt", to_iso8601(secret.updated_at)}};
}

// The members of a body. `name` may be missing if the path has it.
struct SecretBody {
  std::string name;
  std::string value;
};

Result<SecretBody> parse_secret(const json::Value& body, std::string_view name) {
  json::Fields in(body, "");
  SecretBody secret{.name = in.optional_text("name").value_or(std::string(name)),
                    .value = in.text("value")};
  if (in.ok() && secret.name.empty()) in.fail("name", "\"name\" is missing: expected a string");
  if (in.ok() && !name.empty() && secret.name != name) {
    in.fail("name", "a secret keeps its name: create another one, and delete this one");
  }
  refuse_unknown_members(in, body, kSecretMembers);
  return in.finish(std::move(secret));
}

Task<Result<SecretBody>> read_secret(net::Request* request, BlockingPool* pool, std::string name) {
  auto read = [name](const json::Value& body) { return parse_secret(body, name); };
  auto secret = co_await read_json(request, pool, read);
  co_return secret;
}

}  // namespace

Api::Answer Api::create_secret(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto secret, co_await read_secret(&request, engine_.pool(), ""));
  ERRAND_CO_TRY(auto idempotency, co_await idempotency_of(&request, engine_.pool()));
  ERRAND_CO_TRY(auto saved, co_await engine_.records().secrets.create(
                                who.workspace, std::move(secret.name), std::move(secret.value),
                                std::move(idempotency)));
  co_return record_response(201, secret_json(saved.info), saved.info.version);
}

Api::Answer Api::list_secrets(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto page, page_params(request));
  ERRAND_CO_TRY(auto found, co_await engine_.records().secrets.list(
                                who.workspace, std::move(page.after), page.limit));
  json::Array items;
  for (const engine::SecretInfo& secret : found.secrets) items.push_back(secret_json(secret));
  co_return page_response("secrets", std::move(items), found.next);
}

Api::Answer Api::get_secret(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto name, record_of_path(request, "secret"));
  ERRAND_CO_TRY(auto secret,
                co_await engine_.records().secrets.info(who.workspace, std::move(name)));
  co_return record_response(200, secret_json(secret), secret.version);
}

Api::Answer Api::put_secret(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto name, record_of_path(request, "secret"));
  ERRAND_CO_TRY(auto secret, co_await read_secret(&request, engine_.pool(), name));
  ERRAND_CO_TRY(auto wanted, precondition_of(request));
  engine::SecretVault& secrets = engine_.records().secrets;
  if (wanted.must_exist && !wanted.version) {
    auto known = co_await secrets.info(who.workspace, name);
    if (!known && known.error().code() == ErrorCode::not_found) co_return must_exist_error();
  }
  ERRAND_CO_TRY(auto saved, co_await secrets.put(who.workspace, std::move(name),
                                                 std::move(secret.value), wanted.version));
  co_return record_response(saved.is_new ? 201 : 200, secret_json(saved.info), saved.info.version);
}

Api::Answer Api::delete_secret(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto name, record_of_path(request, "secret"));
  ERRAND_CO_TRY(auto wanted, precondition_of(request));
  ERRAND_CO_CHECK(
      co_await engine_.records().secrets.remove(who.workspace, std::move(name), wanted.version));
  co_return json_response(204, {});
}

}  // namespace errand::server
