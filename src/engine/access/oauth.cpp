#include "engine/access/oauth.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "crypto/random.hpp"
#include "engine/access/grant_json.hpp"
#include "json/fields.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::engine {
namespace {

constexpr std::string_view kClientKind = "oauth-client";
constexpr std::string_view kTokenKind = "oauth-token";
constexpr std::int64_t kOAuthVersion = 1;
constexpr std::size_t kRecordsAtOnce = 500;
constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kIdBytes = 12;
constexpr std::string_view kOAuthIdPrefix = "mantyx_oa_";
constexpr std::string_view kOAuthSecretPrefix = "mantyx_oas_";
constexpr std::string_view kOAuthRefreshPrefix = "mantyx_rt_";

std::string digest_of(std::string_view secret) {
  return crypto::to_hex(crypto::sha256(secret));
}

std::string make_secret(std::string_view prefix) {
  return cat(prefix, crypto::random_hex(kSecretBytes));
}

std::string client_text(const OAuthClient& client) {
  json::Object out{{"version", kOAuthVersion},
                   {"name", client.name},
                   {"createdAt", to_millis(client.created_at)},
                   {"secretHash", client.secret_hash},
                   {"refreshHash", client.refresh_hash}};
  add_grant(out, client.grant);
  return json::write(json::Value(std::move(out)));
}

Error unreadable(const Record& record, const Error& error) {
  return {ErrorCode::internal,
          cat("the record of ", record.key.kind, " cannot be read: ", error.describe())};
}

Result<OAuthClient> parse_client(const Record& record) {
  auto value = json::parse(record.body);
  if (!value) return unreadable(record, value.error());
  json::Fields in(*value, "");
  in.integer("version", kOAuthVersion, kOAuthVersion);
  auto id = KeyId::parse(record.key.id);
  if (!id) in.fail("version", "it has no id of a client");
  OAuthClient client{.id = id.value_or(KeyId()),
                     .workspace = record.key.workspace,
                     .name = in.text("name"),
                     .grant = read_grant(in),
                     .created_at = from_millis(in.integer("createdAt", INT64_MIN, INT64_MAX)),
                     .secret_hash = in.text("secretHash"),
                     .refresh_hash = in.text("refreshHash")};
  auto read = in.finish(std::move(client));
  if (!read) return unreadable(record, read.error());
  return read;
}

RecordKey client_key(const OAuthClient& client) {
  return {.workspace = client.workspace, .kind = std::string(kClientKind), .id = client.id.str()};
}

RecordKey token_key(const OAuthClient& client, std::string hash) {
  return {.workspace = client.workspace, .kind = std::string(kTokenKind), .id = std::move(hash)};
}

Error no_such_client() {
  return {ErrorCode::not_found, "there is no such OAuth client"};
}

}  // namespace

Task<Result<void>> OAuth::load(std::set<WorkspaceSlug> workspaces) {
  for (const WorkspaceSlug& workspace : workspaces) {
    ERRAND_CO_CHECK(co_await load_clients(workspace));
    ERRAND_CO_CHECK(co_await load_tokens(workspace));
  }
  co_return Result<void>();
}

Task<Result<void>> OAuth::load_clients(WorkspaceSlug workspace) {
  RecordFilter filter{
      .workspace = workspace, .kind = std::string(kClientKind), .limit = kRecordsAtOnce};
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await store_.list_records(filter));
    for (const Record& record : records) {
      ERRAND_CO_TRY(auto client, parse_client(record));
      clients_[client.id] = std::move(client);
    }
    if (records.size() < kRecordsAtOnce) co_return Result<void>();
    filter.after = records.back().key.id;
  }
}

Result<OAuth::Token> OAuth::parse_token(const Record& record) {
  auto value = json::parse(record.body);
  if (!value) return unreadable(record, value.error());
  json::Fields in(*value, "");
  in.integer("version", kOAuthVersion, kOAuthVersion);
  auto client = KeyId::parse(in.text("client"));
  Token token{.client = client.value_or(KeyId()),
              .grant = std::make_shared<const Grant>(read_grant(in)),
              .expires_at = from_millis(in.integer("expiresAt", INT64_MIN, INT64_MAX))};
  auto read = in.finish(std::move(token));
  if (!read) return unreadable(record, read.error());
  return read;
}

Task<Result<void>> OAuth::load_tokens(WorkspaceSlug workspace) {
  RecordFilter filter{
      .workspace = workspace, .kind = std::string(kTokenKind), .limit = kRecordsAtOnce};
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await store_.list_records(filter));
    std::vector<RecordChange> orphans;
    for (const Record& record : records) {
      ERRAND_CO_TRY(auto token, parse_token(record));
      if (clients_.contains(token.client)) {
        remember(record.key.id, std::move(token));
      } else {
        orphans.push_back({.key = record.key, .body = {}});
      }
    }
    if (!orphans.empty()) ERRAND_CO_CHECK(co_await store_.change_records(std::move(orphans)));
    if (records.size() < kRecordsAtOnce) co_return Result<void>();
    filter.after = records.back().key.id;
  }
}

