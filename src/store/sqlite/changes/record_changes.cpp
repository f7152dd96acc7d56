#include "store/sqlite/changes/record_changes.hpp"

#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kFindVersion =
    "SELECT version FROM records WHERE workspace = ? AND kind = ? AND id = ?";
constexpr const char* kPut =
    "INSERT INTO records VALUES (?1, ?2, ?3, 1, ?4, ?4, ?5) ON CONFLICT DO UPDATE "
    "SET version = version + 1, updated_at = excluded.updated_at, body = excluded.body "
    "RETURNING version, created_at";
constexpr const char* kRemoveOneRecord =
    "DELETE FROM records WHERE workspace = ? AND kind = ? AND id = ?";

}  // namespace

RecordChanges::RecordChanges(Database& database)
    : find_version_(database, kFindVersion),
      put_(database, kPut),
      remove_(database, kRemoveOneRecord) {}

Result<RecordsOutcome> RecordChanges::change(const std::vector<RecordChange>& changes,
                                             WallTime now) {
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (!changes[i].expected_version) continue;
    ERRAND_TRY(std::int64_t version, version_of(changes[i].key));
    if (version != *changes[i].expected_version) return RecordsOutcome{.records = {}, .refused = i};
  }
  RecordsOutcome outcome;
  for (const RecordChange& change : changes) {
    const RecordKey& key = change.key;
    if (change.body) {
      ERRAND_TRY(Record record, put(key, *change.body, now));
      outcome.records.push_back(std::move(record));
    } else {
      ERRAND_CHECK(remove_.run(key.workspace, key.kind, key.id));
    }
  }
  return outcome;
}

Result<std::int64_t> RecordChanges::version_of(const RecordKey& key) {
  Rows rows = find_version_.query(key.workspace, key.kind, key.id);
  ERRAND_TRY(bool found, rows.next());
  return found ? rows.integer(0) : 0;
}

Result<Record> RecordChanges::put(const RecordKey& key, const std::string& body, WallTime now) {
  Rows rows = put_.query(key.workspace, key.kind, key.id, now, Blob{body});
  ERRAND_TRY([[maybe_unused]] bool found, rows.next());
  Record record{.key = key,
                .version = rows.integer(0),
                .created_at = rows.time(1),
                .updated_at = now,
                .body = body};
  ERRAND_CHECK(rows.next());  // the statement is done only at its end
  return record;
}

}  // namespace errand::sqlite
