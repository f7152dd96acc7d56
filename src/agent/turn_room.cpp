#include "agent/turn_room.hpp"

#include <algorithm>
#include <utility>

namespace errand::agent {

TurnRoom::Place::Place(TurnRoom& room, Need need, Wakeup*& bell)
    : room_(room), need_(std::move(need)), bell_(bell), number_(++room.numbers_) {
  Share& share = room_.shares_.at(need_.workspace);
  if (room_.gets_in_at_once(need_, share)) {
    room_.let_in(*this, share);
    return;
  }
  std::list<Place*>& queue = share.queue_of(*this);
  at_ = queue.insert(queue.end(), this);
  ++room_.waiting_;
  if (has_files() && !room_.first_with_files_ && room_.has_turn(share)) {
    room_.first_with_files_ = this;
  }
}

TurnRoom::Place::~Place() {
  Share& share = room_.shares_.at(need_.workspace);
  if (is_in_) {
    --share.turns;
    --room_.turns_;
    room_.file_bytes_ -= need_.file_bytes;
  } else {
    share.queue_of(*this).erase(at_);
    --room_.waiting_;
    if (room_.first_with_files_ == this) room_.first_with_files_ = nullptr;
  }
  if (share.is_idle()) room_.shares_.drop(need_.workspace);
  room_.let_in_those_that_fit();
}

std::array<TurnRoom::Place*, 2> TurnRoom::Share::first() const {
  Place* one = plain.empty() ? nullptr : plain.front();
  Place* other = with_files.empty() ? nullptr : with_files.front();
  if (one && other && other->number_ < one->number_) std::swap(one, other);
  return {one, other};
}

bool TurnRoom::has_turn(const Share& share) const {
  return turns_ < limits_.turns && (!limits_.per_workspace || share.turns < *limits_.per_workspace);
}

bool TurnRoom::has_memory(const Need& need) const {
  // A turn with more files than the room holds gets in when no other turn holds any.
  return file_bytes_ == 0 || !need.has_files() ||
         need.file_bytes <= limits_.file_bytes - std::min(file_bytes_, limits_.file_bytes);
}

// While a workspace has turns left, its queues hold only turns that wait for memory.
bool TurnRoom::gets_in_at_once(const Need& need, const Share& share) const {
  if (!has_turn(share)) return false;
  return !need.has_files() || (!first_with_files_ && has_memory(need));
}

bool TurnRoom::is_free(const Need& need) const {
  const Share* share = shares_.find(need.workspace);
  return gets_in_at_once(need, share ? *share : Share());
}

void TurnRoom::let_in(Place& place, Share& share) {
  place.is_in_ = true;
  ++share.turns;
  ++turns_;
  file_bytes_ += place.need_.file_bytes;
  if (place.bell_) place.bell_->notify();
}

TurnRoom::Place* TurnRoom::next() {
  if (waiting_ == 0 || turns_ >= limits_.turns) return nullptr;
  if (first_with_files_ && has_memory(first_with_files_->need_)) {
    Place* first = std::exchange(first_with_files_, nullptr);
    if (has_turn(shares_.at(first->need_.workspace))) return first;
  }
  Place* found = nullptr;
  shares_.next([&](Share& share) {
    if (!has_turn(share)) return false;
    for (Place* place : share.first()) {
      if (!place) continue;
      if (place->has_files() && (first_with_files_ || !has_memory(place->need_))) {
        if (!first_with_files_) first_with_files_ = place;
        continue;
      }
      found = place;
      return true;
    }
    return false;
  });
  return found;
}

void TurnRoom::let_in_those_that_fit() {
  while (Place* place = next()) {
    Share& share = shares_.at(place->need_.workspace);
    share.queue_of(*place).erase(place->at_);
    --waiting_;
    let_in(*place, share);
  }
}

}  // namespace errand::agent
