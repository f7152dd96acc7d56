// How runs leave memory and come back into it: while they wait for their client, after a restart,
// and after an append that failed.
#include <algorithm>
#include <utility>

#include "engine/engine.hpp"
#include "engine/whole_log.hpp"
#include "run/journal.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kClaimedAtOnce = 64;
constexpr milliseconds kClaimPause{1000};
constexpr milliseconds kReloadPauseFirst{50};
constexpr milliseconds kReloadPauseMax{5000};
// Vendors do not like to be asked ten thousand things at once.
constexpr std::size_t kResumedPerSecond = 2000;
// A suspect that has come no further by then is left to itself, and the next one has its turn.
constexpr milliseconds kSuspectTime{10'000};
constexpr milliseconds kSuspectPoll{100};

}  // namespace

Task<void> Engine::recover() {
  recovering_ = true;
  co_await claim_all();
  recovering_ = false;
  // Those that mail came for and that were nobody's to claim.
  std::erase_if(live_, [this](const auto& entry) {
    return !entry.second->agent() && !entry.second->has_readers() &&
           !loading_.contains(entry.first) && !entry.second->is_terminal();
  });
  recovered_ = true;
  co_await resume_suspects();
}

Task<void> Engine::claim_all() {
  std::size_t before = resumed_;
  while (!stopping_) {
    auto claimed = co_await deps_.store.claim(kClaimedAtOnce, kCallGrace);
    if (!claimed) {
      deps_.log.warning("cannot take over the runs of the last process yet",
                        {{"error", claimed.error().describe()}});
      co_await pause(kClaimPause);
      continue;
    }
    if (claimed->empty()) break;
    // Mail that comes from here on is not among what was claimed, and must find somebody to wait.
    for (const ClaimedRun& run : *claimed) {
      loading_.insert(run.row.id);
      if (LivePtr live = find_live(run.row.id)) {
        live->catch_up(run.row);
      } else {
        make_live(run.row);
      }
    }
    std::size_t resumed = resumed_;
    for (ClaimedRun& run : *claimed) co_await take_over(std::move(run));
    milliseconds breather = milliseconds(1000) * (resumed_ - resumed) / kResumedPerSecond;
    if (breather.count() > 0) co_await pause(breather);
  }
  if (resumed_ > before) {
    deps_.log.info("continued runs", {{"count", std::to_string(resumed_ - before)}});
  }
}

Task<void> Engine::take_over(ClaimedRun run) {
  RunId id = run.row.id;
  if (leave_resting(run)) co_return;
  auto state = co_await fold(id);
  int resumes = state ? (*state)->resumes_without_progress() : 0;
  if (resumes > 0) {
    suspects_.emplace(resumes, std::move(run));
    co_return;
  }
  Result<void> driven = state ? drive(std::move(run.row), std::move(run.mail), std::move(*state),
                                      agent::AgentRun::Start::recovered)
                              : Result<void>(state.error());
  end_loading(id);
  if (driven) {
    ++resumed_;
  } else {
    deps_.log.error("a run cannot be continued",
                    {{"run", id.str()}, {"error", driven.error().describe()}});
  }
}

// A run that only waits for its client, and whose client need not be told again, has nothing to
// do: it comes into memory when there is something.
bool Engine::leave_resting(const ClaimedRun& run) {
  LivePtr live = find_live(run.row.id);
  if (run.row.status != RunStatus::waiting || run.mail.empty() || live->has_early_mail()) {
    return false;
  }
  StoreTime now = deps_.store.now();
  milliseconds left = run.row.ends_by - deps_.clock.now();
  for (const Mailbox& box : run.mail) {
    if (box.filled || box.offer_again) return false;
    left = std::min(left, box.deadline - now);
  }
  rest(run.row.workspace, run.row.id, deps_.timers.now() + std::max(left, milliseconds(0)));
  end_loading(run.row.id);
  return true;
}

