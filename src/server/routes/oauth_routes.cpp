// OAuth: the clients of a workspace, and the endpoints at which they get and revoke tokens.
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "server/api.hpp"
#include "server/error_body.hpp"
#include "server/openapi/request_members.hpp"
#include "server/openapi/request_words.hpp"
#include "server/request_body.hpp"
#include "server/routes/grant_body.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

json::Object client_json(const engine::OAuthClient& client) {
  json::Object out{{"id", client.id.view()},
                   {"clientId", client.id.view()},
                   {"name", client.name},
                   {"createdAt", to_iso8601(client.created_at)}};
  out["scopes"] = names_json(client.grant.scopes);
  out["agents"] = names_json(client.grant.agents);
  out["hasRefreshToken"] = !client.refresh_hash.empty();
  return out;
}

// An error in the form of RFC 6749.
net::Response oauth_error(int status, std::string_view code, std::string_view description) {
  std::string body;
  json::ObjectWriter(body).field("error", code).field("error_description", description).end();
  net::Response response = json_response(status, std::move(body));
  response.headers.push_back({"Cache-Control", "no-store"});
  if (status == 401) response.headers.push_back({"WWW-Authenticate", "Basic"});
  return response;
}

// The members of a form, or the answer to send if the body is not a form.
class Form final {
 public:
  explicit Form(const net::Request& request) {
    std::string_view type = request.header("content-type");
    is_form_ = equals_ignoring_case(trim(type.substr(0, type.find(';'))), kFormType);
    members_.query = request.body;
  }

  bool is_form() const { return is_form_; }
  std::string at(std::string_view name) const { return members_.query_param(name).value_or(""); }

 private:
  net::Request members_;  // a form has the syntax of a query
  bool is_form_ = false;
};

struct ClientCredentials {
  std::string id;
  std::string secret;
};

// The client's credentials, from the form or from a header of HTTP basic authentication.
ClientCredentials client_credentials(const net::Request& request, const Form& form) {
  constexpr std::string_view kBasic = "basic ";
  std::string_view header = request.header("authorization");
  bool is_basic = header.size() > kBasic.size() &&
                  equals_ignoring_case(header.substr(0, kBasic.size()), kBasic);
  if (!is_basic) return {.id = form.at("client_id"), .secret = form.at("client_secret")};
  auto decoded = from_base64(trim(header.substr(kBasic.size())));
  if (!decoded) return {};
  std::size_t colon = decoded->find(':');
  if (colon == std::string::npos) return {};
  return {.id = decoded->substr(0, colon), .secret = decoded->substr(colon + 1)};
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    std::size_t space = text.find(' ');
    if (space != 0) words.emplace_back(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) append(out, out.empty() ? "" : " ", word);
  return out;
}

net::Response tokens_response(const engine::OAuthTokens& tokens) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("access_token", tokens.access_token)
      .field("token_type", "Bearer")
      .field("expires_in", tokens.expires_in.count());
  if (!tokens.refresh_token.empty()) out.field("refresh_token", tokens.refresh_token);
  out.field("scope", joined(tokens.scopes)).end();
  net::Response response = json_response(200, std::move(body));
  response.headers.push_back({"Cache-Control", "no-store"});
  return response;
}

net::Response not_a_form() {
  return oauth_error(400, "invalid_request", cat("the body has to be ", kFormType));
}

}  // namespace

net::Response Api::refuse_client() {
  ++requests_.by_refusal["invalid_client"];
  return oauth_error(401, "invalid_client", "the client is unknown, or its secret is wrong");
}

