#include "engine/residency/slots.hpp"

#include <utility>

#include "base/assert.hpp"

namespace errand::engine {

bool Slots::has_room(const Share& share) const {
  if (limits_.in_all && in_flight_ >= *limits_.in_all) return false;
  return !limits_.per_workspace || share.in_flight < *limits_.per_workspace;
}

bool Slots::is_free(const WorkspaceSlug& workspace) const {
  const Share* share = shares_.find(workspace);
  if (!share) return has_room({});
  return share->waiting.empty() && has_room(*share);
}

void Slots::take(const WorkspaceSlug& workspace) {
  ++shares_.at(workspace).in_flight;
  ++in_flight_;
}

void Slots::give_back(const WorkspaceSlug& workspace) {
  Share& share = shares_.at(workspace);
  ERRAND_ASSERT(share.in_flight > 0);
  --share.in_flight;
  --in_flight_;
  drop_if_idle(workspace);
}

void Slots::wait(const RunKey& run) {
  shares_.at(run.workspace).waiting.push_back(run.run);
  ++waiting_;
}

void Slots::leave(const RunKey& run) {
  Share* share = shares_.find(run.workspace);
  if (!share) return;
  waiting_ -= std::erase(share->waiting, run.run);
  drop_if_idle(run.workspace);
}

std::optional<RunKey> Slots::next() {
  if (waiting_ == 0) return {};
  RunId run;
  auto workspace = shares_.next([&](Share& share) {
    if (share.waiting.empty() || !has_room(share)) return false;
    run = share.waiting.front();
    share.waiting.pop_front();
    return true;
  });
  if (!workspace) return {};
  --waiting_;
  drop_if_idle(*workspace);
  return RunKey{.workspace = std::move(*workspace), .run = std::move(run)};
}

std::size_t Slots::in_flight(const WorkspaceSlug& workspace) const {
  const Share* share = shares_.find(workspace);
  return share ? share->in_flight : 0;
}

void Slots::drop_if_idle(const WorkspaceSlug& workspace) {
  const Share* share = shares_.find(workspace);
  if (share && share->in_flight == 0 && share->waiting.empty()) shares_.drop(workspace);
}

}  // namespace errand::engine
