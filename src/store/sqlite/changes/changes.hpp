#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "store/sqlite/changes/blob_changes.hpp"
#include "store/sqlite/changes/disk_room.hpp"
#include "store/sqlite/changes/keyed_requests.hpp"
#include "store/sqlite/changes/label_changes.hpp"
#include "store/sqlite/changes/mail_changes.hpp"
#include "store/sqlite/changes/owner_changes.hpp"
#include "store/sqlite/changes/pruning.hpp"
#include "store/sqlite/changes/record_changes.hpp"
#include "store/sqlite/changes/session_changes.hpp"
#include "store/sqlite/changes/timekeeper.hpp"

namespace errand::sqlite {

// What can be written, on one connection, inside a transaction that the caller begins and ends.
//
// A change that is refused (its Error is part of the Store's contract) has written nothing, so the
// transaction goes on. After any other Error the database has failed() and must be rolled back.
class Changes final {
 public:
  // `epoch` is this process's.
  Changes(Database& database, const Timekeeper& time, std::int64_t epoch, DiskRoom::Limits limits);

  // `labels` are the labels in the run's metadata.
  Result<CreateOutcome> create(const NewRun& run, const Labels& labels);
  Result<Appended> append(const Commit& commit);
  Result<MailOutcome> mail(const Mail& mail);
  Result<CallClaimOutcome> claim_call(const CallClaim& claim) { return mail_.claim(claim); }
  Result<ClaimedRuns> claim(const ClaimRuns& params) { return owners_.claim(params); }
  Result<void> release(const RunKey& run, std::int64_t epoch) {
    return owners_.release(run, epoch);
  }
  Result<void> leave();
  Result<PruneOutcome> prune(const Prune& prune) { return pruning_.step(prune, time_.now()); }
  Result<std::size_t> remove_runs(const WorkspaceSlug& workspace, const std::vector<RunId>& runs) {
    return pruning_.remove(workspace, runs);
  }
  // `labels` are the labels in the session's metadata.
  Result<CreateSessionOutcome> create_session(const NewSession& session, const Labels& labels);
  Result<EndedSession> end_session(const SessionKey& session, const std::string& reason) {
    return sessions_.end(session, reason);
  }
  Result<void> remove_session(const SessionKey& session) { return sessions_.remove(session); }
  Result<RecordsOutcome> change_records(const std::vector<RecordChange>& changes);
  Result<AddKeyOutcome> add_key(const ApiKeyRow& key, const Idempotency& idempotency);
  Result<void> revoke_key(const WorkspaceSlug& workspace, const KeyId& id, WallTime at);

  // Stores the store's clock for the next process; `if_old` only if that was last
  // done a while ago.
  enum class Saving { always, if_old };
  Result<void> save_clock(Saving saving);

 private:
  // Whether a run with this id is there, or is being removed.
  Result<bool> has_log(const RunId& run);
  Result<void> insert_run(const NewRun& run, RunStatus status, StoreTime now);
  // not_found, internal: the commit has effects that cannot be; nothing was written.
  Result<void> check_effects(const Commit& commit, const SessionChanges::Member& member);
  // The parts of a run's row that decide what may be written to the run.
  struct Head {
    bool is_finished = false;
    std::int64_t epoch = 0;
    EventSeq last_seq = 0;
    std::int64_t segments = 0;
    std::int64_t format = 0;
    RunStatus status = RunStatus::queued;
    std::int64_t log_end = 0;
  };
  Result<std::optional<Head>> find_head(const RunKey& run);
  // Why a commit has to be refused, if not for its mail.
  static std::optional<CommitRefusal> refusal(const std::optional<Head>& head,
                                              const Commit& commit);
  Result<void> insert_segment(const RunId& run, const Segment& segment, std::int64_t previous);
  Result<void> advance(const Commit& commit, RunStatus status);
  Result<void> end(const Commit& commit, MailChanges::AtEnd mail);
  Result<AddKeyOutcome> find_made_key(const KeyedRequests::Made& made);

  Database& database_;
  const Timekeeper& time_;
  const std::int64_t epoch_;
  StoreTime saved_clock_;

  DiskRoom room_;
  KeyedRequests keyed_;
  MailChanges mail_;
  BlobChanges blobs_;
  LabelChanges labels_;
  RecordChanges records_;
  SessionChanges sessions_;
  OwnerChanges owners_;
  Pruning pruning_;

  Statement find_anchor_;
  Statement insert_run_;
  Statement insert_segment_;
  Statement advance_run_;
  Statement set_status_;
  Statement end_run_;
  Statement find_run_;
  Statement insert_api_key_;
  Statement find_api_key_;
  Statement revoke_api_key_;
  Statement save_clock_;
};

}  // namespace errand::sqlite