Api::Answer Api::create_oauth_client(Principal who, net::Request request) {
  ERRAND_CO_CHECK(check_lasting(who, request, "an OAuth client"));
  auto read = [scopes = known_scopes()](const json::Value& body) {
    return parse_grant(body, scopes, kOAuthClientMembers);
  };
  ERRAND_CO_TRY(auto params, co_await read_json(&request, engine_.pool(), read));
  if (!params.grant.scopes) {
    co_return Error(ErrorCode::invalid_argument, "\"scopes\" is missing: expected an array")
        .pointer("/scopes")
        .candidates(known_scopes());
  }
  ERRAND_CO_CHECK(confine(params, who, {}));
  engine::Once once{.caller_secret = std::string(credential(request))};
  ERRAND_CO_TRY(once.idempotency, co_await idempotency_of(&request, engine_.pool()));
  ERRAND_CO_TRY(
      auto made,
      co_await oauth_.create(who.workspace, {.name = std::move(params.name), .grant = params.grant},
                             std::move(once)));
  json::Object out = client_json(made.client);
  out["clientSecret"] = made.secret;
  out["refreshToken"] = made.refresh_token;
  co_return json_response(201, json::write(out));
}

Api::Answer Api::list_oauth_clients(Principal who, net::Request) {
  json::Array clients;
  for (const engine::OAuthClient& client : oauth_.list(who.workspace)) {
    clients.push_back(client_json(client));
  }
  json::Object body{{"oauthClients", std::move(clients)}, {"nextCursor", nullptr}};
  co_return json_response(200, json::write(body));
}

Api::Answer Api::remove_oauth_client(Principal who, net::Request request) {
  auto id = KeyId::parse(request.params.at(1));
  if (!id) co_return Error(ErrorCode::not_found, "there is no such OAuth client");
  ERRAND_CO_CHECK(co_await oauth_.remove(who.workspace, *id));
  cut(*id);
  co_return json_response(204, {});
}

Task<net::Response> Api::give_tokens(net::Request request) {
  Form form(request);
  if (!form.is_form()) co_return not_a_form();
  ClientCredentials sent = client_credentials(request, form);
  const engine::OAuthClient* client = oauth_.authenticate(sent.id, sent.secret);
  if (!client) co_return refuse_client();
  std::string kind = form.at("grant_type");
  std::string refresh_token = form.at("refresh_token");
  constexpr auto kRefresh = kGrantTypes[0];
  constexpr auto kClient = kGrantTypes[1];
  if (kind == kRefresh) {
    if (!oauth_.is_refresh_token(*client, refresh_token)) {
      co_return oauth_error(400, "invalid_grant", "the refresh token is unknown, or was revoked");
    }
  } else if (kind == kClient) {
    refresh_token.clear();
  } else {
    co_return oauth_error(400, "unsupported_grant_type",
                          cat("grant_type is ", kRefresh, " or ", kClient));
  }
  auto tokens = co_await oauth_.issue(client->id, words_of(form.at("scope")));
  if (!tokens && tokens.error().code() == ErrorCode::forbidden) {
    co_return oauth_error(400, "invalid_scope", tokens.error().message());
  }
  if (!tokens && tokens.error().code() == ErrorCode::not_found) co_return refuse_client();
  if (!tokens) co_return render_error(tokens.error());
  // Refresh tokens do not change: the client gets back the one that it sent.
  tokens->refresh_token = std::move(refresh_token);
  co_return tokens_response(*tokens);
}

Task<net::Response> Api::take_back_token(net::Request request) {
  Form form(request);
  if (!form.is_form()) co_return not_a_form();
  ClientCredentials sent = client_credentials(request, form);
  const engine::OAuthClient* client = oauth_.authenticate(sent.id, sent.secret);
  if (!client) co_return refuse_client();
  const KeyId id = client->id;
  const std::string token = form.at("token");
  auto revoked = co_await oauth_.revoke(id, token);
  if (!revoked) co_return render_error(revoked.error());
  if (*revoked == engine::OAuth::Revoked::client) cut(id);
  if (*revoked == engine::OAuth::Revoked::token) {
    streams_.cut(id, token);
    engine_.recheck_waits();
  }
  co_return json_response(200, "{}");
}

Api::Answer Api::tell_identity(Principal who, net::Request) {
  ERRAND_CO_TRY(auto name, co_await workspaces_.name_of(who.workspace));
  if (name.empty()) name = who.workspace.str();
  json::Object out{{"sub", who.key.view()}, {"email", nullptr}};
  out["workspace"] = json::Object{
      {"id", who.workspace.view()}, {"slug", who.workspace.view()}, {"name", std::move(name)}};
  co_return json_response(200, json::write(out));
}

}  // namespace errand::server
