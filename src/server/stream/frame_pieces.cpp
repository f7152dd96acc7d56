#include "server/stream/frame_pieces.hpp"

#include <algorithm>
#include <utility>

#include "server/stream/sse_frame.hpp"
#include "store/segment_events.hpp"

namespace errand::server {

FramePieces::FramePieces(engine::Subscription::Batch batch)
    : segments_(std::move(batch.segments)), first_(batch.after + 1) {
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
  sent_ = 0;
}

FramePieces::Position FramePieces::position() const {
  const bool is_begun = !rest_is_empty();
  return {.after = first_ + static_cast<EventSeq>(next_) - (is_begun ? 2 : 1),
          .sent = is_begun ? sent_ : 0};
}

void FramePieces::skip(std::size_t bytes) {
  if (bytes == 0 || empty()) return;
  begin_frame(lines_[next_++]);
  drop(bytes);
}

void FramePieces::drop(std::size_t bytes) {
  sent_ += bytes;
  while (!rest_is_empty()) {
    std::string_view& part = parts_[part_];
    const std::size_t count = std::min(part.size(), bytes);
    part.remove_prefix(count);
    bytes -= count;
    if (!part.empty()) return;
    ++part_;
  }
}

std::size_t FramePieces::held_bytes() const {
  std::size_t bytes = 0;
  for (const SegmentPtr& segment : segments_) bytes += segment->events.size();
  return bytes;
}

std::string FramePieces::take(std::size_t bytes_max) {
  std::string out;
  while (out.size() < bytes_max && !empty()) {
    if (rest_is_empty()) begin_frame(lines_[next_++]);
    const std::string_view part = parts_[part_].substr(0, bytes_max - out.size());
    out.append(part);
    drop(part.size());
  }
  if (empty()) *this = FramePieces();
  return out;
}

}  // namespace errand::server
