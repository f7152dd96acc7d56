#include "store/memory/faulty_store.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "async/wakeup.hpp"

namespace errand {
namespace {

Task<void> stop_here() {
  Wakeup never(co_await asio::this_coro::executor);
  // A cancelled wait returns, and the one after it unwinds.
  for (;;) co_await never.wait();
}

}  // namespace

FaultyStore::FaultyStore(Store& store, Decide decide) : store_(store), decide_(std::move(decide)) {}

template <class T>
Task<Result<T>> FaultyStore::with_fault(Kind kind, Task<Result<T>> call) {
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

template <class T>
Task<Result<T>> FaultyStore::late(Task<Result<T>> call) {
  constexpr int kSteps = 4;  // of the loop
  auto result = co_await std::move(call);
  Executor home = co_await asio::this_coro::executor;
  for (int i = 0; i < kSteps; ++i) co_await asio::post(home, asio::use_awaitable);
  co_return result;
}

Task<Result<CreateOutcome>> FaultyStore::create(NewRun run) {
  return with_fault(Kind::create, store_.create(std::move(run)));
}

Task<Result<Appended>> FaultyStore::append(Commit commit) {
  return with_fault(Kind::append, store_.append(std::move(commit)));
}

Task<Result<MailOutcome>> FaultyStore::mail(Mail mail) {
  return with_fault(Kind::mail, store_.mail(std::move(mail)));
}

Task<Result<CallClaimOutcome>> FaultyStore::claim_call(CallClaim claim) {
  return with_fault(Kind::claim_call, store_.claim_call(std::move(claim)));
}

Task<Result<std::vector<Mailbox>>> FaultyStore::pending_calls(CallFilter filter) {
  return late(store_.pending_calls(std::move(filter)));
}

Task<Result<ClaimedRuns>> FaultyStore::claim(ClaimRuns params) {
  return late(store_.claim(std::move(params)));
}

Task<Result<Renewal>> FaultyStore::renew() {
  return with_fault(Kind::renew, store_.renew());
}

Task<Result<void>> FaultyStore::release(RunKey run, std::int64_t epoch) {
  return store_.release(run, epoch);
}

Task<Result<void>> FaultyStore::leave() {
  return with_fault(Kind::leave, store_.leave());
}

Task<Result<RunRow>> FaultyStore::find(RunKey run) {
  return with_fault(Kind::read, late(store_.find(run)));
}

Task<Result<std::vector<RunRow>>> FaultyStore::list(RunFilter filter) {
  return late(store_.list(std::move(filter)));
}

Task<Result<std::vector<Mailbox>>> FaultyStore::mailboxes(RunKey run) {
  return late(store_.mailboxes(run));
}

Task<Result<std::vector<SegmentPtr>>> FaultyStore::read_events(RunKey run, EventSeq after,
                                                               std::size_t bytes_max) {
  return late(store_.read_events(run, after, bytes_max));
}

Task<Result<std::string>> FaultyStore::read_journal(RunKey run) {
  return with_fault(Kind::read, late(store_.read_journal(run)));
}

Task<Result<std::string>> FaultyStore::read_blob(RunKey run, std::string hash) {
  return with_fault(Kind::read_blob, store_.read_blob(run, std::move(hash)));
}

Task<Result<std::vector<RunRow>>> FaultyStore::all_runs(std::optional<RunKey> after,
                                                        std::size_t limit) {
  return late(store_.all_runs(after, limit));
}

Task<Result<std::vector<SegmentPtr>>> FaultyStore::read_log(RunKey run, EventSeq after,
                                                            std::size_t bytes_max) {
  return late(store_.read_log(run, after, bytes_max));
}

Task<Result<PruneOutcome>> FaultyStore::prune(Prune prune) {
  return store_.prune(std::move(prune));
}

Task<Result<std::size_t>> FaultyStore::remove_runs(WorkspaceSlug workspace,
                                                   std::vector<RunId> runs) {
  return with_fault(Kind::remove_runs, store_.remove_runs(workspace, std::move(runs)));
}

Task<Result<CreateSessionOutcome>> FaultyStore::create_session(NewSession session) {
  return with_fault(Kind::create_session, store_.create_session(std::move(session)));
}

Task<Result<SessionRow>> FaultyStore::find_session(SessionKey session) {
  return with_fault(Kind::read, late(store_.find_session(session)));
}

Task<Result<std::vector<SessionRow>>> FaultyStore::list_sessions(SessionFilter filter) {
  return late(store_.list_sessions(std::move(filter)));
}

Task<Result<std::int64_t>> FaultyStore::count_sessions(SessionFilter filter) {
  return late(store_.count_sessions(std::move(filter)));
}

Task<Result<std::vector<SessionEntry>>> FaultyStore::read_history(SessionKey session,
                                                                  std::int64_t after,
                                                                  std::int64_t until,
                                                                  std::size_t bytes_max) {
  return with_fault(Kind::read, late(store_.read_history(session, after, until, bytes_max)));
}

Task<Result<std::vector<SessionEntry>>> FaultyStore::read_newest_history(SessionKey session,
                                                                         std::int64_t after,
                                                                         std::int64_t until,
                                                                         std::size_t bytes_max) {
  return with_fault(Kind::read, late(store_.read_newest_history(session, after, until, bytes_max)));
}

Task<Result<EndedSession>> FaultyStore::end_session(SessionKey session, std::string reason) {
  return with_fault(Kind::end_session, store_.end_session(session, std::move(reason)));
}

Task<Result<void>> FaultyStore::remove_session(SessionKey session) {
  return with_fault(Kind::remove_session, store_.remove_session(session));
}

Task<Result<std::vector<RunRow>>> FaultyStore::session_runs(SessionKey session,
                                                            std::optional<RunId> before,
                                                            std::size_t limit) {
  return late(store_.session_runs(session, before, limit));
}

Task<Result<RecordsOutcome>> FaultyStore::change_records(std::vector<RecordChange> changes) {
  return with_fault(Kind::change_records, store_.change_records(std::move(changes)));
}

Task<Result<Record>> FaultyStore::find_record(RecordKey key) {
  return late(store_.find_record(std::move(key)));
}

Task<Result<std::vector<Record>>> FaultyStore::list_records(RecordFilter filter) {
  return late(store_.list_records(std::move(filter)));
}

Task<Result<AddKeyOutcome>> FaultyStore::add_key(ApiKeyRow key, Idempotency idempotency) {
  return store_.add_key(std::move(key), std::move(idempotency));
}

Task<Result<std::vector<ApiKeyRow>>> FaultyStore::list_keys() {
  return late(store_.list_keys());
}

Task<Result<void>> FaultyStore::revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) {
  return store_.revoke_key(workspace, id, at);
}

Task<Result<void>> FaultyStore::ping() {
  return store_.ping();
}

}  // namespace errand
