#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "run/ids.hpp"

namespace errand::agent {

// The shares of workspaces that wait for the same thing. Workspaces take turns: however much one of
// them waits for, each round serves every workspace once. Lives on one home.
template <class Share>
class RoundRobin final {
 public:
  // The share of the workspace, which is made if there is none.
  Share& at(const WorkspaceSlug& workspace) { return shares_[workspace]; }
  Share* find(const WorkspaceSlug& workspace) {
    auto found = shares_.find(workspace);
    return found == shares_.end() ? nullptr : &found->second;
  }
  const Share* find(const WorkspaceSlug& workspace) const {
    auto found = shares_.find(workspace);
    return found == shares_.end() ? nullptr : &found->second;
  }
  // Owners drop shares that hold nothing, so that a round is no longer than it has to be.
  void drop(const WorkspaceSlug& workspace) { shares_.erase(workspace); }

  // Offers the turn to every workspace once, beginning behind the workspace that had the last turn,
  // until `take(share)` returns true. Returns the workspace that took the turn. `take` adds and
  // drops no shares.
  template <class Take>
  std::optional<WorkspaceSlug> next(Take take) {
    auto at = shares_.upper_bound(last_);
    for (std::size_t i = 0; i < shares_.size(); ++i, ++at) {
      if (at == shares_.end()) at = shares_.begin();
      if (!take(at->second)) continue;
      last_ = at->first;
      return last_;
    }
    return {};
  }

 private:
  std::map<WorkspaceSlug, Share> shares_;
  WorkspaceSlug last_;  // the workspace that had the last turn
};

}  // namespace errand::agent
