#include "agent/turn_room.hpp"

#include <algorithm>

namespace errand::agent {

TurnRoom::Place::Place(TurnRoom& room, std::size_t file_bytes, Wakeup*& bell)
    : room_(room), file_bytes_(file_bytes), bell_(bell), number_(++room.numbers_) {
  std::list<Place*>& queue = room_.queue_of(*this);
  if (queue.empty() && room_.fits(*this)) {
    room_.let_in(*this);
  } else {
    at_ = queue.insert(queue.end(), this);
  }
}

TurnRoom::Place::~Place() {
  if (!is_in_) {
    room_.queue_of(*this).erase(at_);
  } else {
    --room_.turns_;
    room_.file_bytes_ -= file_bytes_;
  }
  room_.let_in_those_that_fit();
}

bool TurnRoom::fits(const Place& place) const {
  if (turns_ >= limits_.turns) return false;
  // A turn with more files than the room holds gets in once nobody else has any.
  return file_bytes_ == 0 || place.file_bytes_ == 0 ||
         place.file_bytes_ <= limits_.file_bytes - std::min(file_bytes_, limits_.file_bytes);
}

void TurnRoom::let_in(Place& place) {
  place.is_in_ = true;
  ++turns_;
  file_bytes_ += place.file_bytes_;
  if (place.bell_) place.bell_->notify();
}

void TurnRoom::let_in_those_that_fit() {
  for (;;) {
    std::list<Place*>* first = nullptr;
    for (std::list<Place*>* queue : {&plain_, &with_files_}) {
      if (queue->empty() || !fits(*queue->front())) continue;
      if (!first || queue->front()->number_ < first->front()->number_) first = queue;
    }
    if (!first) return;
    Place& next = *first->front();
    first->pop_front();
    let_in(next);
  }
}

}  // namespace errand::agent
