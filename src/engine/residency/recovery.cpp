// Runs of earlier processes: how they are taken over, and how those that may have brought a process
// down are tried.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "engine/residency/residency.hpp"
#include "engine/residency/whole_log.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kClaimedAtOnce = 64;
constexpr Backoff::Bounds kClaimPauses{.first = milliseconds(500), .max = milliseconds(5000)};
constexpr Backoff::Bounds kReadPauses{};
constexpr Backoff::Bounds kWritePauses{.first = milliseconds(500), .max = milliseconds(5000)};
// At most this many runs are resumed in each interval, because vendors do not like ten thousand
// requests at once: 2,000 runs a second.
constexpr milliseconds kPaceInterval{50};
constexpr std::size_t kResumedAtOnce = 100;
constexpr milliseconds kTrialPoll{100};
// Suspects wait this long for runs whose journals cannot be read. A run that is read even later is
// not tried any more.
constexpr milliseconds kUnreadWait{60'000};

RecordKey trial_key(std::int64_t epoch) {
  return {.workspace = {}, .kind = "trial", .id = std::to_string(epoch)};
}

// Whether the journal may be readable later.
bool is_unread(const Result<std::unique_ptr<agent::State>>& state) {
  return !state && state.error().code() != ErrorCode::internal;
}

}  // namespace

Task<void> Residency::recover() {
  is_recovering_ = true;
  co_await claim_all();
  is_recovering_ = false;
  // Runs that mail came for, but that were not claimed.
  std::vector<RunId> unclaimed;
  for (const auto& [id, resident] : residents_) {
    if (resident.place == Place::unowned) unclaimed.push_back(id);
  }
  for (const RunId& run : unclaimed) drop_unused(run);
  recovered_ = true;
  // Runs that are resumed while suspects are tried could be mistaken for suspects.
  const SteadyTime enough = deps_.timers.now() + kUnreadWait;
  while (!deps_.pauses.ended()) {
    const bool is_reading = unread_ > 0 && deps_.timers.now() < enough;
    if (to_resume_.empty() && !is_reading) break;
    co_await deps_.pauses.pause(kTrialPoll);
  }
  is_judging_ = false;
  co_await try_suspects();
}

Task<void> Residency::claim_all() {
  std::size_t before = resumed_;
  std::optional<RunKey> after;
  Backoff backoff(kClaimPauses, std::to_string(deps_.store.epoch()));
  do {
    auto claimed =
        co_await deps_.store.claim({.limit = kClaimedAtOnce, .grace = kCallGrace, .after = after});
    if (!claimed) {
      deps_.log.warning("cannot take over the runs of the last process yet",
                        {{"error", claimed.error().describe()}});
      co_await deps_.pauses.pause(backoff.next());
      continue;
    }
    backoff.reset();
    // Mail that arrives from here on was not claimed with the runs, and must find a waiting run.
    for (const ClaimedRun& run : claimed->runs) expect(run);
    if (!after) backlog_ = claimed->found;
    tell_backlog(*claimed);
    co_await take_over_page(std::move(claimed->runs));
    after = claimed->next;
    if (!after) break;
  } while (!deps_.pauses.ended());
  backlog_ = 0;
  if (resumed_ > before || count(Place::suspect) > 0) {
    deps_.log.info("took over runs of the last process",
                   {{"goOn", std::to_string(resumed_ - before)},
                    {"heldBack", std::to_string(count(Place::suspect))},
                    {"waitForClients", std::to_string(count(Place::resting))}});
  }
}

Task<Result<bool>> Residency::take_over_cancelled(RunKey run) {
  ERRAND_CO_TRY(auto claimed,
                co_await deps_.store.claim({.limit = 1, .grace = kCallGrace, .only = run}));
  if (claimed.runs.empty()) co_return false;
  expect(claimed.runs.front());
  co_await take_over_page(std::move(claimed.runs));
  co_return true;
}

void Residency::expect(const ClaimedRun& run) {
  if (deps_.pauses.ended()) return;
  Resident& resident = enter(run.row.key());
  move(resident, Place::claimed);
  live_of(run.row.id, resident).catch_up(run.row);
}

// A single page of runs is taken over before anybody could read the message.
void Residency::tell_backlog(const ClaimedRuns& claimed) {
  const SteadyTime now = deps_.timers.now();
  const bool is_first = claimed.found > 0;
  if (is_first && claimed.next) {
    deps_.log.info("taking over runs of the last process",
                   {{"runs", std::to_string(claimed.found)}});
    backlog_told_ = now;
  } else if (!is_first && backlog_ > 0 && now - backlog_told_ >= kBacklogTold) {
    deps_.log.info("still taking over runs of the last process",
                   {{"left", std::to_string(backlog_)}});
    backlog_told_ = now;
  }
}

