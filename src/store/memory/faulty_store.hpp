#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "store/store.hpp"

namespace errand {

// A Store whose writes, and reads of blobs, fail when a test says so. What else it reads is told
// late: by then more may have been written, as with a store on another thread.
class FaultyStore final : public Store {
 public:
  enum class Kind {
    create,
    append,
    mail,
    claim_call,
    renew,
    leave,
    read,
    read_blob,
    create_session,
    end_session,
    remove_runs,
    remove_session,
    change_records
  };
  struct Operation {
    Kind kind = Kind::create;
    std::uint64_t number = 0;  // 1, 2, 3 ... over all kinds
  };

  enum class Fault {
    none,
    fail_before,  // nothing is done; unavailable
    fail_after,   // it is done, but the caller gets outcome_unknown
    // The process dies: the call never returns. Its task stays where it is until it is cancelled
    // or its io_context is destroyed.
    stop_before,
    stop_after
  };

  // Asked once for each of these, on the caller's home.
  using Decide = std::function<Fault(Operation)>;

  FaultyStore(Store& store, Decide decide);

  std::int64_t epoch() const override { return store_.epoch(); }
  StoreTime now() const override { return store_.now(); }
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
  Task<Result<std::string>> read_journal(RunKey run) override;
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
  template <class T>
  Task<Result<T>> with_fault(Kind kind, Task<Result<T>> call);
  template <class T>
  static Task<Result<T>> late(Task<Result<T>> call);

  Store& store_;
  const Decide decide_;
  std::atomic<std::uint64_t> operations_ = 0;
};

}  // namespace errand
