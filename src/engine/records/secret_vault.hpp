#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "crypto/seal.hpp"
#include "engine/records/master_keys.hpp"
#include "run/tools/tool_set.hpp"
#include "store/named_records.hpp"
#include "store/store.hpp"
#include "tool/secrets.hpp"

namespace errand::engine {

// What may be told about a secret.
struct SecretInfo {
  std::string name;
  std::int64_t version = 0;
  WallTime created_at{};
  WallTime updated_at{};
};

struct SecretPage {
  std::vector<SecretInfo> secrets;
  std::string next;  // empty: there are no more
};

struct SavedSecret {
  SecretInfo info;
  bool is_new = false;
};

// The secrets of all workspaces, sealed at rest. Each value is sealed under the store's data key,
// with workspace, kind and name as context; the data key is a record, sealed under a master key
// that lives outside the store. So a copy of the store reveals nothing, and a new master key means
// one record to write. Lives on the engine's home.
//
// unavailable with the reason "secret_key_missing" or "secret_key_wrong": the master key is gone,
// or is another one. conflict with the reason "secret_lost": the value was sealed under a data key
// that was given up. conflict with the reason NamedRecords::kVersionMismatch: see there.
class SecretVault final : public SecretSource {
 public:
  static constexpr std::size_t kValueBytesMin = 4;  // a shorter one would be blotted out everywhere
  static constexpr std::size_t kValueBytesMax = 64U * 1024;

  // They outlive this.
  SecretVault(Store& store, MasterKeys& keys);

  // Durable when it returns. `expected`: see RecordChange.
  Task<Result<SavedSecret>> put(WorkspaceSlug workspace, std::string name, std::string value,
                                ExpectedVersion expected);
  // A secret that must be new. conflict with the reason "name_taken": the secret exists, and
  // another request made it.
  Task<Result<SavedSecret>> create(WorkspaceSlug workspace, std::string name, std::string value,
                                   Idempotency idempotency);
  Task<Result<SecretInfo>> info(WorkspaceSlug workspace, std::string name);
  Task<Result<SecretPage>> list(WorkspaceSlug workspace, std::string after, std::size_t limit);
  Task<Result<void>> remove(WorkspaceSlug workspace, std::string name, ExpectedVersion expected);

  Task<Result<std::string>> find(WorkspaceSlug workspace, std::string name) override;
  Task<Result<std::string>> unseal_header(WorkspaceSlug workspace, std::string header,
                                          std::string sealed) override;

  // For other kinds of records that hold a secret; `kind` and `name` are the record's.
  Task<Result<std::string>> seal_value(WorkspaceSlug workspace, std::string kind, std::string name,
                                       std::string value);
  Task<Result<std::string>> unseal_value(WorkspaceSlug workspace, std::string kind,
                                         std::string name, std::string sealed);

  // Values of headers that callers give with a tool, for journals and records to keep. Values that
  // only name secrets, and sealed values, stay as they are.
  Task<Result<ToolSetPtr>> seal_headers(WorkspaceSlug workspace, ToolSetPtr tools);
  // The same for "tools" as JSON.
  Task<Result<json::Array>> seal_headers(WorkspaceSlug workspace, json::Array tools);

  // Seals the data key under the current master key. False: it is already.
  Task<Result<bool>> rewrap();
  // Gives up everything that was sealed so far, because its master key is lost.
  Task<Result<void>> start_anew();

 private:
  struct DataKey {
    std::string id;
    crypto::SealKey key;
  };
  enum class Need { to_read, to_write };

  Task<Result<void>> load(Need need);
  Task<Result<void>> make_data_key(ExpectedVersion expected);
  Result<DataKey> unwrap(const Record& record, const std::vector<crypto::SealKey>& masters) const;
  // A line of text. Only after load().
  std::string seal(std::string_view plain, std::string_view context) const;
  Result<std::string> unseal(std::string_view sealed, std::string_view context) const;
  void seal_header(const WorkspaceSlug& workspace, std::string_view name, std::string& value) const;
  std::string wrapped(const DataKey& data, const crypto::SealKey& master) const;
  Task<Result<SavedSecret>> write(WorkspaceSlug workspace, std::string name, std::string value,
                                  ExpectedVersion expected, std::string mark);
  // Ties a secret to the request that made it, without telling anything about its value.
  std::string mark_of(const Idempotency& idempotency) const;

  Store& store_;
  MasterKeys& masters_;
  std::optional<DataKey> data_;
};

}  // namespace errand::engine
