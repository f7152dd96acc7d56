#include "store/memory/memory_store.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <map>
#include <mutex>
#include <utility>

#include "base/assert.hpp"
#include "store/run_filter.hpp"

namespace errand {
namespace {

struct StoredRun {
  RunRow row;
  std::vector<SegmentPtr> log;
  std::map<std::string, Mailbox> mail;  // by slot
};

struct StoredKey {
  RunId run;
  std::string fingerprint;
};

}  // namespace

struct MemoryStoreData {
  std::mutex mutex;  // protects everything below; never held over a co_await
  std::int64_t boot_epoch = 0;
  std::map<RunId, StoredRun> runs;
  std::map<std::pair<WorkspaceSlug, std::string>, StoredKey> idempotency;
  std::vector<ApiKeyRow> api_keys;
};

std::shared_ptr<MemoryStoreData> make_memory_store_data() {
  return std::make_shared<MemoryStoreData>();
}

namespace {

std::int64_t next_boot_epoch(MemoryStoreData& data) {
  std::lock_guard lock(data.mutex);
  return ++data.boot_epoch;
}

StoredRun* find_run(MemoryStoreData& data, const WorkspaceSlug& workspace, const RunId& run) {
  auto found = data.runs.find(run);
  if (found == data.runs.end() || found->second.row.workspace != workspace) return nullptr;
  return &found->second;
}

Task<void> give_way() {
  co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
}

std::vector<Mailbox> mail_of(const StoredRun& run) {
  std::vector<Mailbox> out;
  for (const auto& [slot, box] : run.mail) out.push_back(box);
  return out;
}

Result<void> check_append(const StoredRun* run, const AppendItem& item) {
  auto refuse = [](const char* why) { return Error(ErrorCode::conflict, why); };
  if (!run) return refuse("there is no such run to append to");
  if (run->row.epoch != item.epoch) return refuse("the run is owned by somebody else");
  if (run->row.last_seq != item.expected_seq) return refuse("the run's log ends at another seq");
  if (run->row.segments != item.segment->n) return refuse("the run's log ends at another segment");
  if (is_terminal(run->row.status)) return refuse("the run has ended");
  return {};
}

void update_mail(StoredRun& run, const AppendItem& item) {
  if (is_terminal(item.status)) return run.mail.clear();
  for (const std::string& slot : item.close) run.mail.erase(slot);
  for (const Mailbox& box : item.open) {
    auto [at, opened] = run.mail.emplace(box.slot, box);
    if (!opened) at->second.deadline_at = box.deadline_at;
  }
}

MailOutcome fill(StoredRun& run, Mail mail, WallTime now) {
  if (is_terminal(run.row.status)) return MailOutcome::run_ended;
  auto found = run.mail.find(mail.slot);
  if (mail.kind == MailKind::cancel) {
    if (found != run.mail.end()) return MailOutcome::unknown_slot;
    run.mail[mail.slot] = {.run = run.row.id,
                           .slot = mail.slot,
                           .kind = MailKind::cancel,
                           .name = {},
                           .opened_at = now,
                           .deadline_at = {},
                           .filled = true,
                           .body = std::move(mail.body)};
    return MailOutcome::accepted;
  }
  if (found == run.mail.end() || found->second.filled) return MailOutcome::unknown_slot;
  found->second.filled = true;
  found->second.body = std::move(mail.body);
  return MailOutcome::accepted;
}

SegmentPtr without_journal(const SegmentPtr& segment) {
  if (segment->journal.empty()) return segment;
  Segment copy = *segment;
  copy.journal.clear();
  return std::make_shared<const Segment>(std::move(copy));
}

}  // namespace

MemoryStore::MemoryStore(std::shared_ptr<MemoryStoreData> data, const Clock& clock)
    : data_(std::move(data)), clock_(clock), epoch_(next_boot_epoch(*data_)) {}

Task<Result<CreateOutcome>> MemoryStore::create(NewRun run) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  const RunId id = run.row.id;
  const std::pair key(run.row.workspace, run.idempotency_key);
  if (auto known = data_->idempotency.find(key); known != data_->idempotency.end()) {
    bool same = known->second.fingerprint == run.fingerprint;
    co_return CreateOutcome{
        .kind = same ? CreateOutcome::Kind::existing : CreateOutcome::Kind::conflict,
        .run = known->second.run,
        .epoch = 0};
  }
  if (data_->runs.contains(id)) co_return Error(ErrorCode::conflict, "a run with this id exists");

  if (!key.second.empty()) data_->idempotency[key] = {.run = id, .fingerprint = run.fingerprint};
  StoredRun& stored = data_->runs[id];
  stored.row = std::move(run.row);
  stored.row.epoch = epoch_;
  stored.row.segments = 1;
  stored.row.last_seq = run.first.last_seq;
  stored.log.push_back(std::make_shared<const Segment>(std::move(run.first)));
  co_return CreateOutcome{.kind = CreateOutcome::Kind::created, .run = id, .epoch = epoch_};
}

