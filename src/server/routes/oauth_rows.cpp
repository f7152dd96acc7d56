// The table of routes: OAuth.
#include "server/api.hpp"

namespace errand::server {

using net::Method;

namespace {

constexpr std::string_view kForm = "application/x-www-form-urlencoded";

}  // namespace

std::vector<Api::Row> Api::oauth_rows() {
  return {
      {{.method = Method::post,
        .path = "/oauth-clients",
        .id = "createOAuthClient",
        .tag = "OAuth",
        .scope = "keys:write",
        .summary = "Creates an OAuth client with a first refresh token.",
        .about = "Secret and refresh token are in this answer and nowhere else. A credential that "
                 "expires cannot create a client.",
        .request = "OAuthClientRequest",
        .takes_idempotency_key = true,
        .answers = {{201, "The client.", "NewOAuthClient"}},
        .errors = {"forbidden", "insufficient_scope", "idempotency_conflict"}},
       &Api::create_oauth_client},
      {{.method = Method::get,
        .path = "/oauth-clients",
        .id = "listOAuthClients",
        .tag = "OAuth",
        .scope = "keys:read",
        .summary = "Lists the OAuth clients of the workspace, without their secrets.",
        .answers = {{200, "All clients.", "OAuthClientList"}}},
       &Api::list_oauth_clients},
      {{.method = Method::delete_,
        .path = "/oauth-clients/{clientId}",
        .id = "removeOAuthClient",
        .tag = "OAuth",
        .scope = "keys:write",
        .summary = "Removes an OAuth client and all of its tokens.",
        .answers = {{204, "The client is gone."}}},
       &Api::remove_oauth_client},
  };
}

std::vector<Api::Row> Api::token_rows() {
  return {
      {.info = {.method = Method::post,
                .path = "/api/oauth/token",
                .id = "getToken",
                .tag = "OAuth",
                .summary = "Issues an access token for a refresh token or a client's credentials.",
                .about = "Refresh tokens do not change. Errors are those of RFC 6749.",
                .request = "TokenRequest",
                .request_type = kForm,
                .answers = {{200, "The token.", "TokenAnswer"},
                            {400,
                             "`invalid_request`, `invalid_grant`, `invalid_scope` or "
                             "`unsupported_grant_type`.",
                             "OAuthError"},
                            {401, "`invalid_client`.", "OAuthError"}},
                .errors = {"rate_limited"},
                .access = Access::open},
       .open_verb = &Api::give_tokens},
      {.info = {.method = Method::post,
                .path = "/api/oauth/revoke",
                .id = "revokeToken",
                .tag = "OAuth",
                .summary = "Revokes a token.",
                .about =
                    "Revoking a refresh token revokes all tokens of the client. An unknown token "
                    "is not an error.",
                .request = "RevokeRequest",
                .request_type = kForm,
                .answers = {{200, "The token is no longer valid.", "Empty"},
                            {400, "`invalid_request`.", "OAuthError"},
                            {401, "`invalid_client`.", "OAuthError"}},
                .access = Access::open},
       .open_verb = &Api::take_back_token},
      {{.method = Method::get,
        .path = "/api/oauth/userinfo",
        .id = "getUserInfo",
        .tag = "OAuth",
        .scope = "mantyx.identity:read",
        .summary = "Shows whom the credential belongs to.",
        .answers = {{200, "Who it is.", "UserInfo"}},
        .access = Access::key},
       &Api::tell_identity},
  };
}

}  // namespace errand::server