// Runs that were on record as resumed when the last process ended may be what ended it: they come
// last, the least suspicious first, and one at a time.
Task<void> Engine::resume_suspects() {
  for (auto& [resumes, suspect] : std::exchange(suspects_, {})) {
    if (stopping_) co_return;
    RunId id = suspect.row.id;
    auto loaded = co_await load(std::move(suspect.row), std::move(suspect.mail),
                                agent::AgentRun::Start::recovered);
    end_loading(id);
    if (!loaded) {
      deps_.log.error("a run cannot be continued",
                      {{"run", id.str()}, {"error", loaded.error().describe()}});
      continue;
    }
    ++resumed_;
    SteadyTime enough = deps_.timers.now() + kSuspectTime;
    while (!is_settled(id) && deps_.timers.now() < enough && !stopping_) {
      co_await pause(kSuspectPoll);
    }
  }
}

bool Engine::is_settled(const RunId& run) const {
  LivePtr live = find_live(run);
  if (!live || !live->agent()) return true;
  const agent::AgentRun& agent = *live->agent();
  return !agent.is_busy() || agent.state().resumes_without_progress() == 0;
}

Task<Result<std::unique_ptr<agent::State>>> Engine::fold(RunId run) {
  ERRAND_CO_TRY(auto journal, co_await read_whole_journal(&deps_.store, run));
  ERRAND_CO_TRY(auto entries, parse_journal(journal));
  auto state = std::make_unique<agent::State>();
  for (const JournalEntry& entry : entries) state->apply(entry);
  co_return state;
}

Task<Result<void>> Engine::load(RunRow row, std::vector<Mailbox> mail,
                                agent::AgentRun::Start start) {
  if (!find_live(row.id)) make_live(row);
  ERRAND_CO_TRY(auto state, co_await fold(row.id));
  co_return drive(std::move(row), std::move(mail), std::move(state), start);
}

Result<void> Engine::drive(RunRow row, std::vector<Mailbox> mail,
                           std::unique_ptr<agent::State> state, agent::AgentRun::Start start) {
  LivePtr live = find_live(row.id);
  if (!live) live = make_live(row);
  live->catch_up(row);
  if (stopping_) return {};
  const CatalogModel* model = deps_.catalog.find(state->created().model.id);
  if (!model) {
    // Another configuration may know it again; until then the run stays as it is.
    return Error(ErrorCode::unavailable,
                 "its model \"" + state->created().model.id + "\" is no longer configured");
  }
  live->attach(std::make_unique<agent::AgentRun>(surroundings_, *model->model, *live,
                                                 agent::AgentRun::Params{.row = std::move(row),
                                                                         .state = std::move(state),
                                                                         .mail = std::move(mail),
                                                                         .start = start}));
  return {};
}

void Engine::on_broken(LiveRun& run, const Error& error) {
  if (stopping_) return;
  LivePtr live = find_live(run.id());
  if (!live || !live->agent()) return;
  deps_.log.warning("what is in memory of a run is dropped and read again",
                    {{"run", run.id().str()}, {"error", error.describe()}});
  end_waiting(run);
  loading_.insert(run.id());
  tasks_.spawn("engine.replace", replace(live, live->detach()));
}

Task<void> Engine::replace(LivePtr run, std::unique_ptr<agent::AgentRun> broken) {
  co_await broken->stop(CancelReason::shutdown);
  broken.reset();
  co_await pause(kReloadPauseFirst);
  co_await reload(run->workspace(), run->id(), agent::AgentRun::Start::recovered);
  end_loading(run->id());
}

void Engine::on_waiting(LiveRun& run) {
  end_waiting(run);
  run.rest_timer =
      deps_.timers.set(deps_.timers.now() + kRestAfter, [this, id = run.id()] { put_aside(id); });
  waiting_.emplace(run.rest_timer, run.id());
  if (waiting_.size() > kWaitingRunsMax) put_aside(RunId(waiting_.begin()->second));
}

void Engine::end_waiting(LiveRun& run) {
  deps_.timers.cancel(run.rest_timer);
  waiting_.erase(run.rest_timer);
  run.rest_timer = {};
}

void Engine::put_aside(const RunId& run) {
  LivePtr live = find_live(run);
  if (!live || !live->agent() || stopping_) return;
  end_waiting(*live);
  if (!live->agent()->may_rest()) return;
  rest(live->workspace(), run, live->agent()->next_deadline());
  tasks_.spawn("engine.destroy", destroy(live, live->detach()));
  if (!live->has_readers()) live_.erase(run);
}