// The record of the trial is written once for all runs of a page, before any of them is resumed. If
// one of them ends this process, the next process knows the other suspects, too.
Task<void> Residency::take_over_page(std::vector<ClaimedRun> runs) {
  const std::size_t suspects = trial_.suspects.size();
  std::vector<Taken> ready;
  for (ClaimedRun& run : runs) {
    auto taken = co_await take_over(std::move(run));
    if (taken) ready.push_back(std::move(*taken));
    if (backlog_ > 0) --backlog_;
  }
  co_await note_trial(!ready.empty(), suspects);
  for (Taken& one : ready) go_on_or_queue(std::move(one));
}

// Writes the record if it no longer covers what is about to happen: the first runs are resumed, or
// runs are resumed beside more suspects than `suspects_before`.
Task<void> Residency::note_trial(bool goes_on, std::size_t suspects_before) {
  const bool is_first_on = goes_on && !std::exchange(trial_.is_everyone_on, true);
  const bool has_new_suspect = trial_.is_everyone_on && trial_.suspects.size() > suspects_before;
  if (is_first_on || has_new_suspect) co_await write_trial();
}

Task<std::optional<Residency::Taken>> Residency::take_over(ClaimedRun run) {
  if (deps_.pauses.ended()) co_return std::nullopt;
  bool is_resting = co_await leave_resting(&run);
  if (is_resting) co_return std::nullopt;
  auto state = co_await fold_run(&deps_.store, deps_.surroundings.schemas.pool, run.row.key());
  if (is_unread(state)) {
    ++unread_;
    tasks_.spawn("engine.take_over", take_over_later(std::move(run)));
    co_return std::nullopt;
  }
  auto taken = co_await judge(std::move(run), std::move(state));
  co_return taken;
}

// Only its journal tells whether the run is a suspect, so it is not resumed unread. Other runs do
// not wait for it.
Task<void> Residency::take_over_later(ClaimedRun run) {
  for (Backoff backoff(kReadPauses, run.row.id.view()); !deps_.pauses.ended();) {
    co_await deps_.pauses.pause(backoff.next());
    auto state = co_await fold_run(&deps_.store, deps_.surroundings.schemas.pool, run.row.key());
    if (is_unread(state)) continue;
    const std::size_t suspects = trial_.suspects.size();
    auto taken = co_await judge(std::move(run), std::move(state));
    co_await note_trial(taken.has_value(), suspects);
    if (taken) go_on_or_queue(std::move(*taken));
    break;
  }
  --unread_;
}

Task<std::optional<Residency::Taken>> Residency::judge(
    ClaimedRun run, Result<std::unique_ptr<agent::State>> state) {
  const RunKey key = run.row.key();
  Suspicion suspected;
  if (is_judging_ && state && (*state)->is_just_resumed()) {
    const ProcessEnd end = run.was_left ? ProcessEnd::left : ProcessEnd::killed;
    suspected = co_await suspicion(key.run, run.former_epoch, end);
  }
  const Resident* resident = look_up(key.run);
  if (!resident || deps_.pauses.ended()) co_return std::nullopt;
  // Its session has given the run the turn meanwhile.
  if (resident->place != Place::claimed) co_return std::nullopt;
  if (suspected.kills > 0) {
    hold_back(std::move(run), suspected);
    co_return std::nullopt;
  }
  co_return Taken{.run = std::move(run), .state = std::move(state)};
}

void Residency::go_on_or_queue(Taken taken) {
  const RunKey key = taken.run.row.key();
  Resident* resident = look_up(key.run);
  if (!resident || deps_.pauses.ended() || resident->place != Place::claimed) return;
  // A cancelled run ends without a slot.
  const bool is_hurried =
      has_cancel(taken.run.mail) || (resident->live && resident->live->has_early_mail());
  if (must_queue(key.workspace) && !is_hurried) {
    queue(key, *resident, end_of(taken.run.row), Start::recovered);
    return drop_unused(key.run);
  }
  resumed_at_once_.push_back(key.run);
  if (!is_hurried && !may_resume_now()) {
    wait_to_resume(taken.run.row, *resident);
    return drop_unused(key.run);
  }
  go_on(std::move(taken.run), std::move(taken.state));
}

bool Residency::may_resume_now() {
  if (!to_resume_.empty()) return false;
  const SteadyTime now = deps_.timers.now();
  if (now >= pace_ends_) {
    pace_ends_ = now + kPaceInterval;
    resumed_in_pace_ = 0;
  }
  return ++resumed_in_pace_ <= kResumedAtOnce;
}

