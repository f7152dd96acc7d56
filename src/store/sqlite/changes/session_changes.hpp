#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/run_filter.hpp"
#include "store/sqlite/changes/mail_changes.hpp"

namespace errand::sqlite {

// What can be written to sessions, inside a transaction that the caller begins and ends. A run
// without a session costs one look-up when it ends, and nothing before. Whatever a change needs of
// a session is read at once, so that its row is written once.
class SessionChanges final {
 public:
  SessionChanges(Database& database, const Timekeeper& time, MailChanges& mail);

  Result<bool> exists(const SessionKey& session);
  // `labels` are the labels in the session's metadata. conflict: a session with this id exists;
  // nothing was written.
  Result<void> add(const SessionRow& row, const Labels& labels);

  // When a session was used last, and whether lists find it there under labels.
  struct Use {
    WallTime at{};
    bool has_labels = false;
  };

  // What happens to a new run of a session.
  struct Admission {
    std::optional<SessionRefusal> refused = {};
    std::int64_t place = 0;  // in the queue; 0: it does not wait
    RunId current = {};      // the run that has the turn; empty: no run
    HistorySize history = {};
    Use use = {};
  };
  // Writes nothing.
  Result<Admission> admit(const WorkspaceSlug& workspace, const SessionTurn& turn);
  // Makes a new run, which was not refused, one of the session's, and tells it in `outcome`.
  Result<void> join(const NewRun& run, const Admission& admission, CreateOutcome& outcome);

  // What a run is to its session.
  struct Member {
    SessionId session = {};  // empty: it has none
    bool waits = false;      // for its turn
    HistorySize history = {};
    Use use = {};
    RunId next = {};  // the run that waited first for its turn; empty: none waits

    bool has_turn() const { return !session.empty() && !waits; }  // if it has not ended
  };
  Result<Member> find_member(const RunKey& run);
  // What a commit of an unfinished run changes in its session, after the commit's own changes.
  Result<Appended> follow(const Commit& commit, const Member& member);

  // not_found: no such session.
  Result<EndedSession> end(const SessionKey& session, const std::string& reason);
  // not_found: no such session. conflict: it has not ended, or has runs; nothing was written.
  Result<void> remove(const SessionKey& session);

 private:
  struct Found {
    SessionStatus status = SessionStatus::active;
    RunId current;
    HistorySize history = {};
    Use use = {};
  };
  Result<std::optional<Found>> find(const SessionKey& session);
  Result<std::int64_t> find_place(const WorkspaceSlug& workspace, const SessionTurn& turn);
  Result<Labels> labels(const SessionKey& session);
  // Called before the session's own row is changed, which has its place in lists.
  Result<void> move_in_lists(const SessionKey& session, const Use& last, WallTime at);
  Result<void> note_use(const SessionKey& session, const Use& last, WallTime at);
  // `size` is what the history had. Returns what it has now, which the caller writes down.
  Result<HistorySize> add_history(const Commit& commit, const SessionKey& session,
                                  HistorySize size);
  // The run that has the turn ends. Returns the run that gets the turn next.
  Result<Appended> give_turn_on(const Commit& commit, const Member& member, HistorySize history);
  Result<std::vector<RunId>> waiting(const SessionKey& session);
  // unknown_run: the run has ended, or a newer program wrote it.
  Result<MailOutcome> cancel(const RunKey& run, const std::string& reason);

  Database& database_;
  const Timekeeper& time_;
  MailChanges& mail_;

  Statement find_;
  Statement insert_;
  Statement insert_settings_;
  Statement insert_label_;
  Statement insert_label_use_;
  Statement find_metadata_;
  Statement move_label_use_;
  Statement measure_queue_;
  Statement insert_run_;
  Statement take_turn_;
  Statement give_turn_on_;
  Statement set_used_;
  Statement find_member_;
  Statement find_waiting_;
  Statement stop_waiting_;
  Statement hand_over_;
  Statement set_history_;
  Statement insert_entry_;
  Statement end_;
  Statement find_cancellable_;
  Statement find_run_of_;
  Statement remove_label_;
  Statement remove_label_use_;
  Statement remove_settings_;
  Statement remove_history_;
  Statement remove_;
};

}  // namespace errand::sqlite
