#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <list>

#include "async/wakeup.hpp"

namespace errand::agent {

// Turns beyond these limits wait.
struct TurnLimits {
  std::size_t turns = std::numeric_limits<std::size_t>::max();  // each has a connection to a model
  std::size_t file_bytes = std::size_t{256} * 1024 * 1024;      // that turns hold together
};

// Room for the turns of all runs with their models. First come, first served; a turn without files
// does not wait for those that wait for the memory of files. Lives on one home, and outlives its
// places.
class TurnRoom final {
 public:
  explicit TurnRoom(TurnLimits limits) : limits_(limits) {}
  TurnRoom(const TurnRoom&) = delete;
  TurnRoom& operator=(const TurnRoom&) = delete;

  // A place in the room, or in the queue before it. Whoever destroys it leaves.
  class Place final {
   public:
    // `bell` is rung, if there is one then, when a place in the queue becomes one in the room.
    Place(TurnRoom& room, std::size_t file_bytes, Wakeup*& bell);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    bool is_in() const { return is_in_; }

   private:
    friend TurnRoom;

    TurnRoom& room_;
    const std::size_t file_bytes_;
    Wakeup*& bell_;
    std::uint64_t number_ = 0;
    bool is_in_ = false;
    std::list<Place*>::iterator at_ = {};
  };

  std::size_t turns() const { return turns_; }
  std::size_t file_bytes() const { return file_bytes_; }
  std::size_t waiting() const { return plain_.size() + with_files_.size(); }

 private:
  bool fits(const Place& place) const;
  void let_in(Place& place);
  void let_in_those_that_fit();
  std::list<Place*>& queue_of(const Place& place) {
    return place.file_bytes_ > 0 ? with_files_ : plain_;
  }

  const TurnLimits limits_;
  std::size_t turns_ = 0;
  std::size_t file_bytes_ = 0;
  std::uint64_t numbers_ = 0;
  std::list<Place*> plain_;
  std::list<Place*> with_files_;
};

}  // namespace errand::agent