// Queues the run without a ticket: no limit keeps it from a slot, so new runs do not wait behind
// it. Mail resumes it at once, as it does with every queued run.
void Residency::wait_to_resume(const RunRow& row, Resident& resident) {
  const RunKey key = row.key();
  const SteadyTime until = end_of(row);
  move(resident, Place::queued);
  resident.start = Start::recovered;
  resident.ticket = 0;
  resident.timer = deps_.timers.set(until, [this, key] {
    if (Resident* late = look_up(key.run)) start_in_slot(key, *late);
  });
  ++resumed_;
  if (to_resume_.empty()) tasks_.spawn("engine.resume", resume_in_turn());
  to_resume_.emplace_back(key, until);
}

Task<void> Residency::resume_in_turn() {
  while (!to_resume_.empty() && !deps_.pauses.ended()) {
    co_await deps_.pauses.pause(kPaceInterval);
    for (std::size_t begun = 0; begun < kResumedAtOnce && !to_resume_.empty();) {
      const auto [run, until] = std::move(to_resume_.front());
      to_resume_.pop_front();
      Resident* resident = look_up(run.run);
      // Mail, or the end of the run's time, may have come first.
      if (!resident || resident->place != Place::queued || resident->ticket != 0) continue;
      ++begun;
      if (must_queue(run.workspace)) {
        queue(run, *resident, until, Start::recovered);
      } else {
        start_in_slot(run, *resident);
      }
    }
  }
}

void Residency::hold_back(ClaimedRun run, Suspicion suspected) {
  const RunId id = run.row.id;
  Resident& resident = *look_up(id);
  if (suspected == Suspicion{.kills = 1}) ++everyone_suspected_;
  trial_.suspects[id] = suspected;
  // The cancel may have come after the claim.
  const bool is_released =
      has_cancel(run.mail) || (resident.live && resident.live->has_early_cancel());
  resident.held = std::make_unique<ClaimedRun>(std::move(run));
  move(resident, Place::suspect);
  if (is_released) release(id);
}

// A run that only waits for its session's turn, for a slot, or for a client that need not be told
// again has nothing to do. It is loaded into memory when that changes.
Task<bool> Residency::leave_resting(const ClaimedRun* run) {
  const RunRow& row = run->row;
  bool is_waiting =
      (row.status == RunStatus::waiting && !run->mail.empty()) || row.status == RunStatus::queued;
  if (!is_waiting) co_return false;
  const StoreTime now = deps_.store.now();
  StoreTime until = row.ends_by;
  for (const Mailbox& box : run->mail) {
    if (box.filled || box.offer_again) co_return false;
    until = std::min(until, box.deadline);
  }
  bool waits_for_slot = false;
  if (row.status == RunStatus::queued) waits_for_slot = co_await has_turn(row);
  Resident* resident = look_up(row.id);
  if (!resident || deps_.pauses.ended()) co_return true;
  if (resident->place != Place::claimed) co_return true;  // it has the turn by now
  // Mail may have come meanwhile.
  if (resident->live && resident->live->has_early_mail()) co_return false;
  const SteadyTime wakes = deps_.timers.now() + std::max(until - now, milliseconds(0));
  if (waits_for_slot) {
    queue(row.key(), *resident, wakes, Start::fresh);
  } else {
    rest(row.id, *resident, wakes);
  }
  drop_unused(row.id);
  co_return true;
}

// A run without a session needs no turn. If the session cannot be read, the run waits for a slot,
// and asks again when it starts.
Task<bool> Residency::has_turn(RunRow row) {
  if (row.session.empty()) co_return true;
  auto session = co_await deps_.store.find_session({row.workspace, row.session});
  co_return !session || session->current == row.id;
}

Task<Suspicion> Residency::suspicion(RunId run, std::int64_t former_epoch, ProcessEnd end) {
  auto known = former_trials_.find(former_epoch);
  if (known == former_trials_.end()) {
    Trial trial = co_await read_trial(former_epoch);
    known = former_trials_.emplace(former_epoch, std::move(trial)).first;
  }
  co_return suspicion_of(known->second, run, end);
}

// A process that left no record tried no runs. If a record cannot be read yet, the process may
// have, so the store is asked until it answers.
Task<Trial> Residency::read_trial(std::int64_t former_epoch) {
  for (Backoff backoff(kReadPauses, std::to_string(former_epoch)); !deps_.pauses.ended();) {
    auto record = co_await deps_.store.find_record(trial_key(former_epoch));
    if (record) {
      auto trial = parse_trial(record->body);
      co_return trial ? std::move(*trial) : Trial();
    }
    if (record.error().code() == ErrorCode::not_found) break;
    co_await deps_.pauses.pause(backoff.next());
  }
  co_return Trial();
}

