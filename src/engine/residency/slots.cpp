#include "engine/residency/slots.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace errand::engine {

bool Slots::has_room(const Share& share) const {
  if (limits_.in_all && in_flight_ >= *limits_.in_all) return false;
  return !limits_.per_workspace || share.in_flight < *limits_.per_workspace;
}

bool Slots::is_free(const WorkspaceSlug& workspace) const {
  auto found = shares_.find(workspace);
  if (found == shares_.end()) return has_room({});
  return found->second.waiting.empty() && has_room(found->second);
}

void Slots::take(const WorkspaceSlug& workspace) {
  ++shares_[workspace].in_flight;
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
  shares_[run.workspace].waiting.push_back(run.run);
  ++waiting_;
}

void Slots::leave(const RunKey& run) {
  auto found = shares_.find(run.workspace);
  if (found == shares_.end()) return;
  waiting_ -= std::erase(found->second.waiting, run.run);
  drop_if_idle(run.workspace);
}

std::optional<RunKey> Slots::next() {
  if (waiting_ == 0) return {};
  // One round, from the workspace behind the last one on.
  auto at = shares_.upper_bound(last_);
  for (std::size_t i = 0; i < shares_.size(); ++i, ++at) {
    if (at == shares_.end()) at = shares_.begin();
    Share& share = at->second;
    if (share.waiting.empty() || !has_room(share)) continue;
    RunKey run{.workspace = at->first, .run = share.waiting.front()};
    share.waiting.pop_front();
    --waiting_;
    last_ = run.workspace;
    drop_if_idle(run.workspace);
    return run;
  }
  return {};
}

std::size_t Slots::in_flight(const WorkspaceSlug& workspace) const {
  auto found = shares_.find(workspace);
  return found == shares_.end() ? 0 : found->second.in_flight;
}

void Slots::drop_if_idle(const WorkspaceSlug& workspace) {
  auto found = shares_.find(workspace);
  if (found == shares_.end()) return;
  if (found->second.in_flight == 0 && found->second.waiting.empty()) shares_.erase(found);
}

}  // namespace errand::engine
