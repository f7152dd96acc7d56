// Events as structs for readers in this process.
#include "sdk/embedded/embedded_api.hpp"

#include <string>
#include <vector>

#include "base/text.hpp"
#include "sdk/test_host.hpp"

namespace errand::sdk::embedded_events_test {
namespace {

Principal default_principal() {
  return {.workspace = *WorkspaceSlug::parse("default")};
}

class EmbeddedEventsTest : public HostTest {
 protected:
  RunId create() { return value_of(api_.create({.prompt = "Go."}, {}, nullptr)); }
  std::vector<std::string> read(const RunId& run, EventSeq after) {
    RunStream stream(api_, host_.timers(), run, after, RunStream::FirstFailure::is_final);
    return run_task(io_, lines_until_end(&stream, nullptr));
  }

  EmbeddedApi api_{host_};
};

TEST_F(EmbeddedEventsTest, AReaderThatKeepsUpGetsStructs) {
  RunId run = create();
  auto reader = value_of(host_.engine().subscribe(default_principal(), run, 0));
  std::size_t structs = 0;
  for (bool has_ended = false; !has_ended;) {
    auto batch = run_task(io_, reader->next(SteadyTime::max()));
    for (const SegmentPtr& segment : batch.segments) {
      EXPECT_EQ(segment->typed.size(), static_cast<std::size_t>(segment->events_count));
      structs += segment->typed.size();
    }
    has_ended = batch.state == engine::Subscription::Batch::State::ended;
  }
  EXPECT_EQ(structs, 7U);
  EXPECT_EQ(read(run, 0).size(), structs);
}

TEST_F(EmbeddedEventsTest, NoLineIsParsedWhereThereAreStructs) {
  Segment segment{.events_count = 2, .events = "no JSON\nnor this\n"};
  segment.typed = {{.seq = 4, .event = AssistantDelta{.text = "old"}},
                   {.seq = 5, .event = AssistantDelta{.text = "new"}}};
  std::vector<StampedEvent> taken;
  ASSERT_TRUE(take_events(segment, 4, taken));
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].seq, 5);
  EXPECT_EQ(std::get<AssistantDelta>(taken[0].event).text, "new");
}

TEST_F(EmbeddedEventsTest, AReaderThatComesBackGoesOnBehindWhatItHas) {
  RunId run = create();
  std::vector<std::string> lines = read(run, 0);
  EXPECT_EQ(read(run, 5), std::vector<std::string>(lines.begin() + 5, lines.end()));
}

}  // namespace

// A host as a server has it, with stored lines only.
class StoredEventsTest : public HostTest {};

TEST_F(StoredEventsTest, WhatTheStoreGivesIsParsedToTheSameEvents) {
  host::Host server({.io = io_, .clock = clock_, .log = log_}, scripted(kTurns),
                    std::make_unique<MemoryStore>(make_memory_store_data(), clock_));
  EmbeddedApi api(server);
  RunId run = value_of(api.create({.prompt = "Go."}, {}, nullptr));
  RunStream stream(api, server.timers(), run, 0, RunStream::FirstFailure::is_final);
  std::vector<std::string> lines = run_task(io_, lines_until_end(&stream, nullptr));
  std::string stored;
  auto read = run_task(io_, server.engine().events(default_principal(), run, 0, SIZE_MAX));
  for (const SegmentPtr& segment : read->segments) {
    EXPECT_TRUE(segment->typed.empty());
    stored += segment->events;
  }
  std::string joined;
  for (const std::string& line : lines) joined += line;
  EXPECT_EQ(joined, stored);
  run_task(io_, server.stop());
}

}  // namespace errand::sdk::embedded_events_test
