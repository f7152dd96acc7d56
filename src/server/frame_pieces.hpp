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
  // About so many bytes, or what is left.
  std::string take(std::size_t bytes_max);

 private:
  bool rest_is_empty() const { return part_ == parts_.size(); }
  void begin_frame(std::string_view line);

  std::vector<SegmentPtr> segments_;  // which the lines are in
  std::vector<std::string_view> lines_;
  std::size_t next_ = 0;
  // What is left of a frame that was begun.
  std::string head_;
  std::array<std::string_view, 5> parts_ = {};
  std::size_t part_ = parts_.size();
};

}  // namespace errand::server
