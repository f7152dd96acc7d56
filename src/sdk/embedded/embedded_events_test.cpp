// Events as structs for readers in this process.
#include "sdk/embedded/embedded_api.hpp"

#include <string>
#include <vector>

#include "base/text.hpp"
#include "sdk/test_host.hpp"

namespace errand::sdk::embedded_events_test {
namespace {

class EmbeddedEventsTest : public HostTest {
 protected:
  RunId create() { return value_of(api_.create({.prompt = "Go."}, {}, nullptr)); }
  std::vector<std::string> read(const RunId& run, EventSeq after) {
    RunStream stream(api_, host_.timers(), run, after, RunStream::FirstFailure::is_final);
    return run_task(io_, lines_until_end(&stream, nullptr));
  }

  EmbeddedApi api_{host_};
};

TEST_F(EmbeddedEventsTest, AReaderThatKeepsUpGetsStructsAndNoLineIsParsed) {
  std::vector<std::string> lines = read(create(), 0);
  EXPECT_EQ(lines.size(), 7U);
  EXPECT_EQ(api_.counters().structs, lines.size());
  EXPECT_EQ(api_.counters().parsed, 0U);
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
  EXPECT_EQ(api.counters().structs, 0U);
  EXPECT_EQ(api.counters().parsed, lines.size());
  std::string stored;
  auto read = run_task(io_, server.engine().events({.workspace = *WorkspaceSlug::parse("default")},
                                                   run, 0, SIZE_MAX));
  for (const SegmentPtr& segment : read->segments) stored += segment->events;
  std::string joined;
  for (const std::string& line : lines) joined += line;
  EXPECT_EQ(joined, stored);
  run_task(io_, server.stop());
}

}  // namespace errand::sdk::embedded_events_test
