#include "store/memory/memory_tables.hpp"

#include <algorithm>

#include "store/run_filter.hpp"

namespace errand {
namespace {

std::vector<Mailbox> mail_of(const MemoryStoreData::StoredRun& run) {
  std::vector<Mailbox> out;
  for (const auto& [slot, box] : run.mail) out.push_back(box);
  return out;
}

Result<void> check_append(const MemoryStoreData::StoredRun* run, const AppendItem& item) {
  auto refuse = [](const char* why) { return Error(ErrorCode::conflict, why); };
  if (!run) return refuse("there is no such run to append to");
  if (run->row.epoch != item.epoch) return refuse("the run is owned by somebody else");
  if (run->row.last_seq != item.expected_seq) return refuse("the run's log ends at another seq");
  if (run->row.segments != item.segment->n) return refuse("the run's log ends at another segment");
  if (is_terminal(run->row.status)) return refuse("the run has ended");
  return {};
}

void update_mail(MemoryStoreData::StoredRun& run, const AppendItem& item) {
  if (is_terminal(item.status)) return run.mail.clear();
  for (const std::string& slot : item.close) run.mail.erase(slot);
  for (const Mailbox& box : item.open) {
    auto [at, opened] = run.mail.emplace(box.slot, box);
    if (!opened) at->second.deadline = box.deadline;
  }
}

bool is_claimed(const Mailbox& box, StoreTime now) {
  return !box.claim_id.empty() && box.claimed_until > now;
}

MailOutcome fill(MemoryStoreData::StoredRun& run, Mail mail, StoreTime now, WallTime wall_now) {
  if (is_terminal(run.row.status)) return MailOutcome::run_ended;
  auto found = run.mail.find(mail.slot);
  if (mail.kind == MailKind::cancel) {
    if (found != run.mail.end()) return MailOutcome::unknown_slot;
    run.mail[mail.slot] = {.run = run.row.id,
                           .slot = mail.slot,
                           .kind = MailKind::cancel,
                           .opened_at = wall_now,
                           .filled = true,
                           .body = std::move(mail.body)};
    return MailOutcome::accepted;
  }
  if (found == run.mail.end() || found->second.filled) return MailOutcome::unknown_slot;
  Mailbox& box = found->second;
  bool may_fill = mail.from_owner || !is_claimed(box, now) || box.claim_id == mail.claim_id;
  if (!may_fill) return MailOutcome::claimed;
  box.filled = true;
  box.body = std::move(mail.body);
  return MailOutcome::accepted;
}

bool matches(const CallFilter& filter, const Mailbox& box, StoreTime now) {
  if (box.kind != MailKind::tool_result || box.filled || box.slot <= filter.after) return false;
  if (!filter.name.empty() && box.name != filter.name) return false;
  if (filter.status == CallFilter::Status::any) return true;
  return is_claimed(box, now) == (filter.status == CallFilter::Status::claimed);
}

SegmentPtr without_journal(const SegmentPtr& segment) {
  if (segment->journal.empty()) return segment;
  Segment copy = *segment;
  copy.journal.clear();
  return std::make_shared<const Segment>(std::move(copy));
}

}  // namespace

std::int64_t MemoryStoreData::start_process(SteadyTime steady_now,
                                            std::optional<milliseconds> lease) {
  Process& process = processes_[++last_epoch_];
  if (lease) {
    process.lease_until = now(steady_now) + *lease;
    return last_epoch_;
  }
  processes_.erase(processes_.begin(), std::prev(processes_.end()));
  clock_base_ = saved_clock_;
  clock_anchor_ = steady_now;
  return last_epoch_;
}

const MemoryStoreData::Made* MemoryStoreData::find_made(const WorkspaceSlug& workspace,
                                                        const Idempotency& idempotency,
                                                        WallTime now) const {
  if (idempotency.key.empty()) return nullptr;
  auto found = idempotency_.find({workspace, idempotency.key});
  if (found == idempotency_.end() || found->second.at + kIdempotencyKept <= now) return nullptr;
  return &found->second;
}

void MemoryStoreData::remember_made(const WorkspaceSlug& workspace, const Idempotency& idempotency,
                                    std::string subject, WallTime now) {
  if (idempotency.key.empty()) return;
  idempotency_[{workspace, idempotency.key}] = {
      .subject = std::move(subject), .fingerprint = idempotency.fingerprint, .at = now};
}

Result<CreateOutcome> MemoryStoreData::create(NewRun run, std::int64_t epoch, WallTime now) {
  if (const Made* made = find_made(run.row.workspace, run.idempotency, now)) {
    bool same = made->fingerprint == run.idempotency.fingerprint;
    if (!same) return CreateOutcome{.kind = Creation::conflict};
    return CreateOutcome{.kind = Creation::existing, .run = *RunId::parse(made->subject)};
  }
  const RunId id = run.row.id;
  if (runs_.contains(id)) return Error(ErrorCode::conflict, "a run with this id exists");
  for (const RunBlob& blob : run.blobs) {
    if (blob.bytes || find_blob(blob.hash)) continue;
    return Error(ErrorCode::not_found, "a file of the run is no longer there");
  }
  remember_made(run.row.workspace, run.idempotency, id.str(), now);
  StoredRun& stored = runs_[id];
  stored.row = std::move(run.row);
  stored.row.epoch = epoch;
  stored.row.segments = 1;
  stored.row.last_seq = run.first.last_seq;
  stored.log.push_back(std::make_shared<const Segment>(std::move(run.first)));
  keep_blobs(stored, run.blobs);
  return CreateOutcome{.run = id, .epoch = epoch};
}

std::shared_ptr<const std::string> MemoryStoreData::find_blob(const std::string& hash) const {
  auto found = blobs_.find(hash);
  return found == blobs_.end() ? nullptr : found->second.lock();
}

void MemoryStoreData::keep_blobs(StoredRun& run, const std::vector<RunBlob>& blobs) {
  for (const RunBlob& blob : blobs) {
    auto bytes = find_blob(blob.hash);
    // A copy, so that it lives as long as a run here has it, and no longer.
    if (!bytes) bytes = std::make_shared<const std::string>(*blob.bytes);
    blobs_[blob.hash] = bytes;
    run.blobs[blob.hash] = std::move(bytes);
  }
}

Result<void> MemoryStoreData::append(const AppendItem& item) {
  StoredRun* run = find_run(item.workspace, item.run);
  ERRAND_CHECK(check_append(run, item));
  run->row.status = item.status;
  run->row.last_seq = item.segment->last_seq;
  run->row.segments = item.segment->n + 1;
  run->row.updated_at = item.segment->at;
  run->log.push_back(item.segment);
  update_mail(*run, item);
  return {};
}

MailOutcome MemoryStoreData::mail(Mail mail, std::int64_t sender, StoreTime now,
                                  WallTime wall_now) {
  StoredRun* run = find_run(mail.workspace, mail.run);
  if (!run) return MailOutcome::unknown_run;
  std::pair<RunId, std::string> place(mail.run, mail.slot);
  std::vector<RunBlob> blobs = std::move(mail.blobs);
  MailOutcome outcome = fill(*run, std::move(mail), now, wall_now);
  if (outcome == MailOutcome::accepted) keep_blobs(*run, blobs);
  bool owner_knows = outcome == MailOutcome::accepted && run->row.epoch == sender;
  if (owner_knows) processes_[sender].mail.insert(std::move(place));
  return outcome;
}

Mailbox* MemoryStoreData::find_open_call(const WorkspaceSlug& workspace, const std::string& slot) {
  for (auto& [id, run] : runs_) {
    if (run.row.workspace != workspace) continue;
    auto found = run.mail.find(slot);
    if (found == run.mail.end()) continue;
    bool is_open = found->second.kind == MailKind::tool_result && !found->second.filled;
    return is_open ? &found->second : nullptr;
  }
  return nullptr;
}

CallClaimOutcome MemoryStoreData::claim_call(const CallClaim& claim, StoreTime now) {
  using Kind = CallClaimOutcome::Kind;
  Mailbox* box = find_open_call(claim.workspace, claim.slot);
  if (!box) return {.kind = Kind::unknown_slot};
  bool may_take = claim.kind == CallClaim::Kind::claim ? !is_claimed(*box, now)
                                                       : box->claim_id == claim.claim_id;
  if (!may_take) return {.kind = Kind::taken};
  box->claim_id = claim.claim_id;
  box->claimed_until = std::min(now + claim.ttl, box->deadline);
  return {.kind = Kind::claimed, .box = *box};
}

std::vector<Mailbox> MemoryStoreData::pending_calls(const CallFilter& filter, StoreTime now) const {
  std::vector<Mailbox> found;
  for (const auto& [id, run] : runs_) {
    if (run.row.workspace != filter.workspace) continue;
    for (const auto& [slot, box] : run.mail) {
      if (matches(filter, box, now)) found.push_back(box);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Mailbox& a, const Mailbox& b) { return a.slot < b.slot; });
  if (found.size() > filter.limit) found.resize(filter.limit);
  return found;
}

bool MemoryStoreData::is_claimable(const StoredRun& run, std::int64_t epoch, StoreTime now) const {
  if (is_terminal(run.row.status) || run.row.epoch == epoch) return false;
  auto owner = processes_.find(run.row.epoch);
  return owner == processes_.end() || owner->second.lease_until <= now;
}

std::vector<ClaimedRun> MemoryStoreData::claim(std::int64_t epoch, std::size_t limit, StoreTime now,
                                               milliseconds grace) {
  std::vector<ClaimedRun> claimed;
  if (!processes_.contains(epoch)) return claimed;
  for (auto& [id, run] : runs_) {
    if (claimed.size() == limit) break;
    if (!is_claimable(run, epoch, now)) continue;
    run.row.epoch = epoch;
    for (auto& [slot, box] : run.mail) {
      if (!box.filled) box.deadline = std::max(box.deadline, now + grace);
      if (box.filled) processes_[epoch].mail.insert({id, slot});
    }
    claimed.push_back({.row = run.row, .mail = mail_of(run)});
  }
  return claimed;
}

std::vector<Mailbox> MemoryStoreData::renew(std::int64_t epoch, StoreTime lease_until) {
  std::vector<Mailbox> news;
  Process& process = processes_[epoch];
  process.lease_until = lease_until;
  for (const auto& [id, run] : runs_) {
    if (run.row.epoch != epoch) continue;
    for (const auto& [slot, box] : run.mail) {
      if (box.filled && process.mail.insert({id, slot}).second) news.push_back(box);
    }
  }
  return news;
}

Result<void> MemoryStoreData::release(const RunId& run, std::int64_t epoch) {
  auto found = runs_.find(run);
  if (found == runs_.end() || found->second.row.epoch != epoch ||
      is_terminal(found->second.row.status)) {
    return Error(ErrorCode::conflict, "the run is not owned with this epoch");
  }
  found->second.row.epoch = 0;
  return {};
}

MemoryStoreData::StoredRun* MemoryStoreData::find_run(const WorkspaceSlug& workspace,
                                                      const RunId& run) {
  auto found = runs_.find(run);
  if (found == runs_.end() || found->second.row.workspace != workspace) return nullptr;
  return &found->second;
}

const MemoryStoreData::StoredRun* MemoryStoreData::find_run(const RunId& run) const {
  auto found = runs_.find(run);
  return found == runs_.end() ? nullptr : &found->second;
}

Result<RunRow> MemoryStoreData::find(const WorkspaceSlug& workspace, const RunId& run) {
  const StoredRun* found = find_run(workspace, run);
  if (!found) return Error(ErrorCode::not_found, "there is no such run");
  return found->row;
}

std::vector<RunRow> MemoryStoreData::list(const RunFilter& filter) const {
  std::vector<RunRow> rows;
  auto newest = filter.before ? runs_.lower_bound(*filter.before) : runs_.end();
  for (auto at = std::make_reverse_iterator(newest); at != runs_.rend(); ++at) {
    if (rows.size() == filter.limit) break;
    const RunRow& row = at->second.row;
    if (row.workspace == filter.workspace && matches_status(filter, row.status) &&
        matches_metadata(filter, row.metadata)) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<Mailbox> MemoryStoreData::mailboxes(const RunId& run) const {
  const StoredRun* found = find_run(run);
  return found ? mail_of(*found) : std::vector<Mailbox>();
}

std::vector<SegmentPtr> MemoryStoreData::read_events(const RunId& run, EventSeq after,
                                                     std::size_t bytes_max) const {
  std::vector<SegmentPtr> out;
  const StoredRun* found = find_run(run);
  if (!found) return out;
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : found->log) {
    if (segment->last_seq <= after || segment->events_count == 0) continue;
    out.push_back(without_journal(segment));
    bytes += segment->events.size();
    if (bytes >= bytes_max) break;
  }
  return out;
}

std::string MemoryStoreData::read_journal(const RunId& run) const {
  std::string journal;
  const StoredRun* found = find_run(run);
  if (!found) return journal;
  for (const SegmentPtr& segment : found->log) journal += segment->journal;
  return journal;
}

Result<std::string> MemoryStoreData::read_blob(const RunId& run, const std::string& hash) const {
  const Error none(ErrorCode::not_found, "the run has no such file");
  const StoredRun* found = find_run(run);
  if (!found) return none;
  auto blob = found->blobs.find(hash);
  if (blob == found->blobs.end()) return none;
  return *blob->second;
}

std::vector<RunRow> MemoryStoreData::all_runs(const std::optional<RunCursor>& after,
                                              std::size_t limit) const {
  std::vector<RunRow> rows;
  auto place = [](const WorkspaceSlug& workspace, const RunId& run) {
    return std::pair(workspace.view(), run.view());
  };
  for (const auto& [id, run] : runs_) {
    if (!after || place(run.row.workspace, id) > place(after->workspace, after->run)) {
      rows.push_back(run.row);
    }
  }
  std::sort(rows.begin(), rows.end(), [&place](const RunRow& a, const RunRow& b) {
    return place(a.workspace, a.id) < place(b.workspace, b.id);
  });
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

std::vector<SegmentPtr> MemoryStoreData::read_log(const RunId& run, std::int32_t from_n,
                                                  std::size_t bytes_max) const {
  std::vector<SegmentPtr> out;
  const StoredRun* found = find_run(run);
  if (!found) return out;
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : found->log) {
    if (segment->n < from_n) continue;
    out.push_back(segment);
    bytes += segment->events.size() + segment->journal.size();
    if (bytes >= bytes_max) break;
  }
  return out;
}

PruneOutcome MemoryStoreData::prune(const Prune& prune, WallTime now) {
  std::erase_if(idempotency_,
                [now](const auto& made) { return made.second.at + kIdempotencyKept <= now; });
  PruneOutcome outcome;
  std::size_t segments = 0;
  for (auto at = runs_.begin(); at != runs_.end();) {
    const RunRow& row = at->second.row;
    bool is_spared =
        std::find(prune.spared.begin(), prune.spared.end(), row.id) != prune.spared.end();
    if (!is_terminal(row.status) || row.updated_at >= prune.ended_before || is_spared) {
      ++at;
      continue;
    }
    if (segments >= prune.segments_max) {
      outcome.is_done = false;
      break;
    }
    segments += at->second.log.size();
    ++outcome.runs;
    at = runs_.erase(at);
  }
  std::erase_if(blobs_, [](const auto& blob) { return blob.second.expired(); });
  return outcome;
}

Result<AddKeyOutcome> MemoryStoreData::add_key(ApiKeyRow key, const Idempotency& idempotency,
                                               WallTime now) {
  if (const Made* made = find_made(key.workspace, idempotency, now)) {
    bool same = made->fingerprint == idempotency.fingerprint;
    if (!same) return AddKeyOutcome{.kind = Creation::conflict};
    auto found = std::find_if(api_keys_.begin(), api_keys_.end(), [made](const ApiKeyRow& other) {
      return other.id.view() == made->subject;
    });
    return AddKeyOutcome{.kind = Creation::existing, .key = *found};
  }
  for (const ApiKeyRow& other : api_keys_) {
    if (other.hash == key.hash || other.id == key.id) {
      return Error(ErrorCode::conflict, "this key exists");
    }
  }
  remember_made(key.workspace, idempotency, key.id.str(), now);
  auto after = std::find_if(api_keys_.begin(), api_keys_.end(),
                            [&](const ApiKeyRow& other) { return key.id < other.id; });
  api_keys_.insert(after, key);
  return AddKeyOutcome{.key = std::move(key)};
}

Result<void> MemoryStoreData::revoke_key(const WorkspaceSlug& workspace, const KeyId& id,
                                         WallTime at) {
  for (ApiKeyRow& key : api_keys_) {
    if (key.workspace != workspace || key.id != id) continue;
    if (!key.revoked_at) key.revoked_at = at;
    return {};
  }
  return Error(ErrorCode::not_found, "there is no such key");
}

}  // namespace errand
