// How runs come back into memory: after a restart, and after an append that failed.
#include <utility>

#include "engine/engine.hpp"
#include "run/journal.hpp"

namespace errand::engine {
namespace {

constexpr std::size_t kClaimedAtOnce = 64;
constexpr milliseconds kReloadPauseFirst{50};
constexpr milliseconds kReloadPauseMax{5000};

}  // namespace

Task<Result<void>> Engine::recover() {
  std::size_t resumed = 0;
  for (;;) {
    ERRAND_CO_TRY(auto claimed, co_await deps_.store.claim(kClaimedAtOnce));
    if (claimed.empty() || stopping_) break;
    // Mail that comes from here on is not among what was claimed, and must find somebody to wait.
    for (const ClaimedRun& run : claimed) {
      if (!find_live(run.row.id)) make_live(run.row);
    }
    for (ClaimedRun& run : claimed) {
      RunId id = run.row.id;
      auto loaded = co_await load(std::move(run.row), std::move(run.mail));
      if (loaded) {
        ++resumed;
      } else {
        deps_.log.error("a run cannot be continued",
                        {{"run", id.str()}, {"error", loaded.error().describe()}});
      }
    }
  }
  if (resumed > 0) deps_.log.info("continued runs", {{"count", std::to_string(resumed)}});
  recovered_ = true;
  co_return Result<void>();
}

Task<Result<std::unique_ptr<agent::State>>> Engine::fold(RunId run) {
  ERRAND_CO_TRY(auto journal, co_await deps_.store.read_journal(run));
  ERRAND_CO_TRY(auto entries, parse_journal(journal));
  auto state = std::make_unique<agent::State>();
  for (const JournalEntry& entry : entries) state->apply(entry);
  co_return state;
}

Task<Result<void>> Engine::load(RunRow row, std::vector<Mailbox> mail) {
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
  live->attach(std::make_unique<agent::AgentRun>(
      surroundings_, *model->model, *live,
      agent::AgentRun::Params{.row = std::move(row),
                              .state = std::move(state),
                              .mail = std::move(mail),
                              .start = agent::AgentRun::Start::recovered}));
  co_return Result<void>();
}

void Engine::reload_later(LiveRun& run, const Error& error) {
  if (stopping_) return;
  LivePtr live = find_live(run.id());
  if (!live || !live->agent()) return;
  deps_.log.warning("what is in memory of a run is dropped and read again",
                    {{"run", run.id().str()}, {"error", error.describe()}});
  tasks_.spawn("engine.reload", reload(live, live->detach()));
}

// The store alone says how far the run got.
Task<void> Engine::reload(LivePtr run, std::unique_ptr<agent::AgentRun> broken) {
  co_await broken->stop(CancelReason::shutdown);
  broken.reset();
  for (milliseconds pause = kReloadPauseFirst; !stopping_;
       pause = std::min(pause * 2, kReloadPauseMax)) {
    co_await this->pause(pause);
    auto row = co_await deps_.store.find(run->workspace(), run->id());
    if (!row) continue;
    if (is_terminal(row->status)) {
      run->catch_up(*row);
      live_.erase(run->id());
      co_return;
    }
    auto mail = co_await deps_.store.mailboxes(run->id());
    if (!mail) continue;
    auto loaded = co_await load(std::move(*row), std::move(*mail));
    if (loaded) co_return;
    deps_.log.error("a run cannot be continued",
                    {{"run", run->id().str()}, {"error", loaded.error().describe()}});
    if (loaded.error().code() == ErrorCode::internal) co_return;
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
    if (auto agent = live->detach()) co_await agent->stop(CancelReason::shutdown);
  }
  for (Wakeup* pause : pauses_) pause->notify();
  co_await tasks_.join();  // never cancelled: they see agents out
}

}  // namespace errand::engine
