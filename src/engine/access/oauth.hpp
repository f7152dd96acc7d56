#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/id.hpp"
#include "base/result.hpp"
#include "engine/access/once.hpp"
#include "run/principal.hpp"
#include "store/store.hpp"

namespace errand::engine {

// A program that gets tokens. Its id stands where the id of a key would.
struct OAuthClient {
  KeyId id;  // "mantyx_oa_..."
  WorkspaceSlug workspace;
  std::string name;
  Grant grant;  // what its tokens may do at most; scopes are always there
  WallTime created_at{};
  std::string secret_hash;
  std::string refresh_hash;  // empty once the refresh token is revoked
};

struct NewOAuthClient {
  OAuthClient client;
  std::string secret;  // these two are shown once, never stored
  std::string refresh_token;
};

struct OAuthParams {
  std::string name;
  Grant grant;
};

// What a token endpoint gives.
struct OAuthTokens {
  std::string access_token;
  seconds expires_in{};
  std::string refresh_token;  // empty: none
  std::vector<std::string> scopes;
};

// OAuth clients and their opaque tokens, of which only hashes are stored, as records of the kinds
// "oauth-client" and "oauth-token". Lives on one home.
class OAuth final {
 public:
  static constexpr seconds kTokenLife{3600};
  // Access tokens of a client that are good at once. Past it: rate_limited.
  static constexpr std::size_t kTokensMax = 1000;
  static constexpr std::string_view kAccessPrefix = "mantyx_at_";

  OAuth(Store& store, const Clock& clock) : store_(store), clock_(clock) {}

  // Reads what these workspaces have; call once before use.
  Task<Result<void>> load(std::set<WorkspaceSlug> workspaces);

  // conflict with reason "idempotency_conflict": the key of `once` was used for something else.
  Task<Result<NewOAuthClient>> create(WorkspaceSlug workspace, OAuthParams params, Once once = {});
  std::vector<OAuthClient> list(const WorkspaceSlug& workspace) const;
  // With all of its tokens. not_found: no such client in this workspace.
  Task<Result<void>> remove(WorkspaceSlug workspace, KeyId id);

  // The principal of this access token; nothing for an unknown, expired or revoked token.
  std::optional<Principal> find(std::string_view token) const;
  std::optional<milliseconds> time_left(std::string_view token) const;

  // The client with this secret; nothing if there is none.
  const OAuthClient* authenticate(std::string_view id, std::string_view secret) const;
  // Tokens for a client. The scopes have to be in the client's grant; none: all scopes of the
  // grant. forbidden: they are not.
  Task<Result<OAuthTokens>> issue(KeyId client, std::vector<std::string> scopes);
  bool is_refresh_token(const OAuthClient& client, std::string_view token) const;
  // What was revoked.
  enum class Revoked { nothing, token, client };
  // The access token, or with the refresh token all tokens of the client. An unknown one is fine.
  // After an error, everything is as before.
  Task<Result<Revoked>> revoke(KeyId client, std::string token);

 private:
  struct Token {
    KeyId client;
    std::shared_ptr<const Grant> grant;
    WallTime expires_at{};
  };

  Task<Result<void>> load_clients(WorkspaceSlug workspace);
  static Result<Token> parse_token(const Record& record);
  // Removes tokens whose client is gone.
  Task<Result<void>> load_tokens(WorkspaceSlug workspace);
  const Token* token_of(std::string_view token) const;
  // Changes that remove tokens of a client: all tokens, or the expired ones.
  enum class Which { all, expired };
  std::vector<RecordChange> removals(const OAuthClient& client, Which which) const;
  void remember(std::string hash, Token token);
  void forget(const std::vector<RecordChange>& removed);
  class Revoking;

  Store& store_;
  const Clock& clock_;
  std::map<KeyId, OAuthClient> clients_;
  std::unordered_map<std::string, Token> tokens_;  // by hash, also while one is being stored
  std::map<KeyId, std::set<std::string>> hashes_;  // of the tokens of each client
  std::multiset<KeyId> revoking_;                  // clients whose tokens are being revoked
};

}  // namespace errand::engine
