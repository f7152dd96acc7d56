#include "engine/children/child_reports.hpp"

#include <gtest/gtest.h>

#include "run/log/event.hpp"

namespace errand::engine::child_reports_test {
namespace {

using Reports = std::vector<std::string>;

// Four events: a call of a client, streamed text, a call of the server, and an answer.
Segment some_segment() {
  const std::vector<Event> events{
      LocalToolCall{.id = *ToolUseId::parse("tu_1"), .name = "look", .args = "{}"},
      AssistantDelta{.text = "calls nothing"},
      ToolCallStarted{.id = *ToolUseId::parse("tu_2"), .name = "fetch", .input = "{}"},
      AssistantMessage{.text = "the answer"}};
  Segment segment{.last_seq = 4, .events_count = 4};
  for (const Event& event : events) {
    const auto seq = static_cast<EventSeq>(segment.typed.size() + 1);
    append_event_line(segment.events, seq, event);
    segment.typed.push_back({.seq = seq, .event = event});
  }
  return segment;
}

TEST(ChildReports, StructsAreNotParsed) {
  Segment segment = some_segment();
  segment.events = "this is no JSON\n";
  EXPECT_EQ(child_reports(segment, 0), (Reports{"waits for a client to run look", "calls fetch"}));
}

TEST(ChildReports, TextTellsTheSameAsStructs) {
  Segment segment = some_segment();
  const Reports reports = child_reports(segment, 1);
  segment.typed.clear();
  EXPECT_EQ(reports, Reports{"calls fetch"});
  EXPECT_EQ(child_reports(segment, 1), reports);
}

}  // namespace
}  // namespace errand::engine::child_reports_test
