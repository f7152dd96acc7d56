#pragma once

#include <atomic>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "async/wakeup.hpp"
#include "store/store.hpp"

namespace errand {

// A Store of which every call fails when a test says so. Its reads come late: by then more may have
// been written, as with a store on another thread.
class FaultyStore final : public Store {
 public:
  enum class Kind {
    create,
    append,
    mail,
    claim_call,
    claim,
    renew,
    release,
    leave,
    read,
    read_blob,
    prune,
    create_session,
    end_session,
    remove_runs,
    remove_session,
    change_records,
    add_key,
    revoke_key
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

  FaultyStore(Store& store, Decide decide) : store_(store), decide_(std::move(decide)) {}

  std::int64_t epoch() const override { return store_.epoch(); }
  StoreTime now() const override { return store_.now(); }
  Task<Result<CreateOutcome>> create(NewRun run) override {
    return with_fault(Kind::create, store_.create(std::move(run)));
  }
  Task<Result<Appended>> append(Commit commit) override {
    return with_fault(Kind::append, store_.append(std::move(commit)));
  }
  Task<Result<MailOutcome>> mail(Mail mail) override {
    return with_fault(Kind::mail, store_.mail(std::move(mail)));
  }
  Task<Result<CallClaimOutcome>> claim_call(CallClaim claim) override {
    return with_fault(Kind::claim_call, store_.claim_call(std::move(claim)));
  }
  Task<Result<std::vector<Mailbox>>> pending_calls(CallFilter filter) override {
    return with_fault(Kind::read, late(store_.pending_calls(std::move(filter))));
  }
  Task<Result<ClaimedRuns>> claim(ClaimRuns params) override {
    return with_fault(Kind::claim, late(store_.claim(std::move(params))));
  }
  Task<Result<Renewal>> renew() override { return with_fault(Kind::renew, store_.renew()); }
  Task<Result<void>> release(RunKey run, std::int64_t epoch) override {
    return with_fault(Kind::release, store_.release(run, epoch));
  }
  Task<Result<void>> leave() override { return with_fault(Kind::leave, store_.leave()); }
  Task<Result<RunRow>> find(RunKey run) override {
    return with_fault(Kind::read, late(store_.find(run)));
  }
  Task<Result<std::vector<RunRow>>> list(RunFilter filter) override {
    return with_fault(Kind::read, late(store_.list(std::move(filter))));
  }
  Task<Result<std::vector<Mailbox>>> mailboxes(RunKey run) override {
    return with_fault(Kind::read, late(store_.mailboxes(run)));
  }
  Task<Result<std::vector<SegmentPtr>>> read_events(RunKey run, EventSeq after,
                                                    std::size_t bytes_max) override {
    return with_fault(Kind::read, late(store_.read_events(run, after, bytes_max)));
  }
  Task<Result<std::string>> read_blob(RunKey run, std::string hash) override {
    return with_fault(Kind::read_blob, store_.read_blob(run, std::move(hash)));
  }
  Task<Result<std::vector<RunRow>>> all_runs(std::optional<RunKey> after,
                                             std::size_t limit) override {
    return with_fault(Kind::read, late(store_.all_runs(after, limit)));
  }
  Task<Result<std::vector<SegmentPtr>>> read_log(RunKey run, EventSeq after,
                                                 std::size_t bytes_max) override {
    return counted(with_fault(Kind::read, late(store_.read_log(run, after, bytes_max))));
  }
  Task<Result<std::vector<SegmentPtr>>> read_journal(RunKey run, EventSeq after,
                                                     std::size_t bytes_max) override {
    return counted(with_fault(Kind::read, late(store_.read_journal(run, after, bytes_max))));
  }
  Task<Result<PruneOutcome>> prune(Prune prune) override {
    return with_fault(Kind::prune, store_.prune(std::move(prune)));
  }
  Task<Result<std::size_t>> remove_runs(WorkspaceSlug workspace, std::vector<RunId> runs) override {
    return with_fault(Kind::remove_runs, store_.remove_runs(workspace, std::move(runs)));
  }
  Task<Result<CreateSessionOutcome>> create_session(NewSession session) override {
    return with_fault(Kind::create_session, store_.create_session(std::move(session)));
  }
  Task<Result<SessionRow>> find_session(SessionKey session) override {
    return with_fault(Kind::read, late(store_.find_session(session)));
  }
  Task<Result<std::vector<SessionRow>>> list_sessions(SessionFilter filter) override {
    return with_fault(Kind::read, late(store_.list_sessions(std::move(filter))));
  }
  Task<Result<std::int64_t>> count_sessions(SessionFilter filter) override {
    return with_fault(Kind::read, late(store_.count_sessions(std::move(filter))));
  }
  Task<Result<std::int64_t>> count_waiting_for_turn() override {
    return with_fault(Kind::read, late(store_.count_waiting_for_turn()));
  }
  Task<Result<std::vector<SessionEntry>>> read_newest_history(SessionKey session,
                                                              std::int64_t after,
                                                              std::int64_t until,
                                                              std::size_t bytes_max) override {
    return with_fault(Kind::read,
                      late(store_.read_newest_history(session, after, until, bytes_max)));
  }
  Task<Result<std::vector<SessionEntry>>> read_history(SessionKey session, std::int64_t after,
                                                       std::int64_t until,
                                                       std::size_t bytes_max) override {
    return with_fault(Kind::read, late(store_.read_history(session, after, until, bytes_max)));
  }
  Task<Result<EndedSession>> end_session(SessionKey session, std::string reason) override {
    return with_fault(Kind::end_session, store_.end_session(session, std::move(reason)));
  }
  Task<Result<void>> remove_session(SessionKey session) override {
    return with_fault(Kind::remove_session, store_.remove_session(session));
  }
  Task<Result<std::vector<RunRow>>> session_runs(SessionKey session, std::optional<RunId> before,
                                                 std::size_t limit) override {
    return with_fault(Kind::read, late(store_.session_runs(session, before, limit)));
  }
  Task<Result<RecordsOutcome>> change_records(std::vector<RecordChange> changes) override {
    return with_fault(Kind::change_records, store_.change_records(std::move(changes)));
  }
  Task<Result<Record>> find_record(RecordKey key) override {
    return with_fault(Kind::read, late(store_.find_record(std::move(key))));
  }
  Task<Result<std::vector<Record>>> list_records(RecordFilter filter) override {
    return with_fault(Kind::read, late(store_.list_records(std::move(filter))));
  }
  Task<Result<AddKeyOutcome>> add_key(ApiKeyRow key, Idempotency idempotency) override {
    return with_fault(Kind::add_key, store_.add_key(std::move(key), std::move(idempotency)));
  }
  Task<Result<std::vector<ApiKeyRow>>> list_keys() override {
    return with_fault(Kind::read, late(store_.list_keys()));
  }
  Task<Result<void>> revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) override {
    return with_fault(Kind::revoke_key, store_.revoke_key(workspace, id, at));
  }
  Task<Result<void>> ping() override { return with_fault(Kind::read, store_.ping()); }

