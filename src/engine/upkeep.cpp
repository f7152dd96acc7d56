// Regular upkeep: renewing the lease, and removing old runs.
#include <optional>
#include <utility>

#include "engine/engine.hpp"

namespace errand::engine {
namespace {

constexpr milliseconds kRenewEvery{5000};
constexpr milliseconds kRemoveEvery{60'000};
// Removes at least 2,000 short runs a second. Each step keeps the store's writer busy for a few
// milliseconds, and the pause lets other writes pass.
constexpr std::size_t kSegmentsRemovedAtOnce = 256;
constexpr milliseconds kBetweenRemovals{10};

}  // namespace

void Engine::start() {
  tasks_.spawn("engine.recover", residency_.recover());
  tasks_.spawn("engine.lease", keep_lease());
  tasks_.spawn("engine.retention", remove_old_runs());
}

Task<void> Engine::keep_lease() {
  for (bool is_first = true; !pauses_.ended(); is_first = false) {
    // A lease that never expires is renewed only to advance the store's clock, by which calls time
    // out.
    if (is_first || residency_.owns_runs() || !lease_.is_forever()) co_await renew_lease();
    co_await pauses_.pause(kRenewEvery);
  }
}

Task<void> Engine::renew_lease() {
  auto renewed = co_await deps_.store.renew();
  if (!renewed) {
    deps_.log.warning("cannot renew the lease of this process's runs",
                      {{"error", renewed.error().describe()}});
    co_return;
  }
  // Runs hold back effects only while the lease allows none, so otherwise none has to be woken.
  const bool held_back = !lease_.allows_effects();
  lease_.renew(renewed->lease_left);
  if (held_back) residency_.resume_effects();
  residency_.deliver_news(std::move(renewed->mail));
  if (!lease_.is_forever() && residency_.is_recovered()) co_await residency_.claim_all();
}

Task<void> Engine::remove_old_runs() {
  while (!pauses_.ended()) {
    co_await pauses_.pause(kRemoveEvery);
    // Runs that have readers stay. A pass looks at each of them once, however many steps it takes.
    std::optional<EndedPlace> seen;
    for (bool is_done = false; !is_done && !pauses_.ended();) {
      Prune step{.after = seen, .segments_max = kSegmentsRemovedAtOnce};
      if (limits_.keep_runs) {
        step.spared = residency_.ended_with_readers();
        step.ended_before = deps_.store.now() - *limits_.keep_runs;
      }
      auto removed = co_await deps_.store.prune(std::move(step));
      if (!removed) {
        deps_.log.warning("cannot remove old runs", {{"error", removed.error().describe()}});
        break;
      }
      counters_.runs_removed += removed->runs;
      is_done = removed->is_done;
      seen = std::move(removed->seen);
      if (!is_done) co_await pauses_.pause(kBetweenRemovals);
    }
  }
}

}  // namespace errand::engine
