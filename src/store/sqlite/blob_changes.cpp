#include "store/sqlite/blob_changes.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kFind = "SELECT 1 FROM blobs WHERE hash = ?";
constexpr const char* kInsert = "INSERT OR IGNORE INTO blobs (hash, bytes) VALUES (?, ?)";
constexpr const char* kInsertUse = "INSERT OR IGNORE INTO blob_users (run, hash) VALUES (?, ?)";
constexpr const char* kFirstUse =
    "SELECT used.hash, coalesce(length(bytes), 0) FROM blob_users AS used "
    "LEFT JOIN blobs USING (hash) WHERE run = ? LIMIT 1";
constexpr const char* kRemoveUse = "DELETE FROM blob_users WHERE run = ? AND hash = ?";
constexpr const char* kRemoveUnused =
    "DELETE FROM blobs WHERE hash = ?1 "
    "AND NOT EXISTS (SELECT 1 FROM blob_users WHERE hash = ?1)";

}  // namespace

BlobChanges::BlobChanges(Database& database)
    : find_(database, kFind),
      insert_(database, kInsert),
      insert_use_(database, kInsertUse),
      first_use_(database, kFirstUse),
      remove_use_(database, kRemoveUse),
      remove_unused_(database, kRemoveUnused) {}

Result<void> BlobChanges::check(const std::vector<RunBlob>& blobs) {
  for (const RunBlob& blob : blobs) {
    if (blob.bytes) continue;
    Rows rows = find_.query(blob.hash);
    ERRAND_TRY(bool found, rows.next());
    if (!found) return Error(ErrorCode::not_found, "a file of the run is no longer there");
  }
  return {};
}

Result<void> BlobChanges::keep(const RunId& run, const std::vector<RunBlob>& blobs) {
  for (const RunBlob& blob : blobs) {
    if (blob.bytes) ERRAND_CHECK(insert_.run(blob.hash, Blob{*blob.bytes}));
    ERRAND_CHECK(insert_use_.run(run, blob.hash));
  }
  return {};
}

Result<std::size_t> BlobChanges::release(const RunId& run, std::size_t cost_max) {
  std::size_t cost = 0;
  while (cost < cost_max) {
    ERRAND_TRY(auto use, first_use(run));
    if (!use) break;
    ERRAND_CHECK(remove_use_.run(run, use->hash));
    ERRAND_CHECK(remove_unused_.run(use->hash));
    cost += use->cost;
  }
  return cost;
}

Result<std::optional<BlobChanges::Use>> BlobChanges::first_use(const RunId& run) {
  Rows rows = first_use_.query(run);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return std::optional<Use>();
  const auto bytes = static_cast<std::size_t>(rows.integer(1));
  return std::optional(Use{.hash = rows.text(0), .cost = 1 + bytes / kSegmentBytesMax});
}

}  // namespace errand::sqlite
