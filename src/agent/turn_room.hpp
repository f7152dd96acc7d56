#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>
#include <optional>

#include "agent/round_robin.hpp"
#include "async/wakeup.hpp"
#include "run/ids.hpp"

namespace errand::agent {

// Turns beyond these limits wait.
struct TurnLimits {
  std::size_t turns = std::numeric_limits<std::size_t>::max();  // each has a connection to a model
  std::size_t file_bytes = std::size_t{256} * 1024 * 1024;      // that turns hold together
  std::optional<std::size_t> per_workspace = {};  // turns; absent: as many as there are
};

// Room for the turns of all runs with their models. Workspaces take turns; within a workspace the
// first to come is the first to be served. A turn without files does not wait for the turns that
// wait for the memory of files. Lives on one home, and outlives its places.
class TurnRoom final {
 public:
  explicit TurnRoom(TurnLimits limits) : limits_(limits) {}
  TurnRoom(const TurnRoom&) = delete;
  TurnRoom& operator=(const TurnRoom&) = delete;

  // What a turn needs.
  struct Need {
    WorkspaceSlug workspace;
    std::size_t file_bytes = 0;

    bool has_files() const { return file_bytes > 0; }
  };

  // A place in the room, or in the queue before it. Destroying it leaves the room or the queue.
  class Place final {
   public:
    // `bell` is rung, if there is one then, when a place in the queue becomes one in the room.
    Place(TurnRoom& room, Need need, Wakeup*& bell);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool is_in() const { return is_in_; }

   private:
    friend TurnRoom;

    bool has_files() const { return need_.has_files(); }

    TurnRoom& room_;
    const Need need_;
    Wakeup*& bell_;
    std::uint64_t number_ = 0;
    bool is_in_ = false;
    std::list<Place*>::iterator at_ = {};
  };

  // Whether a place with this need would be in the room at once.
  bool is_free(const Need& need) const;

  std::size_t turns() const { return turns_; }
  std::size_t file_bytes() const { return file_bytes_; }
  std::size_t waiting() const { return waiting_; }

 private:
  // What a workspace has in the room and before it.
  struct Share {
    std::size_t turns = 0;
    std::list<Place*> plain = {};
    std::list<Place*> with_files = {};

    std::list<Place*>& queue_of(const Place& place) {
      return place.has_files() ? with_files : plain;
    }
    bool is_idle() const { return turns == 0 && plain.empty() && with_files.empty(); }
    // The first of both queues, the earlier arrival first; null for an empty queue.
    std::array<Place*, 2> first() const;
  };

  bool has_turn(const Share& share) const;
  bool has_memory(const Need& need) const;
  bool gets_in_at_once(const Need& need, const Share& share) const;
  void let_in(Place& place, Share& share);
  // The place in the queue that gets in next; null if none can.
  Place* next();
  void let_in_those_that_fit();

  const TurnLimits limits_;
  RoundRobin<Share> shares_;  // only of those with places
  // The next turn with files, which waits for memory alone. No other turn with files overtakes it,
  // so that the small files of others do not keep it out for good.
  Place* first_with_files_ = nullptr;
  std::size_t turns_ = 0;
  std::size_t file_bytes_ = 0;
  std::size_t waiting_ = 0;
  std::uint64_t numbers_ = 0;
};

}  // namespace errand::agent
