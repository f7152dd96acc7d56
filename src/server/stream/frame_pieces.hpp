#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/residency/subscription.hpp"

namespace errand::server {

// The events of a batch as server-sent events, piece by piece: of an event that is long, no more is
// copied than is sent next. Moved only before the first take().
class FramePieces final {
 public:
  FramePieces() = default;
  explicit FramePieces(engine::Subscription::Batch batch);

  bool empty() const { return next_ == lines_.size() && rest_is_empty(); }
  // Takes about `bytes_max` bytes, or the rest.
  std::string take(std::size_t bytes_max);

  // What was taken so far: all events up to `after`, and a part of the next one. Only while it is
  // not empty.
  struct Position {
    EventSeq after = 0;
    std::size_t sent = 0;
  };
  Position position() const;
  // Leaves out the first bytes, which are all of the first event. Before the first take().
  void skip(std::size_t bytes);
  std::size_t held_bytes() const;

 private:
  bool rest_is_empty() const { return part_ == parts_.size(); }
  void begin_frame(std::string_view line);
  void drop(std::size_t bytes);

  std::vector<SegmentPtr> segments_;  // which the lines are in
  std::vector<std::string_view> lines_;
  EventSeq first_ = 0;  // seq of the first line
  std::size_t next_ = 0;
  // The rest of a frame that was begun.
  std::string head_;
  std::array<std::string_view, 5> parts_ = {};
  std::size_t part_ = parts_.size();
  std::size_t sent_ = 0;  // of that frame
};

}  // namespace errand::server
