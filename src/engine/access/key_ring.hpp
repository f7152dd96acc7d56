#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/run_ledger.hpp"
#include "async/task.hpp"
#include "base/clock.hpp"
#include "base/id.hpp"
#include "base/result.hpp"
#include "engine/access/key_record.hpp"
#include "run/principal.hpp"
#include "store/store.hpp"

namespace errand::engine {

// What a new key is to be.
struct KeyParams {
  std::string name;
  Grant grant = {};
  std::optional<milliseconds> lives_for = {};  // absent: until it is revoked
};

struct KeyView {
  ApiKeyRow row;
  KeyRecord more;
};

struct NewKey {
  KeyView key;
  std::string secret;  // shown once, never stored
};

// API keys: "mantyx_" and 64 hex digits, of which only a hash is stored. Lives on one home.
class KeyRing final : public agent::RunLedger {
 public:
  KeyRing(Store& store, const Clock& clock, IdSource& ids);

  // Reads the keys from the store; call once before use.
  Task<Result<void>> load();
  const Clock& clock() const { return clock_; }
  bool empty() const { return by_hash_.empty(); }

  // The principal of this secret; nothing for an unknown, expired or revoked secret. Notes the use.
  std::optional<Principal> find(std::string_view secret);

  // Whether the key is still good: not revoked, and not expired.
  bool is_good(const KeyId& key) const;
  // How long the key is good yet; absent: it does not expire.
  std::optional<milliseconds> time_left(const KeyId& key) const;
  // Called with every key that is revoked, at once. There is one listener.
  void on_revoked(std::function<void(const KeyId&)> listener) { on_revoked_ = std::move(listener); }

  // A key that the configuration file names. The key belongs to the file: it is not stored, a
  // stored row for the same secret does not count, and only the file can take the key back.
  // conflict: the file names it for another workspace, too.
  Result<void> adopt(const WorkspaceSlug& workspace, std::string_view secret);

  static std::string make_secret();
  // A secret from 64 hex digits.
  static std::string secret_of(std::string_view hex);
  // `secret` comes from make_secret, or was chosen by the operator. conflict: the key exists.
  Task<Result<NewKey>> create(WorkspaceSlug workspace, KeyParams params, std::string secret);
  // A request that may come twice: an equal one from the same caller gets the same key again. Its
  // secret is derived from the caller's own, because it is kept nowhere.
  // conflict with reason "idempotency_conflict": the Idempotency-Key was used for something else.
  Task<Result<NewKey>> create_once(WorkspaceSlug workspace, KeyParams params,
                                   std::string caller_secret, Idempotency idempotency);
  std::vector<KeyView> list(const WorkspaceSlug& workspace) const;
  bool has_keys(const WorkspaceSlug& workspace) const;
  // All that have keys, in order.
  std::set<WorkspaceSlug> workspaces() const;
  // not_found: no such key in this workspace. conflict with reason "key_of_configuration": the
  // configuration file names it. Revoking twice is fine.
  Task<Result<void>> revoke(WorkspaceSlug workspace, KeyId id);

  // Counts a run for its key, unless the key is no longer there or a program's (see OAuth).
  void add(const KeyId& key, const RunTotals& totals) override;

  // Stores when keys were last used and what for, unless that is stored already. Call it now and
  // then. A killed process loses the uses since the last call; keys that the configuration file
  // names count from the start of the process.
  Task<Result<void>> store_uses();

 private:
  struct Entry {
    KeyView key;
    std::shared_ptr<const Grant> grant;  // null: not restricted
    bool has_new_use = false;
  };

  KeyView make_key(const WorkspaceSlug& workspace, KeyParams params);
  void enter(ApiKeyRow row, KeyRecord more);
  const Entry* entry_of(const KeyId& key) const;
  Task<Result<void>> load_records(WorkspaceSlug workspace);
  Task<Result<void>> store_record(ApiKeyRow row, KeyRecord record);

  Store& store_;
  const Clock& clock_;
  IdSource& ids_;
  std::unordered_map<std::string, Entry> by_hash_;
  std::unordered_map<KeyId, std::string> hash_of_;
  std::set<KeyId> adopted_;
  // Stored keys whose secret the configuration file names.
  std::set<std::pair<WorkspaceSlug, KeyId>> superseded_;
  std::function<void(const KeyId&)> on_revoked_;
};

}  // namespace errand::engine