  // Of journals, and of logs with their journals, all reads together.
  std::size_t log_bytes_read() const { return log_bytes_read_; }
  // In the longest of these reads.
  std::size_t longest_log_read() const { return longest_log_read_; }

 private:
  static Task<void> stop_here() {
    Wakeup never(co_await asio::this_coro::executor);
    // A cancelled wait returns, and the one after it unwinds.
    for (;;) co_await never.wait();
  }

  template <class T>
  Task<Result<T>> with_fault(Kind kind, Task<Result<T>> call) {
    const Fault fault = decide_({.kind = kind, .number = ++operations_});
    if (fault == Fault::stop_before) co_await stop_here();
    if (fault == Fault::fail_before) {
      co_return Error(ErrorCode::unavailable, "the store is not there (injected)");
    }
    auto result = co_await std::move(call);
    if (fault == Fault::stop_after) co_await stop_here();
    if (fault == Fault::fail_after) {
      co_return Error(ErrorCode::outcome_unknown, "the store's answer was lost (injected)");
    }
    co_return result;
  }

  static std::size_t bytes_of(const std::vector<SegmentPtr>& segments) {
    std::size_t bytes = 0;
    for (const SegmentPtr& segment : segments) {
      bytes += segment->journal.size() + segment->events.size();
    }
    return bytes;
  }

  Task<Result<std::vector<SegmentPtr>>> counted(Task<Result<std::vector<SegmentPtr>>> call) {
    auto result = co_await std::move(call);
    const std::size_t bytes = result ? bytes_of(*result) : 0;
    log_bytes_read_ += bytes;
    if (bytes > longest_log_read_) longest_log_read_ = bytes;
    co_return result;
  }

  template <class T>
  static Task<Result<T>> late(Task<Result<T>> call) {
    constexpr int kSteps = 4;  // of the loop
    auto result = co_await std::move(call);
    Executor home = co_await asio::this_coro::executor;
    for (int i = 0; i < kSteps; ++i) co_await asio::post(home, use_task);
    co_return result;
  }

  Store& store_;
  const Decide decide_;
  std::atomic<std::uint64_t> operations_ = 0;
  std::atomic<std::size_t> log_bytes_read_ = 0;
  std::atomic<std::size_t> longest_log_read_ = 0;
};

}  // namespace errand
