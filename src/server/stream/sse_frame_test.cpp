#include "server/stream/sse_frame.hpp"

#include <gtest/gtest.h>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "run/log/event.hpp"

namespace errand::server::sse_frame_test {
namespace {

std::string frame_of(std::string_view line) {
  const SseFrame frame = to_sse_frame(line);
  return cat(frame.head, frame.members, SseFrame::kMiddle, frame.fields, SseFrame::kEnd);
}

TEST(SseFrame, RepeatsTheFieldsUnderData) {
  EXPECT_EQ(frame_of(R"({"seq":3,"type":"assistant_delta","text":"a,b"})"),
            "id: 3\n"
            "event: assistant_delta\n"
            R"(data: {"seq":3,"type":"assistant_delta","text":"a,b","data":{"text":"a,b"}})"
            "\n\n");
}

TEST(SseFrame, OfALineWithoutFields) {
  EXPECT_EQ(frame_of(R"({"seq":9007199254740993,"type":"ping"})"),
            "id: 9007199254740993\nevent: ping\n"
            R"(data: {"seq":9007199254740993,"type":"ping","data":{}})"
            "\n\n");
}

TEST(SseFrame, NoTextCanBreakIt) {
  std::string line;
  append_event_line(line, 1, AssistantDelta{.text = "\n\n\r\ndata: x\n\nid: 9"});
  line.pop_back();
  EXPECT_EQ(frame_of(line),
            "id: 1\nevent: assistant_delta\n"
            R"(data: {"seq":1,"type":"assistant_delta","text":"\n\n\r\ndata: x\n\nid: 9",)"
            R"("data":{"text":"\n\n\r\ndata: x\n\nid: 9"}})"
            "\n\n");
}

TEST(SseFrame, OfAPauseHasNoId) {
  EXPECT_EQ(retry_frame("busy\n\nid: 9", milliseconds(1500)),
            "event: model_retry\n"
            R"(data: {"type":"model_retry","message":"busy\n\nid: 9","pauseMs":1500})"
            "\n\n");
}

TEST(SseFrame, OfALineThatWasNeverStoredIsABug) {
  for (std::string_view line :
       {"", "{}", R"({"type":"a","seq":1})", R"({"seq":1})", R"({"seq":x,"type":"a"})",
        R"({"seq":1,"type":"a")", R"({"seq":1,"kind":"a"})"}) {
    EXPECT_THROW((void)frame_of(line), AssertionFailed) << line;
  }
}

}  // namespace
}  // namespace errand::server::sse_frame_test
