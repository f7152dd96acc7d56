#include "engine/access/key_ring.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "crypto/random.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kShownPrefix = 12;
constexpr std::size_t kRecordsPage = 500;
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

bool is_restricted(const KeyRecord& record) {
  return record.grant != Grant() || record.expires_at;
}

RecordKey record_key(const ApiKeyRow& row) {
  return {.workspace = row.workspace, .kind = std::string(KeyRecord::kKind), .id = row.id.str()};
}

}  // namespace

KeyRing::KeyRing(Store& store, const Clock& clock, IdSource& ids)
    : store_(store), clock_(clock), ids_(ids) {}

void KeyRing::enter(ApiKeyRow row, KeyRecord more) {
  Entry entry{.key = {.row = std::move(row), .more = std::move(more)}, .grant = nullptr};
  if (entry.key.more.grant != Grant()) {
    entry.grant = std::make_shared<const Grant>(entry.key.more.grant);
  }
  const std::string hash = entry.key.row.hash;
  hash_of_[entry.key.row.id] = hash;
  by_hash_[hash] = std::move(entry);
}

const KeyRing::Entry* KeyRing::entry_of(const KeyId& key) const {
  auto hash = hash_of_.find(key);
  if (hash == hash_of_.end()) return nullptr;
  auto found = by_hash_.find(hash->second);
  return found == by_hash_.end() ? nullptr : &found->second;
}

Task<Result<void>> KeyRing::load() {
  ERRAND_CO_TRY(auto keys, co_await store_.list_keys());
  std::set<WorkspaceSlug> workspaces;
  for (ApiKeyRow& key : keys) {
    workspaces.insert(key.workspace);
    enter(std::move(key), {});
  }
  for (const WorkspaceSlug& workspace : workspaces) {
    ERRAND_CO_CHECK(co_await load_records(workspace));
  }
  co_return Result<void>();
}

Task<Result<void>> KeyRing::load_records(WorkspaceSlug workspace) {
  RecordFilter filter{
      .workspace = workspace, .kind = std::string(KeyRecord::kKind), .limit = kRecordsPage};
  for (;;) {
    ERRAND_CO_TRY(auto records, co_await store_.list_records(filter));
    for (const Record& record : records) {
      auto id = KeyId::parse(record.key.id);
      const Entry* entry = id ? entry_of(*id) : nullptr;
      if (!entry) continue;
      // A record that cannot be read must not give its key more rights.
      ERRAND_CO_TRY(auto more, parse_key_record(record.body));
      ApiKeyRow row = entry->key.row;
      enter(std::move(row), std::move(more));
    }
    if (records.size() < kRecordsPage) co_return Result<void>();
    filter.after = records.back().key.id;
  }
}

std::optional<Principal> KeyRing::find(std::string_view secret) {
  // The bucket is found by a hash that nobody can steer, and the comparison itself leaks no timing.
  std::string hash = hash_of(secret);
  auto found = by_hash_.find(hash);
  if (found == by_hash_.end()) return {};
  Entry& entry = found->second;
  const ApiKeyRow& row = entry.key.row;
  if (!crypto::equal_in_constant_time(row.hash, hash) || !is_good(row.id)) return {};
  entry.key.more.last_used_at = clock_.now();
  entry.has_new_use = true;
  return Principal{.workspace = row.workspace, .key = row.id, .grant = entry.grant};
}

bool KeyRing::is_good(const KeyId& key) const {
  const Entry* entry = entry_of(key);
  if (!entry || entry->key.row.revoked_at) return false;
  const auto& expires_at = entry->key.more.expires_at;
  return !expires_at || *expires_at > clock_.now();
}

std::optional<milliseconds> KeyRing::time_left(const KeyId& key) const {
  const Entry* entry = entry_of(key);
  if (!entry || !entry->key.more.expires_at) return {};
  return *entry->key.more.expires_at - clock_.now();
}

KeyView KeyRing::make_key(const WorkspaceSlug& workspace, KeyParams params) {
  const WallTime now = clock_.now();
  KeyView key{.row = {.id = ids_.make<KeyIdTag>("key_"),
                      .workspace = workspace,
                      .name = std::move(params.name),
                      .created_at = now},
              .more = {.grant = std::move(params.grant)}};
  if (params.lives_for) key.more.expires_at = now + *params.lives_for;
  return key;
}

Result<void> KeyRing::adopt(const WorkspaceSlug& workspace, std::string_view secret) {
  constexpr std::size_t kIdDigits = 24;
  ApiKeyRow row{.id = {}, .workspace = workspace, .name = "configuration file"};
  set_secret(row, secret);
  // The key gets the same id after every start.
  row.id = *KeyId::parse(cat("key_", row.hash.substr(0, kIdDigits)));
  row.created_at = clock_.now();
  auto found = by_hash_.find(row.hash);
  if (found != by_hash_.end() && adopted_.contains(found->second.key.row.id)) {
    if (found->second.key.row.workspace == workspace) return {};
    return Error(ErrorCode::conflict,
                 cat("the key ", row.prefix, "... is a key of two workspaces: ",
                     found->second.key.row.workspace.view(), " and ", workspace.view()));
  }
  // The configuration file now defines a key that the store has, too: the file's entry replaces the
  // stored one, whose id is no longer valid.
  if (found != by_hash_.end()) {
    const ApiKeyRow& stored = found->second.key.row;
    hash_of_.erase(stored.id);
    superseded_.insert({stored.workspace, stored.id});
  }
  adopted_.insert(row.id);
  enter(std::move(row), {});
  return {};
}