// Resumes a run. A journal that the store cannot give now is read later.
void Residency::go_on(ClaimedRun run, Result<std::unique_ptr<agent::State>> state) {
  const RunKey key = run.row.key();
  Resident* resident = look_up(key.run);
  if (!resident || deps_.pauses.ended()) return;
  ++resumed_;
  auto suspected = trial_.suspects.find(key.run);
  resident->is_given_up =
      suspected != trial_.suspects.end() && suspected->second.strikes >= agent::kStrikesMax;
  if (!state) return load(key, *resident, Start::recovered);
  drive({.row = std::move(run.row),
         .state = std::move(*state),
         .mail = std::move(run.mail),
         .start = Start::recovered});
}

// Resumes a suspect.
void Residency::release(const RunId& run) {
  Resident* resident = look_up(run);
  if (!resident || resident->place != Place::suspect) return;
  move(*resident, Place::loading);
  tasks_.spawn("engine.release", read_and_go_on(std::move(*resident->held)));
  resident->held.reset();
}

Task<void> Residency::read_and_go_on(ClaimedRun run) {
  auto state = co_await fold_run(&deps_.store, deps_.surroundings.schemas.pool, run.row.key());
  go_on(std::move(run), std::move(state));
}

// Only one group is on trial at a time, and the record says which: if the process is killed, no
// other run is suspected.
Task<void> Residency::try_suspects() {
  if (everyone_suspected_ == 1) {
    // `everyone` was a single run, so it was alone when the process was killed.
    for (auto& [run, suspected] : trial_.suspects) {
      if (suspected == Suspicion{.kills = 1}) suspected.strikes = 1;
    }
  }
  std::vector<std::vector<RunId>> groups = plan_trials(trial_.suspects);
  if (groups.empty() && !is_trial_written_) co_return;
  co_await watch(std::exchange(resumed_at_once_, {}), groups.empty() ? kLastTrialTime : kTrialTime);
  for (std::size_t i = 0; i < groups.size() && !deps_.pauses.ended(); ++i) {
    trial_.is_everyone_on = false;
    trial_.on = groups[i];
    co_await write_trial();
    if (deps_.pauses.ended()) co_return;
    for (const RunId& run : groups[i]) release(run);
    co_await watch(groups[i], i + 1 == groups.size() ? kLastTrialTime : kTrialTime);
    for (const RunId& run : groups[i]) trial_.suspects.erase(run);
  }
  if (deps_.pauses.ended()) co_return;
  trial_ = {};
  co_await write_trial();
  former_trials_.clear();
}

// Returns when all of the runs have made progress, or the time is over.
Task<void> Residency::watch(std::vector<RunId> runs, milliseconds time) {
  const SteadyTime enough = deps_.timers.now() + time;
  while (deps_.timers.now() < enough && !deps_.pauses.ended()) {
    std::erase_if(runs, [this](const RunId& run) { return is_settled(run); });
    if (runs.empty()) co_return;
    co_await deps_.pauses.pause(kTrialPoll);
  }
}

bool Residency::is_settled(const RunId& run) const {
  const Resident* resident = look_up(run);
  if (!resident) return true;
  if (resident->place == Place::loading || resident->place == Place::claimed) return false;
  if (!resident->live || !resident->live->agent()) return true;
  const agent::AgentRun& agent = *resident->live->agent();
  return !agent.is_busy() || !agent.state().is_just_resumed();
}

// The record is durable when this returns. Then the records of earlier processes are no longer
// needed.
Task<void> Residency::write_trial() {
  std::vector<RecordChange> changes;
  RecordChange& own = changes.emplace_back();
  own.key = trial_key(deps_.store.epoch());
  if (trial_ != Trial()) own.body = to_json(trial_);
  for (const auto& [epoch, trial] : former_trials_) {
    if (trial != Trial() && recovered_) changes.push_back({.key = trial_key(epoch), .body = {}});
  }
  is_trial_written_ = true;
  for (Backoff backoff(kWritePauses, std::to_string(deps_.store.epoch())); !deps_.pauses.ended();) {
    auto written = co_await deps_.store.change_records(changes);
    if (written) co_return;
    deps_.log.warning("cannot note which runs are on trial",
                      {{"error", written.error().describe()}});
    co_await deps_.pauses.pause(backoff.next());
  }
}

}  // namespace errand::engine
