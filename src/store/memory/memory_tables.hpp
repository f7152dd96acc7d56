#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "store/memory/memory_sessions.hpp"
#include "store/records.hpp"

namespace errand {

// The data of a MemoryStore, and the changes to it. The functions are the Store's, as plain calls;
// the caller holds the mutex.
struct MemoryStoreData {
 public:
  struct StoredRun {
    RunRow row;
    std::vector<SegmentPtr> log;
    std::map<std::string, Mailbox> mail;                              // by slot
    std::map<std::string, std::shared_ptr<const std::string>> blobs;  // by hash
    StoreTime ended_at{};
  };

  std::mutex mutex;  // protects everything below; never held over a co_await

  // A process starts. Without a lease it is alone: every other one has ended, and the clock goes
  // on where it was last saved. Else they share one clock, and each keeps its runs by its lease.
  std::int64_t start_process(SteadyTime steady_now, std::optional<milliseconds> lease);
  StoreTime now(SteadyTime steady_now) const { return clock_base_ + since_anchor(steady_now); }
  void save_clock(StoreTime now) { saved_clock_ = std::max(saved_clock_, now); }

  // Who calls, and when.
  struct Sender {
    std::int64_t epoch = 0;
    StoreTime now{};
    WallTime wall_now{};
  };

  Result<CreateOutcome> create(NewRun run, const Sender& sender);
  Result<Appended> append(const Commit& commit, StoreTime now);
  MailOutcome mail(Mail mail, const Sender& sender);
  CallClaimOutcome claim_call(const CallClaim& claim, StoreTime now);
  std::vector<Mailbox> pending_calls(const CallFilter& filter, StoreTime now) const;

  ClaimedRuns claim(std::int64_t epoch, const ClaimRuns& params, StoreTime now);
  // The mail for this process's runs that others wrote since the last call.
  std::vector<Mailbox> renew(std::int64_t epoch, StoreTime lease_until);
  Result<void> release(const RunKey& run, std::int64_t epoch);
  void leave(std::int64_t epoch) { left_.insert(epoch); }

  Result<RunRow> find(const RunKey& run) const;
  std::vector<RunRow> list(const RunFilter& filter) const;
  std::vector<Mailbox> mailboxes(const RunKey& run) const;
  std::vector<SegmentPtr> read_events(const RunKey& run, EventSeq after,
                                      std::size_t bytes_max) const;
  Result<std::string> read_blob(const RunKey& run, const std::string& hash) const;
  std::vector<RunRow> all_runs(const std::optional<RunKey>& after, std::size_t limit) const;
  std::vector<SegmentPtr> read_log(const RunKey& run, EventSeq after, std::size_t bytes_max) const;
  std::vector<SegmentPtr> read_journal(const RunKey& run, EventSeq after,
                                       std::size_t bytes_max) const;
  PruneOutcome prune(const Prune& prune, StoreTime now);
  std::size_t remove_runs(const WorkspaceSlug& workspace, const std::vector<RunId>& runs);

  Result<CreateSessionOutcome> create_session(NewSession session, StoreTime now);
  Result<SessionRow> find_session(const SessionKey& key) const;
  std::vector<SessionRow> list_sessions(const SessionFilter& filter) const {
    return sessions_.list(filter);
  }
  std::int64_t count_sessions(const SessionFilter& filter) const { return sessions_.count(filter); }
  std::int64_t count_waiting_for_turn() const { return sessions_.count_waiting(); }
  Result<std::vector<SessionEntry>> read_newest_history(const SessionKey& key, std::int64_t after,
                                                        std::int64_t until,
                                                        std::size_t bytes_max) const;
  Result<std::vector<SessionEntry>> read_history(const SessionKey& key, std::int64_t after,
                                                 std::int64_t until, std::size_t bytes_max) const;
  Result<EndedSession> end_session(const SessionKey& key, const std::string& reason,
                                   const Sender& sender);
  Result<void> remove_session(const SessionKey& key);
  std::vector<RunRow> session_runs(const SessionKey& key, const std::optional<RunId>& before,
                                   std::size_t limit) const;

  RecordsOutcome change_records(const std::vector<RecordChange>& changes, WallTime now);
  Result<Record> find_record(const RecordKey& key) const;
  std::vector<Record> list_records(const RecordFilter& filter) const;

  Result<AddKeyOutcome> add_key(ApiKeyRow key, const Idempotency& idempotency, StoreTime now);
  const std::vector<ApiKeyRow>& keys() const { return api_keys_; }
  Result<void> revoke_key(const WorkspaceSlug& workspace, const KeyId& id, WallTime at);

 private:
  struct Process {
    StoreTime lease_until = StoreTime::max();
    std::set<std::pair<RunId, std::string>> mail;  // told to it, or written by itself
  };
  struct Made {
    std::string subject;  // id of the run, session or key
    std::string fingerprint;
    StoreTime at{};
  };

  milliseconds since_anchor(SteadyTime steady_now) const {
    return std::chrono::duration_cast<milliseconds>(steady_now - clock_anchor_);
  }
  const StoredRun* find_run(const RunKey& run) const;
  // A page of a log, of which `part` gives what is wanted of each segment.
  template <class Part>
  std::vector<SegmentPtr> read_page(const RunKey& run, EventSeq after, std::size_t bytes_max,
                                    Part part) const;
  StoredRun* find_run(const RunKey& run);
  // The bytes that a workspace has under this hash; nullptr if there are none.
  std::shared_ptr<const std::string> find_blob(const WorkspaceSlug& workspace,
                                               const std::string& hash) const;
  // not_found: a blob comes without bytes, and the workspace does not have it.
  Result<void> check_blobs(const WorkspaceSlug& workspace, const std::vector<RunBlob>& blobs) const;
  void keep_blobs(StoredRun& run, const std::vector<RunBlob>& blobs);
  // A new run gets the turn or waits for it; it was not refused.
  void join_session(StoredRun& run, const SessionTurn& turn, const Sender& sender,
                    CreateOutcome& outcome);
  // A run ends. Gives the run that gets the turn.
  std::optional<RunId> leave_session(const StoredRun& run, const Commit& commit);
  void note_end(StoredRun& run, StoreTime now);
  void remove_records_of(const RunKey& run);
  Mailbox* find_open_call(const WorkspaceSlug& workspace, const std::string& slot);
  bool is_claimable(const StoredRun& run, std::int64_t epoch, StoreTime now) const;
  // What an equal or another request with this key has made; nothing if it is new.
  const Made* find_made(const WorkspaceSlug& workspace, const Idempotency& idempotency,
                        StoreTime now) const;
  void remember_made(const WorkspaceSlug& workspace, const Idempotency& idempotency,
                     std::string subject, StoreTime now);

  StoreTime clock_base_{};
  SteadyTime clock_anchor_{};
  StoreTime saved_clock_{};
  std::int64_t last_epoch_ = 0;
  std::map<std::int64_t, Process> processes_;  // processes that may be alive, by epoch
  std::set<std::int64_t> left_;                // epochs of processes that stopped on purpose
  std::map<RunId, StoredRun> runs_;
  std::set<EndedPlace> ended_;  // of the runs that have ended
  std::map<std::pair<WorkspaceSlug, std::string>, Made> idempotency_;
  std::vector<ApiKeyRow> api_keys_;  // by id
  // What runs hold, to be shared; what none of them holds any more is gone.
  std::map<std::pair<WorkspaceSlug, std::string>, std::weak_ptr<const std::string>> blobs_;
  std::map<RecordKey, Record> records_;
  MemorySessions sessions_;
};

}  // namespace errand