Task<Result<NewOAuthClient>> OAuth::create(WorkspaceSlug workspace, OAuthParams params, Once once) {
  NewOAuthClient made{
      .client = {.id = *KeyId::parse(cat(kOAuthIdPrefix, crypto::random_hex(kIdBytes))),
                 .workspace = workspace,
                 .name = std::move(params.name),
                 .grant = std::move(params.grant),
                 .created_at = clock_.now()},
      .secret = make_secret(kOAuthSecretPrefix),
      .refresh_token = make_secret(kOAuthRefreshPrefix)};
  // A repeated request must get the same secrets, but the store has only their hashes. So the id
  // and the secrets are derived from the idempotency key.
  if (once.is_given()) {
    const std::string id = once.name(cat("oauth client of ", workspace.view()));
    made.client.id = *KeyId::parse(cat(kOAuthIdPrefix, id.substr(0, 2 * kIdBytes)));
    made.secret = cat(kOAuthSecretPrefix, once.secret("oauth secret"));
    made.refresh_token = cat(kOAuthRefreshPrefix, once.secret("oauth refresh token"));
    if (auto known = clients_.find(made.client.id); known != clients_.end()) {
      if (!authenticate(made.client.id.view(), made.secret)) co_return idempotency_conflict();
      made.client = known->second;
      co_return made;
    }
  }
  made.client.secret_hash = digest_of(made.secret);
  made.client.refresh_hash = digest_of(made.refresh_token);
  std::vector<RecordChange> changes;
  changes.push_back({.key = client_key(made.client), .body = client_text(made.client)});
  // The client is durable before its secrets are shown.
  ERRAND_CO_CHECK(co_await store_.change_records(std::move(changes)));
  clients_[made.client.id] = made.client;
  co_return made;
}

std::vector<OAuthClient> OAuth::list(const WorkspaceSlug& workspace) const {
  std::vector<OAuthClient> out;
  for (const auto& [id, client] : clients_) {
    if (client.workspace == workspace) out.push_back(client);
  }
  return out;
}

std::vector<RecordChange> OAuth::removals(const OAuthClient& client, Which which) const {
  std::vector<RecordChange> changes;
  auto hashes = hashes_.find(client.id);
  if (hashes == hashes_.end()) return changes;
  const WallTime now = clock_.now();
  for (const std::string& hash : hashes->second) {
    if (which == Which::expired && tokens_.at(hash).expires_at > now) continue;
    changes.push_back({.key = token_key(client, hash), .body = {}});
  }
  return changes;
}

void OAuth::remember(std::string hash, Token token) {
  hashes_[token.client].insert(hash);
  tokens_[std::move(hash)] = std::move(token);
}

void OAuth::forget(const std::vector<RecordChange>& removed) {
  for (const RecordChange& change : removed) {
    auto token = tokens_.find(change.key.id);
    if (token == tokens_.end()) continue;
    auto hashes = hashes_.find(token->second.client);
    hashes->second.erase(token->first);
    if (hashes->second.empty()) hashes_.erase(hashes);
    tokens_.erase(token);
  }
}

// Marks a client as one whose tokens are being revoked, for as long as this lives.
class OAuth::Revoking final {
 public:
  Revoking(OAuth& oauth, KeyId client) : oauth_(oauth), place_(oauth.revoking_.insert(client)) {}
  ~Revoking() { oauth_.revoking_.erase(place_); }
  Revoking(const Revoking&) = delete;
  Revoking& operator=(const Revoking&) = delete;

 private:
  OAuth& oauth_;
  const std::multiset<KeyId>::iterator place_;
};

Task<Result<void>> OAuth::remove(WorkspaceSlug workspace, KeyId id) {
  auto found = clients_.find(id);
  if (found == clients_.end() || found->second.workspace != workspace) co_return no_such_client();
  const Revoking revoking(*this, id);
  std::vector<RecordChange> tokens = removals(found->second, Which::all);
  std::vector<RecordChange> changes = tokens;
  changes.push_back({.key = client_key(found->second), .body = {}});
  ERRAND_CO_CHECK(co_await store_.change_records(std::move(changes)));
  forget(tokens);
  clients_.erase(id);
  co_return Result<void>();
}

const OAuth::Token* OAuth::token_of(std::string_view token) const {
  auto found = tokens_.find(digest_of(token));
  if (found == tokens_.end() || found->second.expires_at <= clock_.now()) return nullptr;
  // A token that was made while its client was being removed is not valid.
  return clients_.contains(found->second.client) ? &found->second : nullptr;
}

std::optional<Principal> OAuth::find(std::string_view token) const {
  const Token* found = token_of(token);
  if (!found) return {};
  return Principal{.workspace = clients_.at(found->client).workspace,
                   .key = found->client,
                   .grant = found->grant};
}