Task<Result<void>> MemoryStore::append(AppendItem item) {
  ERRAND_ASSERT(item.segment->first_seq() == item.expected_seq + 1);
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  StoredRun* run = find_run(*data_, item.workspace, item.run);
  ERRAND_CO_CHECK(check_append(run, item));
  run->row.status = item.status;
  run->row.last_seq = item.segment->last_seq;
  run->row.segments = item.segment->n + 1;
  run->row.updated_at = item.segment->at;
  run->log.push_back(item.segment);
  update_mail(*run, item);
  co_return Result<void>();
}

Task<Result<MailOutcome>> MemoryStore::mail(Mail mail) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  StoredRun* run = find_run(*data_, mail.workspace, mail.run);
  if (!run) co_return MailOutcome::unknown_run;
  co_return fill(*run, std::move(mail), clock_.now());
}

Task<Result<std::vector<ClaimedRun>>> MemoryStore::claim(std::size_t limit) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  std::vector<ClaimedRun> claimed;
  for (auto& [id, run] : data_->runs) {
    if (claimed.size() == limit) break;
    if (is_terminal(run.row.status) || run.row.epoch >= epoch_) continue;
    run.row.epoch = epoch_;
    claimed.push_back({.row = run.row, .mail = mail_of(run)});
  }
  co_return claimed;
}

Task<Result<std::vector<Mailbox>>> MemoryStore::renew() {
  co_await give_way();
  co_return std::vector<Mailbox>();
}

Task<Result<void>> MemoryStore::release(RunId run, std::int64_t epoch) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  auto found = data_->runs.find(run);
  if (found == data_->runs.end() || found->second.row.epoch != epoch ||
      is_terminal(found->second.row.status)) {
    co_return Error(ErrorCode::conflict, "the run is not owned with this epoch");
  }
  found->second.row.epoch = 0;
  co_return Result<void>();
}

Task<Result<RunRow>> MemoryStore::find(WorkspaceSlug workspace, RunId run) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  const StoredRun* found = find_run(*data_, workspace, run);
  if (!found) co_return Error(ErrorCode::not_found, "there is no such run");
  co_return found->row;
}

Task<Result<std::vector<RunRow>>> MemoryStore::list(RunFilter filter) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  std::vector<RunRow> rows;
  auto newest = filter.before ? data_->runs.lower_bound(*filter.before) : data_->runs.end();
  for (auto at = std::make_reverse_iterator(newest); at != data_->runs.rend(); ++at) {
    if (rows.size() == filter.limit) break;
    const RunRow& row = at->second.row;
    if (row.workspace == filter.workspace && matches_status(filter, row.status) &&
        matches_metadata(filter, row.metadata)) {
      rows.push_back(row);
    }
  }
  co_return rows;
}

Task<Result<std::vector<Mailbox>>> MemoryStore::mailboxes(RunId run) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  auto found = data_->runs.find(run);
  if (found == data_->runs.end()) co_return std::vector<Mailbox>();
  co_return mail_of(found->second);
}

Task<Result<std::vector<SegmentPtr>>> MemoryStore::read_events(RunId run, EventSeq after,
                                                               std::size_t bytes_max) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  std::vector<SegmentPtr> out;
  auto found = data_->runs.find(run);
  if (found == data_->runs.end()) co_return out;
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : found->second.log) {
    if (segment->last_seq <= after || segment->events_count == 0) continue;
    out.push_back(without_journal(segment));
    bytes += segment->events.size();
    if (bytes >= bytes_max) break;
  }
  co_return out;
}

Task<Result<std::string>> MemoryStore::read_journal(RunId run) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  std::string journal;
  auto found = data_->runs.find(run);
  if (found == data_->runs.end()) co_return journal;
  for (const SegmentPtr& segment : found->second.log) journal += segment->journal;
  co_return journal;
}

Task<Result<void>> MemoryStore::add_key(ApiKeyRow key) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  for (const ApiKeyRow& other : data_->api_keys) {
    if (other.hash == key.hash || other.id == key.id) {
      co_return Error(ErrorCode::conflict, "this key exists");
    }
  }
  auto after = std::find_if(data_->api_keys.begin(), data_->api_keys.end(),
                            [&](const ApiKeyRow& other) { return key.id < other.id; });
  data_->api_keys.insert(after, std::move(key));
  co_return Result<void>();
}

Task<Result<std::vector<ApiKeyRow>>> MemoryStore::list_keys() {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  co_return data_->api_keys;
}

Task<Result<void>> MemoryStore::revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) {
  co_await give_way();
  std::lock_guard lock(data_->mutex);
  for (ApiKeyRow& key : data_->api_keys) {
    if (key.workspace != workspace || key.id != id) continue;
    if (!key.revoked_at) key.revoked_at = at;
    co_return Result<void>();
  }
  co_return Error(ErrorCode::not_found, "there is no such key");
}

Task<Result<void>> MemoryStore::ping() {
  co_await give_way();
  co_return Result<void>();
}

}  // namespace errand
