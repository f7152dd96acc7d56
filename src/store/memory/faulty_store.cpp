#include "store/memory/faulty_store.hpp"

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

Task<Result<CreateOutcome>> FaultyStore::create(NewRun run) {
  return with_fault(Kind::create, store_.create(std::move(run)));
}

Task<Result<void>> FaultyStore::append(AppendItem item) {
  return with_fault(Kind::append, store_.append(std::move(item)));
}

Task<Result<MailOutcome>> FaultyStore::mail(Mail mail) {
  return with_fault(Kind::mail, store_.mail(std::move(mail)));
}

Task<Result<std::vector<ClaimedRun>>> FaultyStore::claim(std::size_t limit) {
  return store_.claim(limit);
}

Task<Result<std::vector<Mailbox>>> FaultyStore::renew() {
  return store_.renew();
}

Task<Result<void>> FaultyStore::release(RunId run, std::int64_t epoch) {
  return store_.release(run, epoch);
}

Task<Result<RunRow>> FaultyStore::find(WorkspaceSlug workspace, RunId run) {
  return store_.find(workspace, run);
}

Task<Result<std::vector<RunRow>>> FaultyStore::list(RunFilter filter) {
  return store_.list(std::move(filter));
}

Task<Result<std::vector<Mailbox>>> FaultyStore::mailboxes(RunId run) {
  return store_.mailboxes(run);
}

Task<Result<std::vector<SegmentPtr>>> FaultyStore::read_events(RunId run, EventSeq after,
                                                               std::size_t bytes_max) {
  return store_.read_events(run, after, bytes_max);
}

Task<Result<std::string>> FaultyStore::read_journal(RunId run) {
  return store_.read_journal(run);
}

Task<Result<void>> FaultyStore::add_key(ApiKeyRow key) {
  return store_.add_key(std::move(key));
}

Task<Result<std::vector<ApiKeyRow>>> FaultyStore::list_keys() {
  return store_.list_keys();
}

Task<Result<void>> FaultyStore::revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) {
  return store_.revoke_key(workspace, id, at);
}

Task<Result<void>> FaultyStore::ping() {
  return store_.ping();
}

}  // namespace errand
