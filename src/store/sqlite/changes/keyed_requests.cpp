#include "store/sqlite/changes/keyed_requests.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kFindRequest =
    "SELECT subject, fingerprint FROM idempotency WHERE workspace = ? AND key = ? AND at > ?";
constexpr const char* kRemember =
    "INSERT OR REPLACE INTO idempotency (workspace, key, subject, fingerprint, at) "
    "VALUES (?, ?, ?, ?, ?)";
constexpr const char* kForgetRequests =
    "DELETE FROM idempotency INDEXED BY made WHERE at = ? AND subject = ?";
constexpr const char* kRemoveOld =
    "DELETE FROM idempotency WHERE (workspace, key) IN (SELECT workspace, key FROM idempotency "
    "INDEXED BY made WHERE at <= ? ORDER BY at LIMIT ?)";

}  // namespace

KeyedRequests::KeyedRequests(Database& database)
    : database_(database),
      find_(database, kFindRequest),
      remember_(database, kRemember),
      forget_(database, kForgetRequests),
      remove_old_(database, kRemoveOld) {}

Result<std::optional<KeyedRequests::Made>> KeyedRequests::find(const WorkspaceSlug& workspace,
                                                               const Idempotency& idempotency,
                                                               StoreTime now) {
  if (idempotency.key.empty()) return std::optional<Made>();
  Rows rows = find_.query(workspace, idempotency.key, now - kIdempotencyKept);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return std::optional<Made>();
  return std::optional(
      Made{.subject = rows.text(0), .is_equal = rows.view(1) == idempotency.fingerprint});
}

Result<void> KeyedRequests::remember(const WorkspaceSlug& workspace, const Idempotency& idempotency,
                                     std::string_view subject, StoreTime now) {
  if (idempotency.key.empty()) return {};
  return remember_.run(workspace, idempotency.key, subject, Blob{idempotency.fingerprint}, now);
}

Result<void> KeyedRequests::forget(StoreTime at, const RunId& subject) {
  return forget_.run(at, subject);
}

Result<std::size_t> KeyedRequests::remove_old(StoreTime now, std::size_t limit) {
  ERRAND_CHECK(remove_old_.run(now - kIdempotencyKept, limit));
  return static_cast<std::size_t>(database_.changes());
}

}  // namespace errand::sqlite
