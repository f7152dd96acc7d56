#include "store/sqlite/changes/owner_changes.hpp"

#include <utility>

#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

// At most this many ended processes are remembered; their runs have been claimed long before.
constexpr std::int64_t kLeftMax = 1000;

// Runs from two indices, each in the order of the result: SQLite merges them, and reads no more
// rows of either than it returns.
constexpr const char* kFindClaimable =
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs INDEXED BY at_work "
    "WHERE finished = 0 AND status <> 0 AND (workspace, id) > (?1, ?2) AND epoch < ?3 "
    "AND format <= ?4 "
    "UNION ALL "
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs INDEXED BY queued "
    "WHERE status = 0 AND (workspace, id) > (?1, ?2) AND epoch < ?3 AND format <= ?4 "
    "ORDER BY workspace, id LIMIT ?5";
static_assert(static_cast<int>(RunStatus::queued) == 0);
constexpr const char* kFindOneClaimable =
    "SELECT *, (SELECT session FROM session_runs WHERE run = id) FROM runs "
    "WHERE workspace = ?1 AND id = ?2 AND finished = 0 AND epoch < ?3 AND format <= ?4";
constexpr const char* kCountClaimable =
    "SELECT (SELECT count(*) FROM runs INDEXED BY at_work WHERE finished = 0 AND status <> 0 AND "
    "epoch < ?1 AND format <= ?2) + (SELECT count(*) FROM runs INDEXED BY queued WHERE status = 0 "
    "AND epoch < ?1 AND format <= ?2)";
constexpr const char* kSetEpoch = "UPDATE runs SET epoch = ? WHERE workspace = ? AND id = ?";
constexpr const char* kRelease =
    "UPDATE runs SET epoch = 0 WHERE workspace = ? AND id = ? AND epoch = ? AND finished = 0";
constexpr const char* kLeave = "INSERT OR IGNORE INTO meta VALUES ('left ' || ?1, ?1)";
constexpr const char* kForgetLeft = "DELETE FROM meta WHERE key LIKE 'left %' AND value < ?";
constexpr const char* kFindLeft = "SELECT 1 FROM meta WHERE key = 'left ' || ?";

}  // namespace

OwnerChanges::OwnerChanges(Database& database, const Timekeeper& time, std::int64_t epoch,
                           MailChanges& mail)
    : database_(database),
      time_(time),
      epoch_(epoch),
      mail_(mail),
      find_claimable_(database, kFindClaimable),
      find_one_(database, kFindOneClaimable),
      count_claimable_(database, kCountClaimable),
      set_epoch_(database, kSetEpoch),
      release_(database, kRelease),
      leave_(database, kLeave),
      forget_left_(database, kForgetLeft),
      find_left_(database, kFindLeft) {}

Result<ClaimedRuns> OwnerChanges::claim(const ClaimRuns& params) {
  ERRAND_TRY(auto rows, find(params));
  const bool has_more = rows.size() > params.limit;
  if (has_more) rows.pop_back();
  const StoreTime deadline_min = time_.now() + params.grace;
  std::map<std::int64_t, bool> left;  // by epoch; only few processes have owned these runs
  ClaimedRuns claimed;
  if (!params.after) {
    claimed.found = rows.size();
    if (has_more) {
      ERRAND_TRY(claimed.found, count_claimable());
    }
  }
  for (RunRow& row : rows) {
    auto known = left.find(row.epoch);
    if (known == left.end()) {
      ERRAND_TRY(bool has, has_left(row.epoch));
      known = left.emplace(row.epoch, has).first;
    }
    ERRAND_CHECK(set_epoch_.run(epoch_, row.workspace, row.id));
    const std::int64_t former_epoch = std::exchange(row.epoch, epoch_);
    ERRAND_TRY(auto mail, mail_.prolong(row.key(), deadline_min));
    claimed.runs.push_back({.row = std::move(row),
                            .mail = std::move(mail),
                            .former_epoch = former_epoch,
                            .was_left = known->second});
  }
  if (has_more) claimed.next = claimed.runs.back().row.key();
  return claimed;
}

// Returns one run more than the limit, if there is one.
Result<std::vector<RunRow>> OwnerChanges::find(const ClaimRuns& params) {
  if (params.only) {
    return read_runs(find_one_.query(params.only->workspace, params.only->run, epoch_, kRunFormat));
  }
  const RunKey after = params.after.value_or(RunKey());
  return read_runs(
      find_claimable_.query(after.workspace, after.run, epoch_, kRunFormat, params.limit + 1));
}

Result<std::size_t> OwnerChanges::count_claimable() {
  Rows rows = count_claimable_.query(epoch_, kRunFormat);
  ERRAND_TRY(bool has, rows.next());
  return has ? static_cast<std::size_t>(rows.integer(0)) : 0;
}

Result<bool> OwnerChanges::has_left(std::int64_t epoch) {
  if (epoch == 0) return true;  // it was released
  Rows rows = find_left_.query(epoch);
  return rows.next();
}

Result<void> OwnerChanges::release(const RunKey& run, std::int64_t epoch) {
  ERRAND_CHECK(release_.run(run.workspace, run.run, epoch));
  if (database_.changes() > 0) return {};
  return Error(ErrorCode::conflict, "the run is not owned with this epoch");
}

Result<void> OwnerChanges::leave() {
  ERRAND_CHECK(leave_.run(epoch_));
  return forget_left_.run(epoch_ - kLeftMax);
}

}  // namespace errand::sqlite
