#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "async/task.hpp"
#include "base/id.hpp"
#include "base/result.hpp"
#include "store/idempotency.hpp"
#include "store/store.hpp"

namespace errand {

// One version of a named record.
struct NamedRecord {
  std::string id;  // never changes
  std::string name;
  std::int64_t version = 0;
  WallTime created_at{};  // of the record
  WallTime updated_at{};  // of this version
  std::string body;
};

struct SavedRecord {
  NamedRecord record;
  bool is_new = false;
};

// A page of a list. `next` is where the next page begins; empty: there is none.
struct NamedRecordPage {
  std::vector<NamedRecord> records;
  std::string next;
};

// The version that a change builds on: "0" for a record that must be new. Absent: any.
using ExpectedVersion = std::optional<std::int64_t>;

// Letters, digits, dots, underscores and dashes.
constexpr std::size_t kRecordNameCharsMax = 64;
bool is_valid_record_name(std::string_view name);

// Records of one kind that have names, such as agents. A name is unique in its workspace; ids and
// names may be used alike to find a record. Replacing one makes a new version, and the latest
// kVersionsKept can still be read.
//
// A record is kept under (kind, id), its versions under (kind_version, id.N), and its name under
// (kind_name, name). All of them change together.
//
// not_found: no such record. conflict with the reason kVersionMismatch: the version there is not
// the expected one. conflict with the reason "name_taken": another record has the name.
class NamedRecords final {
 public:
  static constexpr std::int64_t kVersionsKept = 100;
  static constexpr std::size_t kPageBytesMax = 4U * 1024 * 1024;
  static constexpr std::string_view kVersionMismatch = "version_mismatch";

  // `store` and `ids` outlive this. Ids begin with the kind: "agent_...".
  NamedRecords(Store& store, IdSource& ids, std::string kind);

  // conflict with the reason "idempotency_conflict": the key was used for something else. An equal
  // request gets the record that the first one made.
  Task<Result<SavedRecord>> create(WorkspaceSlug workspace, std::string name, std::string body,
                                   Idempotency idempotency);
  // Replaces the record with this id or name, or makes one if `id_or_name` is the name of none.
  Task<Result<SavedRecord>> put(WorkspaceSlug workspace, std::string id_or_name, std::string name,
                                std::string body, ExpectedVersion expected);
  Task<Result<void>> remove(WorkspaceSlug workspace, std::string id_or_name,
                            ExpectedVersion expected);

  Task<Result<NamedRecord>> find(WorkspaceSlug workspace, std::string id_or_name);
  // One of the versions that are kept.
  Task<Result<NamedRecord>> find_version(WorkspaceSlug workspace, std::string id,
                                         std::int64_t version);
  // The latest first.
  Task<Result<std::vector<NamedRecord>>> versions(WorkspaceSlug workspace, std::string id_or_name);
  // By id, which is by age. A page holds about kPageBytesMax at most, and at least one record.
  Task<Result<NamedRecordPage>> list(WorkspaceSlug workspace, std::string after, std::size_t limit);

 private:
  RecordKey key(const WorkspaceSlug& workspace, std::string id) const;
  RecordKey version_key(const WorkspaceSlug& workspace, std::string_view id,
                        std::int64_t version) const;
  RecordKey name_key(const WorkspaceSlug& workspace, std::string name) const;
  Task<Result<SavedRecord>> make(WorkspaceSlug workspace, std::string id, std::string name,
                                 std::string body, std::string fingerprint);
  // One attempt. conflict with the reason kVersionMismatch: another writer was faster.
  Task<Result<SavedRecord>> replace(WorkspaceSlug workspace, NamedRecord known, std::string name,
                                    std::string body);
  Error not_there(std::string_view id_or_name) const;

  Store& store_;
  IdSource& ids_;
  const std::string kind_;
};

}  // namespace errand
