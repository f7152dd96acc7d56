#include "engine/residency/slots.hpp"

#include <algorithm>
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

Slots::Ticket Slots::wait(const RunKey& run) {
  shares_.at(run.workspace).waiting.emplace_back(++last_ticket_, run.run);
  ++waiting_;
  return last_ticket_;
}

void Slots::leave(const WorkspaceSlug& workspace, Ticket ticket) {
  Share* share = shares_.find(workspace);
  if (!share) return;
  auto place = std::lower_bound(share->waiting.begin(), share->waiting.end(), ticket,
                                [](const auto& one, Ticket wanted) { return one.first < wanted; });
  if (place == share->waiting.end() || place->first != ticket || place->second.empty()) return;
  place->second = RunId();
  --waiting_;
  drop_empty_places(*share);
  drop_if_idle(workspace);
}

void Slots::drop_empty_places(Share& share) {
  while (!share.waiting.empty() && share.waiting.front().second.empty()) share.waiting.pop_front();
}

std::optional<RunKey> Slots::next() {
  if (waiting_ == 0) return {};
  RunId run;
  auto workspace = shares_.next([&](Share& share) {
    if (share.waiting.empty() || !has_room(share)) return false;
    run = std::move(share.waiting.front().second);
    share.waiting.pop_front();
    drop_empty_places(share);
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