void Engine::rest(const WorkspaceSlug& workspace, const RunId& run, SteadyTime until) {
  Timers::Id timer = deps_.timers.set(until, [this, run] {
    WorkspaceSlug of = resting_.at(run).workspace;
    wake(of, run);
  });
  resting_[run] = {.workspace = workspace, .timer = timer};
}

void Engine::on_unused(LiveRun& run) {
  if (loading_.contains(run.id())) return;
  // Those that have just ended stay for a while.
  if (std::find(ended_.begin(), ended_.end(), run.id()) == ended_.end()) live_.erase(run.id());
}

void Engine::wake(const WorkspaceSlug& workspace, const RunId& run) {
  // A run of the last process that is not claimed yet comes with its mail when it is.
  bool is_claimed = !recovering_ || resting_.contains(run);
  if (stopping_ || !is_claimed || !loading_.insert(run).second) return;
  // Mail that comes while the run is read must find somebody to wait.
  if (!find_live(run)) make_live({.id = run, .workspace = workspace});
  if (auto resting = resting_.extract(run)) deps_.timers.cancel(resting.mapped().timer);
  tasks_.spawn("engine.activate", activate(workspace, run));
}

Task<void> Engine::activate(WorkspaceSlug workspace, RunId run) {
  co_await reload(workspace, run, agent::AgentRun::Start::activated);
  end_loading(run);
}

void Engine::end_loading(const RunId& run) {
  loading_.erase(run);
  LivePtr live = find_live(run);
  if (live && !live->agent() && !live->has_readers()) on_unused(*live);
}

// The store alone says how far the run got.
Task<void> Engine::reload(WorkspaceSlug workspace, RunId run, agent::AgentRun::Start start) {
  for (milliseconds pause = kReloadPauseFirst; !stopping_;
       pause = std::min(pause * 2, kReloadPauseMax)) {
    auto row = co_await deps_.store.find(workspace, run);
    auto mail = co_await deps_.store.mailboxes(run);
    if (row && mail) {
      if (is_terminal(row->status) || row->epoch != deps_.store.epoch()) {
        // It ended, or it is another's now.
        if (LivePtr live = find_live(run)) live->catch_up(*row);
        live_.erase(run);
        co_return;
      }
      auto loaded = co_await load(std::move(*row), std::move(*mail), start);
      if (loaded) co_return;
      deps_.log.error("a run cannot be continued",
                      {{"run", run.str()}, {"error", loaded.error().describe()}});
      if (loaded.error().code() == ErrorCode::internal) co_return;
    }
    co_await this->pause(pause);
  }
}

Task<void> Engine::pause(milliseconds duration) {
  if (stopping_) co_return;
  Wakeup wakeup(deps_.home.executor());
  pauses_.insert(&wakeup);
  TimerGuard timer(deps_.timers, deps_.timers.now() + duration, [&wakeup] { wakeup.notify(); });
  co_await wakeup.wait();
  pauses_.erase(&wakeup);
}

bool Engine::is_busy() const {
  for (const auto& [id, live] : live_) {
    if (live->agent() && live->agent()->is_busy()) return true;
  }
  return false;
}

Task<void> Engine::stop() {
  stopping_ = true;
  draining_ = true;
  std::vector<LivePtr> all;
  for (const auto& [id, live] : live_) all.push_back(live);
  live_.clear();
  for (const LivePtr& live : all) {
    end_waiting(*live);
    if (auto agent = live->detach()) co_await agent->stop(CancelReason::shutdown);
  }
  for (Wakeup* pause : pauses_) pause->notify();
  tell_watchers();
  co_await tasks_.join();  // never cancelled: they see agents out
  // A task that was taking runs over may have put some to rest until now.
  for (const auto& [run, resting] : resting_) deps_.timers.cancel(resting.timer);
  resting_.clear();
  for (Timers::Id timer : claim_timers_) deps_.timers.cancel(timer);
  claim_timers_.clear();
}

}  // namespace errand::engine
