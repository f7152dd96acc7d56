#include "engine/key_ring.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "crypto/random.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kShownPrefix = 12;
constexpr std::string_view kSecretPrefix = "mantyx_";

std::string hash_of(std::string_view secret) {
  return crypto::to_hex(crypto::sha256(secret));
}

std::string derive_secret(std::string_view caller_secret, const KeyId& id) {
  return cat(kSecretPrefix, crypto::to_hex(crypto::hmac_sha256(caller_secret, id.view())));
}

void set_secret(ApiKeyRow& row, std::string_view secret) {
  row.hash = hash_of(secret);
  row.prefix = std::string(secret.substr(0, kShownPrefix));
}

}  // namespace

KeyRing::KeyRing(Store& store, const Clock& clock, IdSource& ids)
    : store_(store), clock_(clock), ids_(ids) {}

Task<Result<void>> KeyRing::load() {
  ERRAND_CO_TRY(auto keys, co_await store_.list_keys());
  for (ApiKeyRow& key : keys) {
    std::string hash = key.hash;
    by_hash_.emplace(std::move(hash), std::move(key));
  }
  co_return Result<void>();
}

std::optional<Principal> KeyRing::find(std::string_view secret) const {
  // The bucket is found by a hash that nobody can steer; the comparison itself leaks no timing.
  std::string hash = hash_of(secret);
  auto found = by_hash_.find(hash);
  if (found == by_hash_.end() || found->second.revoked_at) return {};
  if (!crypto::equal_in_constant_time(found->second.hash, hash)) return {};
  return Principal{.workspace = found->second.workspace, .key = found->second.id};
}

ApiKeyRow KeyRing::make_row(const WorkspaceSlug& workspace, std::string name) {
  return {.id = ids_.make<KeyIdTag>("key_"),
          .workspace = workspace,
          .name = std::move(name),
          .created_at = clock_.now()};
}

Result<void> KeyRing::adopt(const WorkspaceSlug& workspace, std::string_view secret) {
  constexpr std::size_t kIdDigits = 24;
  ApiKeyRow row{.id = {}, .workspace = workspace, .name = "configuration file"};
  set_secret(row, secret);
  // The same key has the same id after every start.
  row.id = *KeyId::parse(cat("key_", row.hash.substr(0, kIdDigits)));
  row.created_at = clock_.now();
  auto found = by_hash_.find(row.hash);
  if (found != by_hash_.end() && adopted_.contains(found->second.id)) {
    if (found->second.workspace == workspace) return {};
    return Error(ErrorCode::conflict,
                 cat("the key ", row.prefix, "... is a key of two workspaces: ",
                     found->second.workspace.view(), " and ", workspace.view()));
  }
  adopted_.insert(row.id);
  by_hash_[row.hash] = std::move(row);
  return {};
}

std::string KeyRing::make_secret() {
  constexpr std::size_t kSecretBytes = 32;
  return cat(kSecretPrefix, crypto::random_hex(kSecretBytes));
}

Task<Result<NewKey>> KeyRing::create(WorkspaceSlug workspace, std::string name,
                                     std::string secret) {
  ApiKeyRow row = make_row(workspace, std::move(name));
  set_secret(row, secret);
  ERRAND_CO_CHECK(co_await store_.add_key(row, {}));
  by_hash_.emplace(row.hash, row);
  co_return NewKey{.row = std::move(row), .secret = std::move(secret)};
}

Task<Result<NewKey>> KeyRing::create_once(WorkspaceSlug workspace, std::string name,
                                          std::string caller_secret, Idempotency idempotency) {
  ApiKeyRow row = make_row(workspace, std::move(name));
  set_secret(row, derive_secret(caller_secret, row.id));
  ERRAND_CO_TRY(auto outcome, co_await store_.add_key(row, std::move(idempotency)));
  std::string secret = derive_secret(caller_secret, outcome.key.id);
  // Another caller's request has made a key that this one cannot tell.
  bool is_anothers = hash_of(secret) != outcome.key.hash;
  if (outcome.kind == Creation::conflict || is_anothers) {
    co_return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
        .reason("idempotency_conflict");
  }
  by_hash_.emplace(outcome.key.hash, outcome.key);
  co_return NewKey{.row = std::move(outcome.key), .secret = std::move(secret)};
}

std::vector<ApiKeyRow> KeyRing::list(const WorkspaceSlug& workspace) const {
  std::vector<ApiKeyRow> keys;
  for (const auto& [hash, key] : by_hash_) {
    if (key.workspace == workspace) keys.push_back(key);
  }
  std::sort(keys.begin(), keys.end(),
            [](const ApiKeyRow& a, const ApiKeyRow& b) { return a.id < b.id; });
  return keys;
}

Task<Result<void>> KeyRing::revoke(WorkspaceSlug workspace, KeyId id) {
  bool is_own = std::any_of(by_hash_.begin(), by_hash_.end(), [&](const auto& entry) {
    return entry.second.id == id && entry.second.workspace == workspace;
  });
  if (is_own && adopted_.contains(id)) {
    co_return Error(ErrorCode::conflict, "this key is named by the server's configuration file")
        .reason("key_of_configuration")
        .hint("Remove it from \"workspaces\" in that file and restart the server.");
  }
  WallTime now = clock_.now();
  ERRAND_CO_CHECK(co_await store_.revoke_key(workspace, id, now));
  for (auto& [hash, key] : by_hash_) {
    if (key.id == id && !key.revoked_at) key.revoked_at = now;
  }
  co_return Result<void>();
}

}  // namespace errand::engine
