#include "server/frame_pieces.hpp"

#include <algorithm>
#include <utility>

#include "server/sse_frame.hpp"
#include "store/segment_events.hpp"

namespace errand::server {

FramePieces::FramePieces(engine::Subscription::Batch batch) : segments_(std::move(batch.segments)) {
  for (const SegmentPtr& segment : segments_) {
    for_each_event(*segment, batch.after,
                   [this](std::string_view line) { lines_.push_back(line); });
  }
}

void FramePieces::begin_frame(std::string_view line) {
  SseFrame frame = to_sse_frame(line);
  head_ = std::move(frame.head);
  parts_ = {head_, frame.members, SseFrame::kMiddle, frame.fields, SseFrame::kEnd};
  part_ = 0;
}

std::string FramePieces::take(std::size_t bytes_max) {
  std::string out;
  while (out.size() < bytes_max && !empty()) {
    if (rest_is_empty()) begin_frame(lines_[next_++]);
    std::string_view& part = parts_[part_];
    const std::size_t count = std::min(part.size(), bytes_max - out.size());
    out.append(part.substr(0, count));
    part.remove_prefix(count);
    if (part.empty()) ++part_;
  }
  if (empty()) *this = FramePieces();
  return out;
}

}  // namespace errand::server
