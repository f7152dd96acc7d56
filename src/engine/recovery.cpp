// How runs leave memory and come back into it: while they wait for their client, after a restart,
// and after an append that failed.
#include <utility>

#include "engine/engine.hpp"
#include "run/journal.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kClaimedAtOnce = 64;
constexpr milliseconds kClaimPause{1000};
constexpr milliseconds kReloadPauseFirst{50};
constexpr milliseconds kReloadPauseMax{5000};

}  // namespace

Task<void> Engine::recover() {
  recovering_ = true;
  std::size_t resumed = 0;
  while (!stopping_) {
    auto claimed = co_await deps_.store.claim(kClaimedAtOnce);
    if (!claimed) {
      deps_.log.warning("cannot take over the runs of the last process yet",
                        {{"error", claimed.error().describe()}});
      co_await pause(kClaimPause);
      continue;
    }
    if (claimed->empty()) break;
    co_await load_all(std::move(*claimed), &resumed);
  }
  if (resumed > 0) deps_.log.info("continued runs", {{"count", std::to_string(resumed)}});
  recovering_ = false;
  recovered_ = true;
}

Task<void> Engine::load_all(std::vector<ClaimedRun> runs, std::size_t* loaded) {
  // Mail that comes from here on is not among what was claimed, and must find somebody to wait.
  for (const ClaimedRun& run : runs) {
    loading_.insert(run.row.id);
    if (!find_live(run.row.id)) make_live(run.row);
  }
  for (ClaimedRun& run : runs) {
    RunId id = run.row.id;
    auto done =
        co_await load(std::move(run.row), std::move(run.mail), agent::AgentRun::Start::recovered);
    loading_.erase(id);
    if (done) {
      ++*loaded;
    } else {
      deps_.log.error("a run cannot be continued",
                      {{"run", id.str()}, {"error", done.error().describe()}});
    }
  }
}

Task<Result<std::unique_ptr<agent::State>>> Engine::fold(RunId run) {
  ERRAND_CO_TRY(auto journal, co_await deps_.store.read_journal(run));
  ERRAND_CO_TRY(auto entries, parse_journal(journal));
  auto state = std::make_unique<agent::State>();
  for (const JournalEntry& entry : entries) state->apply(entry);
  co_return state;
}

Task<Result<void>> Engine::load(RunRow row, std::vector<Mailbox> mail,
                                agent::AgentRun::Start start) {
  LivePtr live = find_live(row.id);
  if (!live) live = make_live(row);
  ERRAND_CO_TRY(auto state, co_await fold(row.id));
  live->catch_up(row);
  if (stopping_) co_return Result<void>();
  const CatalogModel* model = deps_.catalog.find(state->created().model.id);
  if (!model) {
    // Another configuration may know it again; until then the run stays as it is.
    co_return Error(ErrorCode::unavailable,
                    "its model \"" + state->created().model.id + "\" is no longer configured");
  }
  live->attach(std::make_unique<agent::AgentRun>(surroundings_, *model->model, *live,
                                                 agent::AgentRun::Params{.row = std::move(row),
                                                                         .state = std::move(state),
                                                                         .mail = std::move(mail),
                                                                         .start = start}));
  co_return Result<void>();
}

void Engine::on_broken(LiveRun& run, const Error& error) {
  if (stopping_) return;
  LivePtr live = find_live(run.id());
  if (!live || !live->agent()) return;
  deps_.log.warning("what is in memory of a run is dropped and read again",
                    {{"run", run.id().str()}, {"error", error.describe()}});
  loading_.insert(run.id());
  tasks_.spawn("engine.replace", replace(live, live->detach()));
}

Task<void> Engine::replace(LivePtr run, std::unique_ptr<agent::AgentRun> broken) {
  co_await broken->stop(CancelReason::shutdown);
  broken.reset();
  co_await pause(kReloadPauseFirst);
  co_await reload(run->workspace(), run->id(), agent::AgentRun::Start::recovered);
  loading_.erase(run->id());
}

void Engine::on_waiting(LiveRun& run) {
  deps_.timers.cancel(run.rest_timer);
  run.rest_timer =
      deps_.timers.set(deps_.timers.now() + kRestAfter, [this, id = run.id()] { put_aside(id); });
}

void Engine::put_aside(const RunId& run) {
  LivePtr live = find_live(run);
  if (!live || !live->agent() || stopping_) return;
  live->rest_timer = {};
  if (!live->agent()->may_rest()) return;
  WorkspaceSlug workspace = live->workspace();
  resting_[run] = deps_.timers.set(live->agent()->next_deadline(),
                                   [this, workspace, run] { wake(workspace, run); });
  tasks_.spawn("engine.destroy", destroy(live, live->detach()));
  if (!live->has_readers()) live_.erase(run);
}

void Engine::on_unused(LiveRun& run) {
  if (!run.is_terminal() && !loading_.contains(run.id())) live_.erase(run.id());
}

void Engine::wake(const WorkspaceSlug& workspace, const RunId& run) {
  // A run of the last process that is not claimed yet comes with its mail when it is.
  bool is_claimed = !recovering_ || resting_.contains(run);
  if (stopping_ || !is_claimed || !loading_.insert(run).second) return;
  if (auto resting = resting_.extract(run)) deps_.timers.cancel(resting.mapped());
  tasks_.spawn("engine.activate", activate(workspace, run));
}

Task<void> Engine::activate(WorkspaceSlug workspace, RunId run) {
  co_await reload(workspace, run, agent::AgentRun::Start::activated);
  loading_.erase(run);
}

// The store alone says how far the run got.
Task<void> Engine::reload(WorkspaceSlug workspace, RunId run, agent::AgentRun::Start start) {
  for (milliseconds pause = kReloadPauseFirst; !stopping_;
       pause = std::min(pause * 2, kReloadPauseMax)) {
    auto row = co_await deps_.store.find(workspace, run);
    auto mail = co_await deps_.store.mailboxes(run);
    if (row && mail) {
      if (is_terminal(row->status)) {
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
    deps_.timers.cancel(live->rest_timer);
    if (auto agent = live->detach()) co_await agent->stop(CancelReason::shutdown);
  }
  for (const auto& [run, timer] : resting_) deps_.timers.cancel(timer);
  resting_.clear();
  for (Wakeup* pause : pauses_) pause->notify();
  co_await tasks_.join();  // never cancelled: they see agents out
}

}  // namespace errand::engine
