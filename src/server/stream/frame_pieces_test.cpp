#include "server/stream/frame_pieces.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace errand::server::frame_pieces_test {
namespace {

SegmentPtr segment_of(EventSeq first, int count, std::size_t text_bytes) {
  Segment segment;
  segment.last_seq = first + count - 1;
  segment.events_count = count;
  for (int i = 0; i < count; ++i) {
    append(segment.events, "{\"seq\":", first + i, ",\"type\":\"assistant_delta\",\"text\":\"",
           std::string(text_bytes, 'x'), "\"}\n");
  }
  return std::make_shared<const Segment>(std::move(segment));
}

std::string frame_of(EventSeq seq, std::size_t text_bytes) {
  std::string fields = cat("\"text\":\"", std::string(text_bytes, 'x'), "\"");
  return cat("id: ", seq, "\nevent: assistant_delta\ndata: {\"seq\":", seq,
             ",\"type\":\"assistant_delta\",", fields, ",\"data\":{", fields, "}}\n\n");
}

std::vector<std::string> pieces_of(FramePieces pieces, std::size_t bytes_max) {
  std::vector<std::string> out;
  while (!pieces.empty()) out.push_back(pieces.take(bytes_max));
  return out;
}

TEST(FramePieces, OfAShortBatchAreOne) {
  EXPECT_EQ(pieces_of(FramePieces({.after = 2, .segments = {segment_of(1, 4, 3)}}), 1000),
            (std::vector<std::string>{frame_of(3, 3) + frame_of(4, 3)}));
  EXPECT_TRUE(FramePieces({.segments = {}}).empty());
}

TEST(FramePieces, OfALongEventAreNoLongerThanAskedFor) {
  const std::string whole = frame_of(1, 1000) + frame_of(2, 1000) + frame_of(3, 5);
  for (std::size_t bytes_max : {1U, 7U, 100U, 999U, 2500U}) {
    std::string joined;
    for (const std::string& piece : pieces_of(
             FramePieces({.segments = {segment_of(1, 2, 1000), segment_of(3, 1, 5)}}), bytes_max)) {
      EXPECT_LE(piece.size(), bytes_max);
      joined += piece;
    }
    EXPECT_EQ(joined, whole);
  }
}

TEST(FramePieces, GoOnWhereOthersWereLeft) {
  const std::string whole = frame_of(3, 40) + frame_of(4, 40) + frame_of(5, 7);
  auto batch_after = [](EventSeq after) {
    return engine::Subscription::Batch{.after = after,
                                       .segments = {segment_of(1, 4, 40), segment_of(5, 1, 7)}};
  };
  for (std::size_t left_at = 1; left_at < whole.size(); ++left_at) {
    FramePieces first(batch_after(2));
    std::string joined = first.take(left_at);
    const FramePieces::Position at = first.position();
    FramePieces second(batch_after(at.after));
    second.skip(at.sent);
    while (!second.empty()) joined += second.take(100);
    ASSERT_EQ(joined, whole) << left_at;
  }
}

TEST(FramePieces, LetGoOfWhatWasSent) {
  SegmentPtr segment = segment_of(1, 1, 100);
  FramePieces pieces({.segments = {segment}});
  EXPECT_EQ(segment.use_count(), 2);
  while (!pieces.empty()) pieces.take(50);
  EXPECT_EQ(segment.use_count(), 1);
}

}  // namespace
}  // namespace errand::server::frame_pieces_test
