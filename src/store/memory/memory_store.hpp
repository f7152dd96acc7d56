#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace errand {

// What a MemoryStore keeps. It outlives the stores made on it, as a disk outlives a process.
struct MemoryStoreData;
std::shared_ptr<MemoryStoreData> make_memory_store_data();

// A Store in memory: durable as long as its data object. Each store made on the same data counts as
// a new process: its epoch is higher than the epochs of the stores before it.
//
// Without a lease's length a store has its data to itself: making it means that every other store
// on the data has ended. With a lease, many stores share the data as nodes of a fleet.
//
// Every call gives way once before it acts, so that callers meet the same interleavings as with a
// store on a disk.
class MemoryStore final : public Store {
 public:
  MemoryStore(std::shared_ptr<MemoryStoreData> data, const Clock& clock,
              std::optional<milliseconds> lease = {});

  std::int64_t epoch() const override { return epoch_; }
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

 private:
  const std::shared_ptr<MemoryStoreData> data_;
  const Clock& clock_;
  const std::optional<milliseconds> lease_;
  const std::int64_t epoch_;
};

}  // namespace errand
