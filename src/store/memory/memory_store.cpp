#include "store/memory/memory_store.hpp"

#include <boost/asio/post.hpp>
#include <mutex>
#include <utility>

#include "base/assert.hpp"
#include "store/memory/memory_tables.hpp"

namespace errand {

std::shared_ptr<MemoryStoreData> make_memory_store_data() {
  return std::make_shared<MemoryStoreData>();
}

namespace {

std::int64_t start_process(MemoryStoreData& data, const Clock& clock,
                           std::optional<milliseconds> lease) {
  std::lock_guard lock(data.mutex);
  return data.start_process(clock.steady_now(), lease);
}

MemoryStoreData::Sender sender_of(const MemoryStoreData& data, const Clock& clock,
                                  std::int64_t epoch) {
  return {.epoch = epoch, .now = data.now(clock.steady_now()), .wall_now = clock.now()};
}

Task<void> give_way() {
  co_await asio::post(co_await asio::this_coro::executor, use_task);
}

}  // namespace

MemoryStore::MemoryStore(std::shared_ptr<MemoryStoreData> data, const Clock& clock,
                         std::optional<milliseconds> lease)
    : data_(std::move(data)),
      clock_(clock),
      lease_(lease),
      epoch_(start_process(*data_, clock_, lease_)) {}

StoreTime MemoryStore::now() const {
  std::lock_guard lock(data_->mutex);
  return data_->now(clock_.steady_now());
}

Task<Result<CreateOutcome>> MemoryStore::create(NewRun run) {
  ERRAND_ASSERT(!run.session || !is_terminal(run.row.status));
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->create(std::move(run), sender_of(*data_, clock_, epoch_));
}

Task<Result<Appended>> MemoryStore::append(Commit commit) {
  ERRAND_ASSERT(commit.segment->first_seq() == commit.expected_seq + 1);
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  StoreTime now = data_->now(clock_.steady_now());
  data_->save_clock(now);
  co_return data_->append(commit, now);
}

Task<Result<MailOutcome>> MemoryStore::mail(Mail mail) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->mail(std::move(mail), sender_of(*data_, clock_, epoch_));
}

Task<Result<CallClaimOutcome>> MemoryStore::claim_call(CallClaim claim) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->claim_call(claim, data_->now(clock_.steady_now()));
}

Task<Result<std::vector<Mailbox>>> MemoryStore::pending_calls(CallFilter filter) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->pending_calls(filter, data_->now(clock_.steady_now()));
}

Task<Result<ClaimedRuns>> MemoryStore::claim(ClaimRuns params) {
  ERRAND_ASSERT(params.limit > 0);
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->claim(epoch_, params, data_->now(clock_.steady_now()));
}

Task<Result<Renewal>> MemoryStore::renew() {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  StoreTime now = data_->now(clock_.steady_now());
  data_->save_clock(now);
  Renewal renewal{.lease_left = lease_.value_or(milliseconds::max())};
  renewal.mail = data_->renew(epoch_, lease_ ? now + *lease_ : StoreTime::max());
  co_return renewal;
}

Task<Result<void>> MemoryStore::release(RunKey run, std::int64_t epoch) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->release(run, epoch);
}

Task<Result<void>> MemoryStore::leave() {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  data_->save_clock(data_->now(clock_.steady_now()));
  data_->leave(epoch_);
  co_return Result<void>();
}

Task<Result<RunRow>> MemoryStore::find(RunKey run) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->find(run);
}

Task<Result<std::vector<RunRow>>> MemoryStore::list(RunFilter filter) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->list(filter);
}

Task<Result<std::vector<Mailbox>>> MemoryStore::mailboxes(RunKey run) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->mailboxes(run);
}

Task<Result<std::vector<SegmentPtr>>> MemoryStore::read_events(RunKey run, EventSeq after,
                                                               std::size_t bytes_max) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->read_events(run, after, bytes_max);
}

Task<Result<std::string>> MemoryStore::read_blob(RunKey run, std::string hash) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->read_blob(run, hash);
}

Task<Result<std::vector<RunRow>>> MemoryStore::all_runs(std::optional<RunKey> after,
                                                        std::size_t limit) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->all_runs(after, limit);
}

Task<Result<std::vector<SegmentPtr>>> MemoryStore::read_log(RunKey run, EventSeq after,
                                                            std::size_t bytes_max) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->read_log(run, after, bytes_max);
}

Task<Result<std::vector<SegmentPtr>>> MemoryStore::read_journal(RunKey run, EventSeq after,
                                                                std::size_t bytes_max) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->read_journal(run, after, bytes_max);
}

Task<Result<PruneOutcome>> MemoryStore::prune(Prune prune) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->prune(prune, data_->now(clock_.steady_now()));
}

Task<Result<std::size_t>> MemoryStore::remove_runs(WorkspaceSlug workspace,
                                                   std::vector<RunId> runs) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->remove_runs(workspace, runs);
}

Task<Result<CreateSessionOutcome>> MemoryStore::create_session(NewSession session) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->create_session(std::move(session), data_->now(clock_.steady_now()));
}

Task<Result<SessionRow>> MemoryStore::find_session(SessionKey session) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->find_session(session);
}

Task<Result<std::vector<SessionRow>>> MemoryStore::list_sessions(SessionFilter filter) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->list_sessions(filter);
}

Task<Result<std::int64_t>> MemoryStore::count_sessions(SessionFilter filter) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->count_sessions(filter);
}

Task<Result<std::int64_t>> MemoryStore::count_waiting_for_turn() {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->count_waiting_for_turn();
}

Task<Result<std::vector<SessionEntry>>> MemoryStore::read_history(SessionKey session,
                                                                  std::int64_t after,
                                                                  std::int64_t until,
                                                                  std::size_t bytes_max) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->read_history(session, after, until, bytes_max);
}

Task<Result<std::vector<SessionEntry>>> MemoryStore::read_newest_history(SessionKey session,
                                                                         std::int64_t after,
                                                                         std::int64_t until,
                                                                         std::size_t bytes_max) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->read_newest_history(session, after, until, bytes_max);
}

Task<Result<EndedSession>> MemoryStore::end_session(SessionKey session, std::string reason) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->end_session(session, reason, sender_of(*data_, clock_, epoch_));
}

Task<Result<void>> MemoryStore::remove_session(SessionKey session) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->remove_session(session);
}

Task<Result<std::vector<RunRow>>> MemoryStore::session_runs(SessionKey session,
                                                            std::optional<RunId> before,
                                                            std::size_t limit) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->session_runs(session, before, limit);
}

Task<Result<RecordsOutcome>> MemoryStore::change_records(std::vector<RecordChange> changes) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->change_records(changes, clock_.now());
}

Task<Result<Record>> MemoryStore::find_record(RecordKey key) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->find_record(key);
}

Task<Result<std::vector<Record>>> MemoryStore::list_records(RecordFilter filter) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->list_records(filter);
}

Task<Result<AddKeyOutcome>> MemoryStore::add_key(ApiKeyRow key, Idempotency idempotency) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->add_key(std::move(key), idempotency, data_->now(clock_.steady_now()));
}

Task<Result<std::vector<ApiKeyRow>>> MemoryStore::list_keys() {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->keys();
}

Task<Result<void>> MemoryStore::revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->revoke_key(workspace, id, at);
}

Task<Result<void>> MemoryStore::ping() {
  co_await give_way();
  co_return Result<void>();
}

}  // namespace errand
