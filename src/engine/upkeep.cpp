// What has to be done now and then: keeping the lease, and removing what is old.
#include <algorithm>

#include "engine/engine.hpp"

namespace errand::engine {
namespace {

constexpr milliseconds kRenewEvery{5000};
constexpr milliseconds kRemoveEvery{60'000};
// Steps are small and leave room between them, so that nobody waits for long behind one.
constexpr std::size_t kSegmentsRemovedAtOnce = 64;
constexpr milliseconds kBetweenRemovals{20};

}  // namespace

void Engine::start() {
  tasks_.spawn("engine.recover", recover());
  tasks_.spawn("engine.lease", keep_lease());
  tasks_.spawn("engine.retention", remove_old_runs());
}

bool Engine::owns_runs() const {
  return !resting_.empty() || !loading_.empty() ||
         std::any_of(live_.begin(), live_.end(),
                     [](const auto& entry) { return entry.second->agent() != nullptr; });
}

Task<void> Engine::keep_lease() {
  for (bool is_first = true; !stopping_; is_first = false) {
    // A lease that lasts for ever is renewed only for the store's clock, by which calls time out.
    if (is_first || owns_runs() || !lease_.is_forever()) co_await renew_lease();
    co_await pause(kRenewEvery);
  }
}

Task<void> Engine::renew_lease() {
  auto renewed = co_await deps_.store.renew();
  if (!renewed) {
    deps_.log.warning("cannot renew the lease of this process's runs",
                      {{"error", renewed.error().describe()}});
    co_return;
  }
  lease_.renew(renewed->lease_left);
  std::vector<LivePtr> all;
  for (const auto& [id, live] : live_) all.push_back(live);
  for (const LivePtr& live : all) {
    if (live->agent()) live->agent()->resume_effects();
  }
  for (Mailbox& mail : renewed->mail) {
    LivePtr live = find_live(mail.run);
    auto resting = resting_.find(mail.run);
    if (live) {
      deliver(live->workspace(), std::move(mail));
    } else if (resting != resting_.end()) {
      wake(WorkspaceSlug(resting->second.workspace), mail.run);
    }
  }
  if (!lease_.is_forever() && recovered_) co_await claim_all();
}

Task<void> Engine::remove_old_runs() {
  while (!stopping_) {
    co_await pause(kRemoveEvery);
    for (bool is_done = false; !is_done && !stopping_;) {
      Prune step{.segments_max = kSegmentsRemovedAtOnce};
      if (limits_.keep_runs) step.ended_before = deps_.clock.now() - *limits_.keep_runs;
      for (const auto& [id, live] : live_) {
        if (live->is_terminal() && live->has_readers()) step.spared.push_back(id);
      }
      auto removed = co_await deps_.store.prune(std::move(step));
      if (!removed) {
        deps_.log.warning("cannot remove old runs", {{"error", removed.error().describe()}});
        break;
      }
      is_done = removed->is_done;
      if (!is_done) co_await pause(kBetweenRemovals);
    }
  }
}

}  // namespace errand::engine