std::optional<milliseconds> OAuth::time_left(std::string_view token) const {
  const Token* found = token_of(token);
  if (!found) return {};
  return found->expires_at - clock_.now();
}

const OAuthClient* OAuth::authenticate(std::string_view id, std::string_view secret) const {
  auto key = KeyId::parse(id);
  auto found = key ? clients_.find(*key) : clients_.end();
  if (found == clients_.end()) return nullptr;
  bool is_right = crypto::equal_in_constant_time(found->second.secret_hash, digest_of(secret));
  return is_right ? &found->second : nullptr;
}

bool OAuth::is_refresh_token(const OAuthClient& client, std::string_view token) const {
  return !client.refresh_hash.empty() &&
         crypto::equal_in_constant_time(client.refresh_hash, digest_of(token));
}

Task<Result<OAuthTokens>> OAuth::issue(KeyId client, std::vector<std::string> scopes) {
  auto found = clients_.find(client);
  if (found == clients_.end() || revoking_.contains(client)) co_return no_such_client();
  const Grant& most = found->second.grant;
  const auto& allowed = *most.scopes;
  for (const std::string& scope : scopes) {
    if (std::find(allowed.begin(), allowed.end(), scope) != allowed.end()) continue;
    co_return Error(ErrorCode::forbidden,
                    cat("the client does not have the scope \"", utf8_prefix(scope, 80), "\""));
  }
  if (scopes.empty()) scopes = allowed;
  std::vector<RecordChange> expired = removals(found->second, Which::expired);
  auto hashes = hashes_.find(client);
  const std::size_t known = hashes == hashes_.end() ? 0 : hashes->second.size();
  if (known - expired.size() >= kTokensMax) {
    co_return Error(ErrorCode::rate_limited, "the client has too many valid tokens");
  }
  OAuthTokens tokens{.access_token = make_secret(kAccessPrefix),
                     .expires_in = kTokenLife,
                     .refresh_token = {},
                     .scopes = scopes};
  Token token{.client = client,
              .grant = std::make_shared<const Grant>(
                  Grant{.scopes = std::move(scopes), .agents = most.agents}),
              .expires_at = clock_.now() + kTokenLife};
  json::Object body{{"version", kOAuthVersion},
                    {"client", client.view()},
                    {"expiresAt", to_millis(token.expires_at)}};
  add_grant(body, *token.grant);
  std::vector<RecordChange> changes = expired;
  const RecordKey key = token_key(found->second, digest_of(tokens.access_token));
  const std::string refresh_hash = found->second.refresh_hash;
  changes.push_back({.key = key, .body = json::write(json::Value(std::move(body)))});
  // The token is remembered before it is durable, so that a revocation of all the client's tokens
  // includes it. No token is left behind in the store, even if the process dies here.
  remember(key.id, std::move(token));
  std::vector<RecordChange> late;
  late.push_back({.key = key, .body = {}});
  auto stored = co_await store_.change_records(std::move(changes));
  if (!stored) {
    // The token may have been stored all the same; then it is removed with its client.
    if (stored.error().code() != ErrorCode::outcome_unknown) forget(late);
    co_return std::move(stored).error();
  }
  forget(expired);
  // The client's tokens may have been revoked meanwhile, this one included.
  found = clients_.find(client);
  if (found == clients_.end() || found->second.refresh_hash != refresh_hash ||
      revoking_.contains(client)) {
    forget(late);
    ERRAND_CO_CHECK(co_await store_.change_records(std::move(late)));
    co_return no_such_client();
  }
  co_return tokens;
}

Task<Result<OAuth::Revoked>> OAuth::revoke(KeyId client, std::string token) {
  auto found = clients_.find(client);
  if (found == clients_.end()) co_return Revoked::nothing;
  std::vector<RecordChange> tokens;
  std::vector<RecordChange> changes;
  std::optional<Revoking> revoking;
  if (is_refresh_token(found->second, token)) {
    revoking.emplace(*this, client);
    tokens = removals(found->second, Which::all);
    changes = tokens;
    OAuthClient without = found->second;
    without.refresh_hash.clear();
    changes.push_back({.key = client_key(without), .body = client_text(without)});
  } else {
    std::string hash = digest_of(token);
    auto known = tokens_.find(hash);
    if (known == tokens_.end() || known->second.client != client) co_return Revoked::nothing;
    tokens.push_back({.key = token_key(found->second, hash), .body = {}});
    changes = tokens;
  }
  // If the store fails, nothing changes. Otherwise a caller that tries again would be told that
  // there is nothing to revoke, and a restart would bring the tokens back.
  ERRAND_CO_CHECK(co_await store_.change_records(std::move(changes)));
  forget(tokens);
  if (!revoking) co_return Revoked::token;
  found = clients_.find(client);
  if (found != clients_.end()) found->second.refresh_hash.clear();
  co_return Revoked::client;
}

}  // namespace errand::engine
