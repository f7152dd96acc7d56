#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "agent/round_robin.hpp"
#include "run/ids.hpp"

namespace errand::engine {

// How many runs may be in flight at once; absent: as many as come.
struct SlotLimits {
  std::optional<std::size_t> per_workspace = {};
  std::optional<std::size_t> in_all = {};
};

// Which runs may start, and which wait for others to end. A run that waits for its client, or for a
// run that it has called, is not in flight; a run that goes on afterwards does not wait again, so
// that more runs than the limit can be in flight for a while. Workspaces take turns: however many
// runs of one are waiting, each round starts one run of every workspace. Lives on one home.
class Slots final {
 public:
  explicit Slots(SlotLimits limits) : limits_(limits) {}

  // Whether a run of the workspace can start at once: a slot is free, and no run waits for it.
  bool is_free(const WorkspaceSlug& workspace) const;

  // A run came into flight, or left it.
  void take(const WorkspaceSlug& workspace);
  void give_back(const WorkspaceSlug& workspace);

  // A place in the queue; never given twice.
  using Ticket = std::uint64_t;
  // A run waits for a slot, behind the earlier runs of its workspace.
  Ticket wait(const RunKey& run);
  // The run that got this ticket does not wait any more. Takes a binary search, however many wait.
  void leave(const WorkspaceSlug& workspace, Ticket ticket);
  // The run whose turn it is, if a slot is free for it; it does not wait any more, and the caller
  // takes the slot for it.
  std::optional<RunKey> next();

  std::size_t in_flight() const { return in_flight_; }
  std::size_t waiting() const { return waiting_; }
  std::size_t in_flight(const WorkspaceSlug& workspace) const;

 private:
  struct Share {
    std::size_t in_flight = 0;
    // In the order of their tickets. A run that has left leaves its place empty until the places
    // before it are gone, too; the first place is never empty.
    std::deque<std::pair<Ticket, RunId>> waiting = {};
  };

  bool has_room(const Share& share) const;
  static void drop_empty_places(Share& share);
  void drop_if_idle(const WorkspaceSlug& workspace);

  const SlotLimits limits_;
  agent::RoundRobin<Share> shares_;  // only of those with runs
  std::size_t in_flight_ = 0;
  std::size_t waiting_ = 0;
  Ticket last_ticket_ = 0;
};

}  // namespace errand::engine
