#include "store/sqlite/changes/blob_changes.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kFindBlob = "SELECT 1 FROM blobs WHERE workspace = ? AND hash = ?";
constexpr const char* kInsertBlob =
    "INSERT OR IGNORE INTO blobs (workspace, hash, bytes) VALUES (?, ?, ?)";
constexpr const char* kInsertUse =
    "INSERT OR IGNORE INTO blob_users (run, hash, workspace) VALUES (?, ?, ?)";
constexpr const char* kFirstUse =
    "SELECT used.workspace, used.hash, coalesce(length(bytes), 0) FROM blob_users AS used "
    "LEFT JOIN blobs USING (workspace, hash) WHERE run = ? LIMIT 1";
constexpr const char* kRemoveUse = "DELETE FROM blob_users WHERE run = ? AND hash = ?";
constexpr const char* kRemoveUnused =
    "DELETE FROM blobs WHERE workspace = ?1 AND hash = ?2 "
    "AND NOT EXISTS (SELECT 1 FROM blob_users WHERE workspace = ?1 AND hash = ?2)";

}  // namespace

BlobChanges::BlobChanges(Database& database)
    : find_(database, kFindBlob),
      insert_(database, kInsertBlob),
      insert_use_(database, kInsertUse),
      first_use_(database, kFirstUse),
      remove_use_(database, kRemoveUse),
      remove_unused_(database, kRemoveUnused) {}

Result<void> BlobChanges::check(const WorkspaceSlug& workspace, const std::vector<RunBlob>& blobs) {
  for (const RunBlob& blob : blobs) {
    if (blob.bytes) continue;
    Rows rows = find_.query(workspace, blob.hash);
    ERRAND_TRY(bool found, rows.next());
    if (!found) return Error(ErrorCode::not_found, "a file of the run is no longer there");
  }
  return {};
}

Result<void> BlobChanges::keep(const RunKey& run, const std::vector<RunBlob>& blobs) {
  for (const RunBlob& blob : blobs) {
    if (blob.bytes) ERRAND_CHECK(insert_.run(run.workspace, blob.hash, Blob{*blob.bytes}));
    ERRAND_CHECK(insert_use_.run(run.run, blob.hash, run.workspace));
  }
  return {};
}

Result<std::size_t> BlobChanges::release(const RunId& run, std::size_t cost_max) {
  std::size_t cost = 0;
  while (cost < cost_max) {
    ERRAND_TRY(auto use, first_use(run));
    if (!use) break;
    ERRAND_CHECK(remove_use_.run(run, use->hash));
    ERRAND_CHECK(remove_unused_.run(use->workspace, use->hash));
    cost += use->cost;
  }
  return cost;
}

Result<std::optional<BlobChanges::Use>> BlobChanges::first_use(const RunId& run) {
  Rows rows = first_use_.query(run);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return std::optional<Use>();
  const auto bytes = static_cast<std::size_t>(rows.integer(2));
  return std::optional(Use{.workspace = rows.id<WorkspaceSlug>(0),
                           .hash = rows.text(1),
                           .cost = 1 + bytes / kSegmentBytesMax});
}

}  // namespace errand::sqlite