std::string KeyRing::make_secret() {
  constexpr std::size_t kSecretBytes = 32;
  return secret_of(crypto::random_hex(kSecretBytes));
}

std::string KeyRing::secret_of(std::string_view hex) {
  return cat(kSecretPrefix, hex);
}

// The restrictions of a key are durable before the key is, so that no key ever exists without them.
Task<Result<void>> KeyRing::store_record(ApiKeyRow row, KeyRecord record) {
  if (!is_restricted(record)) co_return Result<void>();
  std::vector<RecordChange> changes;
  changes.push_back({.key = record_key(row), .body = to_text(record)});
  ERRAND_CO_CHECK(co_await store_.change_records(std::move(changes)));
  co_return Result<void>();
}

Task<Result<NewKey>> KeyRing::create(WorkspaceSlug workspace, KeyParams params,
                                     std::string secret) {
  KeyView key = make_key(workspace, std::move(params));
  set_secret(key.row, secret);
  ERRAND_CO_CHECK(co_await store_record(key.row, key.more));
  ERRAND_CO_CHECK(co_await store_.add_key(key.row, {}));
  enter(key.row, key.more);
  co_return NewKey{.key = std::move(key), .secret = std::move(secret)};
}

Task<Result<NewKey>> KeyRing::create_once(WorkspaceSlug workspace, KeyParams params,
                                          std::string caller_secret, Idempotency idempotency) {
  KeyView key = make_key(workspace, std::move(params));
  set_secret(key.row, derive_secret(caller_secret, key.row.id));
  ERRAND_CO_CHECK(co_await store_record(key.row, key.more));
  ERRAND_CO_TRY(auto outcome, co_await store_.add_key(key.row, std::move(idempotency)));
  std::string secret = derive_secret(caller_secret, outcome.key.id);
  // Another caller's request made the key, so this caller's secret does not lead to it.
  bool is_anothers = hash_of(secret) != outcome.key.hash;
  bool is_new = outcome.key.id == key.row.id;
  if (!is_new && is_restricted(key.more)) {
    std::vector<RecordChange> changes;
    changes.push_back({.key = record_key(key.row), .body = {}});
    ERRAND_CO_CHECK(co_await store_.change_records(std::move(changes)));
  }
  if (outcome.kind == Creation::conflict || is_anothers) {
    co_return Error(ErrorCode::conflict, "this Idempotency-Key was used for another request")
        .reason("idempotency_conflict");
  }
  if (is_new) enter(outcome.key, key.more);
  const Entry* entry = entry_of(outcome.key.id);
  co_return NewKey{.key = entry ? entry->key : key, .secret = std::move(secret)};
}

std::vector<KeyView> KeyRing::list(const WorkspaceSlug& workspace) const {
  std::vector<KeyView> keys;
  for (const auto& [hash, entry] : by_hash_) {
    if (entry.key.row.workspace == workspace) keys.push_back(entry.key);
  }
  std::sort(keys.begin(), keys.end(),
            [](const KeyView& a, const KeyView& b) { return a.row.id < b.row.id; });
  return keys;
}

bool KeyRing::has_keys(const WorkspaceSlug& workspace) const {
  return std::any_of(by_hash_.begin(), by_hash_.end(), [&](const auto& entry) {
    return entry.second.key.row.workspace == workspace;
  });
}

std::set<WorkspaceSlug> KeyRing::workspaces() const {
  std::set<WorkspaceSlug> out;
  for (const auto& [hash, entry] : by_hash_) out.insert(entry.key.row.workspace);
  return out;
}

Task<Result<void>> KeyRing::revoke(WorkspaceSlug workspace, KeyId id) {
  const Entry* entry = entry_of(id);
  bool is_adopted = entry && entry->key.row.workspace == workspace && adopted_.contains(id);
  // The secret of a superseded key still works, so nobody may be told that the key was revoked.
  if (is_adopted || superseded_.contains({workspace, id})) {
    co_return Error(ErrorCode::conflict, "this key is named by the server's configuration file")
        .reason("key_of_configuration")
        .hint("Remove it from \"workspaces\" in that file and restart the server.");
  }
  WallTime now = clock_.now();
  ERRAND_CO_CHECK(co_await store_.revoke_key(workspace, id, now));
  auto hash = hash_of_.find(id);
  if (hash == hash_of_.end()) co_return Result<void>();
  auto& revoked_at = by_hash_.at(hash->second).key.row.revoked_at;
  if (!revoked_at) revoked_at = now;
  if (on_revoked_) on_revoked_(id);
  co_return Result<void>();
}

void KeyRing::add(const KeyId& key, const RunTotals& totals) {
  auto hash = hash_of_.find(key);
  if (hash == hash_of_.end()) return;
  Entry& entry = by_hash_.at(hash->second);
  entry.key.more.usage.add(totals);
  entry.has_new_use = true;
}

Task<Result<void>> KeyRing::store_uses() {
  std::vector<RecordChange> changes;
  for (auto& [hash, entry] : by_hash_) {
    if (!std::exchange(entry.has_new_use, false) || adopted_.contains(entry.key.row.id)) continue;
    changes.push_back({.key = record_key(entry.key.row), .body = to_text(entry.key.more)});
  }
  if (changes.empty()) co_return Result<void>();
  ERRAND_CO_CHECK(co_await store_.change_records(std::move(changes)));
  co_return Result<void>();
}

}  // namespace errand::engine
