#include "store/sqlite/changes/event_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "run/log/event.hpp"

namespace errand::sqlite::event_text_test {
namespace {

std::string lines_of(const std::vector<Event>& events, EventSeq first_seq) {
  std::string lines;
  for (const Event& event : events) append_event_line(lines, first_seq++, event);
  return lines;
}

TEST(EventText, OfStreamedTextOnlyTheTextIsKept) {
  const std::string lines = lines_of({AssistantDelta{.text = "a \"b\"\n"},
                                      ThinkingDelta{.text = "hm}"}, AssistantDelta{.text = ""}},
                                     98);

  const std::string kept = kept_events(lines, 98);

  EXPECT_EQ(kept,
            "\x01"
            "a \\\"b\\\"\\n\"\n"
            "\x02"
            "hm}\"\n"
            "\x01"
            "\"\n");
  EXPECT_EQ(whole_events(kept, 98), lines);
}

TEST(EventText, OtherEventsAreKeptAsTheyAre) {
  const std::string lines = cat(lines_of({AssistantMessage{.text = "a", .turn = 0}}, 7),
                                R"({"type":"assistant_delta","text":"no seq"})", "\n",
                                R"({"seq": 9,"type":"assistant_delta","text":"spaced"})", "\n\n",
                                R"({"seq":5,"type":"assistant_delta","text":"another seq"})", "\n",
                                R"({"seq":12,"type":"assistant_delta","text":"no end"})");

  EXPECT_EQ(kept_events(lines, 7), lines);
  EXPECT_EQ(whole_events(lines, 7), lines);
}

TEST(EventText, MembersBehindTheTextStay) {
  const std::string line = "{\"seq\":1,\"type\":\"assistant_delta\",\"text\":\"a\",\"mood\":{}}\n";

  EXPECT_EQ(kept_events(line, 1),
            "\x01"
            "a\",\"mood\":{}\n");
  EXPECT_EQ(whole_events(kept_events(line, 1), 1), line);
}

TEST(EventText, PartsAreJoinedAsTheyAreKept) {
  const std::string first = lines_of({AssistantDelta{.text = "a"}, AssistantDelta{.text = "b"}}, 1);
  const std::string second =
      lines_of({AssistantMessage{.text = "ab", .turn = 0}, AssistantDelta{.text = "c"}}, 3);

  EXPECT_EQ(whole_events(kept_events(first, 1) + kept_events(second, 3), 1), first + second);
}

TEST(EventText, AnEventIsNeverLongerThanAssumed) {
  const EventSeq last = std::numeric_limits<EventSeq>::max() - 1;  // one past it is counted, too
  for (const Event& event : std::vector<Event>{AssistantDelta{}, ThinkingDelta{}}) {
    const std::string line = lines_of({event}, last);
    EXPECT_LE(line.size(), kept_events(line, last).size() + kEventSavedMax);
    EXPECT_EQ(whole_events(kept_events(line, last), last), line);
  }
}

}  // namespace
}  // namespace errand::sqlite::event_text_test
