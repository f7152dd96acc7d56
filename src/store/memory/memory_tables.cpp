#include "store/memory/memory_tables.hpp"

#include <algorithm>
#include <utility>

#include "store/run_filter.hpp"

namespace errand {
namespace {

std::vector<Mailbox> mail_of(const MemoryStoreData::StoredRun& run) {
  std::vector<Mailbox> out;
  for (const auto& [slot, box] : run.mail) out.push_back(box);
  return out;
}

bool has_unread_cancel(const MemoryStoreData::StoredRun& run, const Commit& commit) {
  const std::vector<std::string>& read = commit.effects.close;
  return std::any_of(run.mail.begin(), run.mail.end(), [&read](const auto& entry) {
    return entry.second.kind == MailKind::cancel &&
           std::find(read.begin(), read.end(), entry.first) == read.end();
  });
}

std::optional<CommitRefusal> refusal_of(const MemoryStoreData::StoredRun* run,
                                        const Commit& commit) {
  if (!run || run->row.epoch != commit.epoch) return CommitRefusal::stale_epoch;
  if (run->row.format > kRunFormat) return CommitRefusal::newer_format;
  bool is_at_end = run->row.last_seq == commit.expected_seq &&
                   run->row.segments == commit.segment->n && !is_terminal(run->row.status);
  if (!is_at_end) return CommitRefusal::not_at_end;
  if (is_terminal(commit.status) && has_unread_cancel(*run, commit)) {
    return CommitRefusal::mail_waiting;
  }
  return {};
}

void update_mail(MemoryStoreData::StoredRun& run, const Commit& commit) {
  if (is_terminal(commit.status)) return run.mail.clear();
  for (const std::string& slot : commit.effects.close) run.mail.erase(slot);
  for (const Mailbox& box : commit.effects.open) {
    auto [at, opened] = run.mail.emplace(box.slot, box);
    if (!opened) at->second.deadline = box.deadline;
  }
}

bool is_claimed(const Mailbox& box, StoreTime now) {
  return !box.claim_id.empty() && box.claimed_until > now;
}

MailOutcome fill(MemoryStoreData::StoredRun& run, Mail mail, StoreTime now, WallTime wall_now) {
  if (run.row.format > kRunFormat) return MailOutcome::newer_format;
  if (is_terminal(run.row.status)) return MailOutcome::run_ended;
  if (mail.owner_epoch && *mail.owner_epoch != run.row.epoch) return MailOutcome::stale_epoch;
  auto found = run.mail.find(mail.slot);
  if (!is_answer(mail.kind)) {
    if (found != run.mail.end()) return MailOutcome::unknown_slot;
    run.mail[mail.slot] = {.run = run.row.id,
                           .slot = mail.slot,
                           .kind = mail.kind,
                           .opened_at = wall_now,
                           .filled = true,
                           .body = std::move(mail.body)};
    return MailOutcome::accepted;
  }
  bool is_open = found != run.mail.end() && !found->second.filled;
  if (!is_open || found->second.kind != mail.kind) return MailOutcome::unknown_slot;
  Mailbox& box = found->second;
  bool may_fill = mail.owner_epoch || !is_claimed(box, now) || box.claim_id == mail.claim_id;
  if (!may_fill) return MailOutcome::claimed;
  box.filled = true;
  box.body = std::move(mail.body);
  return MailOutcome::accepted;
}

bool matches(const CallFilter& filter, const Mailbox& box, StoreTime now) {
  if (box.kind != MailKind::tool_result || box.filled) return false;
  bool is_next = filter.slot.empty() ? box.slot > filter.after : box.slot == filter.slot;
  if (!is_next) return false;
  if (!filter.name.empty() && box.name != filter.name) return false;
  if (filter.status == CallFilter::Status::any) return true;
  return is_claimed(box, now) == (filter.status == CallFilter::Status::claimed);
}

Error no_turn() {
  return Error(ErrorCode::internal, "a run without the turn adds to the history of a session");
}

SegmentPtr without_journal(const SegmentPtr& segment) {
  if (segment->journal.empty()) return segment;
  Segment copy = *segment;
  copy.journal.clear();
  return std::make_shared<const Segment>(std::move(copy));
}

SegmentPtr without_events(const SegmentPtr& segment) {
  if (segment->events.empty()) return segment;
  Segment copy = *segment;
  copy.events.clear();
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
                                                        StoreTime now) const {
  if (idempotency.key.empty()) return nullptr;
  auto found = idempotency_.find({workspace, idempotency.key});
  if (found == idempotency_.end() || found->second.at + kIdempotencyKept <= now) return nullptr;
  return &found->second;
}

void MemoryStoreData::remember_made(const WorkspaceSlug& workspace, const Idempotency& idempotency,
                                    std::string subject, StoreTime now) {
  if (idempotency.key.empty()) return;
  idempotency_[{workspace, idempotency.key}] = {
      .subject = std::move(subject), .fingerprint = idempotency.fingerprint, .at = now};
}

Result<CreateOutcome> MemoryStoreData::create(NewRun run, const Sender& sender) {
  if (const Made* made = find_made(run.row.workspace, run.idempotency, sender.now)) {
    bool same = made->fingerprint == run.idempotency.fingerprint;
    if (!same) return CreateOutcome{.kind = Creation::conflict};
    return CreateOutcome{.kind = Creation::existing, .run = *RunId::parse(made->subject)};
  }
  if (run.session) {
    auto refused = sessions_.refusal_of(run.row.workspace, *run.session);
    if (refused) return CreateOutcome{.refused = refused};
  }
  const RunId id = run.row.id;
  if (runs_.contains(id)) return Error(ErrorCode::conflict, "a run with this id exists");
  ERRAND_CHECK(check_blobs(run.row.workspace, run.effects.blobs));
  remember_made(run.row.workspace, run.idempotency, id.str(), sender.now);
  StoredRun& stored = runs_[id];
  stored.row = std::move(run.row);
  stored.row.epoch = sender.epoch;
  stored.row.session = {};
  stored.row.segments = 1;
  stored.row.last_seq = run.first.last_seq;
  stored.log.push_back(std::make_shared<const Segment>(std::move(run.first)));
  if (is_terminal(stored.row.status)) note_end(stored, sender.now);
  for (const Mailbox& box : run.effects.open) stored.mail.emplace(box.slot, box);
  keep_blobs(stored, run.effects.blobs);
  CreateOutcome outcome{.run = id, .epoch = sender.epoch};
  if (run.session) join_session(stored, *run.session, sender, outcome);
  return outcome;
}

std::shared_ptr<const std::string> MemoryStoreData::find_blob(const WorkspaceSlug& workspace,
                                                              const std::string& hash) const {
  auto found = blobs_.find({workspace, hash});
  return found == blobs_.end() ? nullptr : found->second.lock();
}

Result<void> MemoryStoreData::check_blobs(const WorkspaceSlug& workspace,
                                          const std::vector<RunBlob>& blobs) const {
  for (const RunBlob& blob : blobs) {
    if (blob.bytes || find_blob(workspace, blob.hash)) continue;
    return Error(ErrorCode::not_found, "a file of the run is no longer there");
  }
  return {};
}

void MemoryStoreData::keep_blobs(StoredRun& run, const std::vector<RunBlob>& blobs) {
  for (const RunBlob& blob : blobs) {
    auto bytes = find_blob(run.row.workspace, blob.hash);
    // A copy, so that it lives only as long as a run of this store has it.
    if (!bytes) bytes = std::make_shared<const std::string>(*blob.bytes);
    blobs_[{run.row.workspace, blob.hash}] = bytes;
    run.blobs[blob.hash] = std::move(bytes);
  }
}

Result<Appended> MemoryStoreData::append(const Commit& commit, StoreTime now) {
  StoredRun* run = find_run(commit.key);
  if (auto refused = refusal_of(run, commit)) return Appended{.refused = refused};
  ERRAND_CHECK(check_blobs(commit.key.workspace, commit.effects.blobs));
  if (!commit.effects.history.empty() && !sessions_.has_turn(run->row)) return no_turn();
  run->row.status = commit.status;
  run->row.last_seq = commit.segment->last_seq;
  run->row.segments = commit.segment->n + 1;
  run->row.updated_at = commit.segment->at;
  if (is_terminal(commit.status)) note_end(*run, now);
  run->log.push_back(commit.segment);
  update_mail(*run, commit);
  keep_blobs(*run, commit.effects.blobs);
  sessions_.add_history(run->row, commit.effects.history);
  Appended appended;
  if (is_terminal(commit.status)) appended.started = leave_session(*run, commit);
  return appended;
}

MailOutcome MemoryStoreData::mail(Mail mail, const Sender& sender) {
  StoredRun* run = find_run(mail.to);
  if (!run) return MailOutcome::unknown_run;
  std::pair<RunId, std::string> place(mail.to.run, mail.slot);
  std::vector<RunBlob> blobs = std::move(mail.effects.blobs);
  MailOutcome outcome = fill(*run, std::move(mail), sender.now, sender.wall_now);
  if (outcome == MailOutcome::accepted) keep_blobs(*run, blobs);
  bool owner_knows = outcome == MailOutcome::accepted && run->row.epoch == sender.epoch;
  if (owner_knows) processes_[sender.epoch].mail.insert(std::move(place));
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
  const bool is_free = claim.kind == CallClaim::Kind::claim && !is_claimed(*box, now);
  const bool may_take = is_free || box->claim_id == claim.claim_id;
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
  std::size_t shown = 0;
  for (std::size_t bytes = 0; shown < std::min(found.size(), filter.limit); ++shown) {
    if (bytes >= filter.bytes_max) {
      ++shown;
      break;
    }
    bytes += found[shown].request.size();
  }
  found.resize(shown);
  return found;
}

bool MemoryStoreData::is_claimable(const StoredRun& run, std::int64_t epoch, StoreTime now) const {
  if (is_terminal(run.row.status) || run.row.format > kRunFormat || run.row.epoch == epoch) {
    return false;
  }
  auto owner = processes_.find(run.row.epoch);
  return owner == processes_.end() || owner->second.lease_until <= now ||
         left_.contains(run.row.epoch);
}

ClaimedRuns MemoryStoreData::claim(std::int64_t epoch, const ClaimRuns& params, StoreTime now) {
  ClaimedRuns out;
  if (!processes_.contains(epoch)) return out;
  std::map<RunKey, StoredRun*> ordered;
  for (auto& [id, run] : runs_) {
    if (params.only && run.row.key() != *params.only) continue;
    if (!params.after || run.row.key() > *params.after) ordered[run.row.key()] = &run;
  }
  for (auto& [key, run] : ordered) {
    if (!is_claimable(*run, epoch, now)) continue;
    if (!params.after) ++out.found;
    if (out.next) continue;
    if (out.runs.size() == params.limit) {
      out.next = out.runs.back().row.key();
      if (params.after) break;
      continue;
    }
    const std::int64_t former_epoch = std::exchange(run->row.epoch, epoch);
    for (auto& [slot, box] : run->mail) {
      if (!box.filled) box.deadline = std::max(box.deadline, now + params.grace);
      if (box.filled) processes_[epoch].mail.insert({key.run, slot});
    }
    out.runs.push_back({.row = run->row,
                        .mail = mail_of(*run),
                        .former_epoch = former_epoch,
                        .was_left = former_epoch == 0 || left_.contains(former_epoch)});
  }
  return out;
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

Result<void> MemoryStoreData::release(const RunKey& run, std::int64_t epoch) {
  StoredRun* found = find_run(run);
  if (!found || found->row.epoch != epoch || is_terminal(found->row.status)) {
    return Error(ErrorCode::conflict, "the run is not owned with this epoch");
  }
  found->row.epoch = 0;
  return {};
}

const MemoryStoreData::StoredRun* MemoryStoreData::find_run(const RunKey& run) const {
  auto found = runs_.find(run.run);
  if (found == runs_.end() || found->second.row.workspace != run.workspace) return nullptr;
  return &found->second;
}

MemoryStoreData::StoredRun* MemoryStoreData::find_run(const RunKey& run) {
  return const_cast<StoredRun*>(std::as_const(*this).find_run(run));
}

Result<RunRow> MemoryStoreData::find(const RunKey& run) const {
  const StoredRun* found = find_run(run);
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
        filter.session.value_or(row.session) == row.session &&
        filter.created.contains(row.created_at) &&
        matches_metadata(filter.metadata, row.metadata)) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<Mailbox> MemoryStoreData::mailboxes(const RunKey& run) const {
  const StoredRun* found = find_run(run);
  return found ? mail_of(*found) : std::vector<Mailbox>();
}

std::vector<SegmentPtr> MemoryStoreData::read_events(const RunKey& run, EventSeq after,
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

Result<std::string> MemoryStoreData::read_blob(const RunKey& run, const std::string& hash) const {
  const Error none(ErrorCode::not_found, "the run has no such file");
  const StoredRun* found = find_run(run);
  if (!found) return none;
  auto blob = found->blobs.find(hash);
  if (blob == found->blobs.end()) return none;
  return *blob->second;
}

std::vector<RunRow> MemoryStoreData::all_runs(const std::optional<RunKey>& after,
                                              std::size_t limit) const {
  std::vector<RunRow> rows;
  for (const auto& [id, run] : runs_) {
    if (!after || run.row.key() > *after) rows.push_back(run.row);
  }
  std::sort(rows.begin(), rows.end(),
            [](const RunRow& a, const RunRow& b) { return a.key() < b.key(); });
  if (rows.size() > limit) rows.resize(limit);
  return rows;
}

template <class Part>
std::vector<SegmentPtr> MemoryStoreData::read_page(const RunKey& run, EventSeq after,
                                                   std::size_t bytes_max, Part part) const {
  std::vector<SegmentPtr> out;
  const StoredRun* found = find_run(run);
  if (!found) return out;
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : found->log) {
    if (segment->last_seq <= after) continue;
    if (!out.empty() && bytes >= bytes_max && segment->last_seq > out.back()->last_seq) break;
    out.push_back(part(segment));
    bytes += out.back()->events.size() + out.back()->journal.size();
  }
  return out;
}

std::vector<SegmentPtr> MemoryStoreData::read_log(const RunKey& run, EventSeq after,
                                                  std::size_t bytes_max) const {
  return read_page(run, after, bytes_max, [](const SegmentPtr& segment) { return segment; });
}

std::vector<SegmentPtr> MemoryStoreData::read_journal(const RunKey& run, EventSeq after,
                                                      std::size_t bytes_max) const {
  return read_page(run, after, bytes_max, without_events);
}

RecordsOutcome MemoryStoreData::change_records(const std::vector<RecordChange>& changes,
                                               WallTime now) {
  RecordsOutcome outcome;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    auto found = records_.find(changes[i].key);
    std::int64_t version = found == records_.end() ? 0 : found->second.version;
    if (changes[i].expected_version.value_or(version) != version) return {.refused = i};
  }
  for (const RecordChange& change : changes) {
    if (!change.body) {
      records_.erase(change.key);
      continue;
    }
    Record& record = records_[change.key];
    if (record.version == 0) record.created_at = now;
    record.key = change.key;
    record.version += 1;
    record.updated_at = now;
    record.body = *change.body;
    outcome.records.push_back(record);
  }
  return outcome;
}

Result<Record> MemoryStoreData::find_record(const RecordKey& key) const {
  auto found = records_.find(key);
  if (found == records_.end()) return Error(ErrorCode::not_found, "there is no such record");
  return found->second;
}

std::vector<Record> MemoryStoreData::list_records(const RecordFilter& filter) const {
  std::vector<Record> out;
  std::size_t bytes = 0;
  RecordKey first{.workspace = filter.workspace, .kind = filter.kind, .id = filter.after};
  for (auto at = records_.upper_bound(first); at != records_.end(); ++at) {
    bool is_wanted = at->first.workspace == filter.workspace && at->first.kind == filter.kind;
    if (!is_wanted || out.size() == filter.limit) break;
    out.push_back(at->second);
    if (bytes >= filter.bytes_max) break;
    bytes += out.back().body.size();
  }
  return out;
}

Result<AddKeyOutcome> MemoryStoreData::add_key(ApiKeyRow key, const Idempotency& idempotency,
                                               StoreTime now) {
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
