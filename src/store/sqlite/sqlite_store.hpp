#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "base/log.hpp"
#include "store/store.hpp"

namespace errand {

// Kept for the runs that are there, so that they can go on and end when no more are taken.
constexpr std::int64_t kReserveBytes = 64 * 1024 * 1024;

struct SqliteOptions {
  std::string path;  // the database file, made if absent; its folder must exist
  // Outlive the store, as do the homes of its callers.
  const Clock& clock;
  BlockingPool& pool;  // where reads run
  Log& log;
  std::int64_t pages_max = 0;  // the size the file may grow to, in pages of 4 KB; 0: no limit
  std::int64_t reserve_bytes = kReserveBytes;
};

// A Store in one SQLite file, for one process: writes go through one thread that groups them into
// commits, reads through the blocking pool. Each opening is a new epoch.
//
// When little room is left, no more runs are created; when no room is left, all writes fail with
// unavailable (reason "disk_full"). Either works again once there is room. A damaged file gives
// unavailable with reason "store_damaged". When the disk fails to keep writes (a failed fsync), the
// process ends.
class SqliteStore final : public Store {
 public:
  // conflict: another process has the file open. unsupported: a newer program wrote it.
  // unavailable: the file cannot be opened or written, or is not a database.
  static Result<std::unique_ptr<SqliteStore>> open(SqliteOptions options);
  ~SqliteStore() override;  // makes queued writes durable, then closes the file
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  std::int64_t epoch() const override;
  StoreTime now() const override;

  Task<Result<CreateOutcome>> create(NewRun run) override;
  Task<Result<Appended>> append(Commit commit) override;
  Task<Result<MailOutcome>> mail(Mail mail) override;
  Task<Result<CallClaimOutcome>> claim_call(CallClaim claim) override;
  Task<Result<std::vector<Mailbox>>> pending_calls(CallFilter filter) override;
  Task<Result<ClaimedRuns>> claim(ClaimRuns params) override;
  Task<Result<Renewal>> renew() override;
  Task<Result<void>> release(RunKey run, std::int64_t epoch) override;
  Task<Result<void>> leave() override;
  Task<Result<RunRow>> find(RunKey run) override;
  Task<Result<std::vector<RunRow>>> list(RunFilter filter) override;
  Task<Result<std::vector<Mailbox>>> mailboxes(RunKey run) override;
  Task<Result<std::vector<SegmentPtr>>> read_events(RunKey run, EventSeq after,
                                                    std::size_t bytes_max) override;
  Task<Result<std::vector<SegmentPtr>>> read_journal(RunKey run, EventSeq after,
                                                     std::size_t bytes_max) override;
  Task<Result<std::string>> read_blob(RunKey run, std::string hash) override;
  Task<Result<std::vector<RunRow>>> all_runs(std::optional<RunKey> after,
                                             std::size_t limit) override;
  Task<Result<std::vector<SegmentPtr>>> read_log(RunKey run, EventSeq after,
                                                 std::size_t bytes_max) override;
  Task<Result<PruneOutcome>> prune(Prune prune) override;
  Task<Result<std::size_t>> remove_runs(WorkspaceSlug workspace, std::vector<RunId> runs) override;
  Task<Result<CreateSessionOutcome>> create_session(NewSession session) override;
  Task<Result<SessionRow>> find_session(SessionKey session) override;
  Task<Result<std::vector<SessionRow>>> list_sessions(SessionFilter filter) override;
  Task<Result<std::int64_t>> count_sessions(SessionFilter filter) override;
  Task<Result<std::int64_t>> count_waiting_for_turn() override;
  Task<Result<std::vector<SessionEntry>>> read_newest_history(SessionKey session,
                                                              std::int64_t after,
                                                              std::int64_t until,
                                                              std::size_t bytes_max) override;
  Task<Result<std::vector<SessionEntry>>> read_history(SessionKey session, std::int64_t after,
                                                       std::int64_t until,
                                                       std::size_t bytes_max) override;
  Task<Result<EndedSession>> end_session(SessionKey session, std::string reason) override;
  Task<Result<void>> remove_session(SessionKey session) override;
  Task<Result<std::vector<RunRow>>> session_runs(SessionKey session, std::optional<RunId> before,
                                                 std::size_t limit) override;
  Task<Result<RecordsOutcome>> change_records(std::vector<RecordChange> changes) override;
  Task<Result<Record>> find_record(RecordKey key) override;
  Task<Result<std::vector<Record>>> list_records(RecordFilter filter) override;
  Task<Result<AddKeyOutcome>> add_key(ApiKeyRow key, Idempotency idempotency) override;
  Task<Result<std::vector<ApiKeyRow>>> list_keys() override;
  Task<Result<void>> revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) override;
  Task<Result<void>> ping() override;

  StoreCounts counts() const override;

 private:
  struct Parts;
  explicit SqliteStore(std::unique_ptr<Parts> parts);

  template <class F>
  auto read(F query);

  const std::unique_ptr<Parts> parts_;
};

}  // namespace errand
