// A client that takes nothing: what waits for it is dropped, and read from the store again.
#include "server/stream/run_event_feed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "store/memory/memory_store.hpp"
#include "store/memory/test_faulty_store.hpp"
#include "store/store_contract.hpp"
#include "support/run_task.hpp"

namespace errand::server::run_event_feed_test {
namespace {

using net::EventFeed;

constexpr std::size_t kLongText = 2 * EventFeed::kChunkBytesMax;
constexpr EventSeq kBeforeLong = 1;  // the event before it
constexpr int kChunksMax = 100;      // a feed that begins again and again is given up

// Nobody keeps the run.
struct NoKeeper final : engine::LiveRun::Keeper {
  void on_end(engine::LiveRun&) override {}
  void on_waiting(engine::LiveRun&) override {}
  void on_waiting_for_child(engine::LiveRun&) override {}
  void on_going_on(engine::LiveRun&) override {}
  void on_calls_offered(engine::LiveRun&, std::span<const Mailbox>) override {}
  void on_calls_closed(engine::LiveRun&, std::span<const std::string>) override {}
  void on_broken(engine::LiveRun&, const Error&) override {}
  void on_turn_given(engine::LiveRun&, std::optional<RunId>) override {}
  void on_read_after_end(engine::LiveRun&, bool) override {}
  void on_unused(engine::LiveRun&) override {}
};

// One event with a text of so many bytes.
Segment segment_with(std::int32_t n, std::size_t text_bytes) {
  Segment segment = store_contract::events_segment(n, n, 1);
  segment.events = cat("{\"seq\":", n, ",\"type\":\"assistant_delta\",\"text\":\"",
                       std::string(text_bytes, static_cast<char>('a' + n)), "\"}\n");
  return segment;
}

struct RunEventFeedTest : ::testing::Test {
  // An ended run with a short event, one that is longer than a chunk, and a short one.
  RunEventFeedTest() {
    using namespace store_contract;
    const std::int64_t epoch = wait_for(memory_.create(new_run(1))).value().epoch;
    EXPECT_TRUE(is_appended(wait_for(memory_.append(commit_of(1, epoch, segment_with(1, 10))))));
    EXPECT_TRUE(
        is_appended(wait_for(memory_.append(commit_of(1, epoch, segment_with(2, kLongText))))));
    EXPECT_TRUE(is_appended(wait_for(memory_.append(last_commit(1, epoch, segment_with(3, 10))))));
    run_ = std::make_shared<engine::LiveRun>(wait_for(memory_.find(run_key(1))).value(), keeper_);
  }

  std::unique_ptr<RunEventFeed> read_by(ReaderBudget& budget, EventSeq after = 0) {
    return std::make_unique<RunEventFeed>(
        std::make_unique<engine::Subscription>(store_, budget, run_, after, io_.get_executor()),
        timers_);
  }
  EventFeed::Chunk next(RunEventFeed& feed) { return run_task(io_, feed.read(SteadyTime())); }

  struct Taken {
    std::string frames;
    int chunks = 0;
    std::size_t held = 0;  // the most that was held between two chunks
  };
  // Takes all that comes, with a pause of the client after every chunk.
  Taken take_slowly(RunEventFeed& feed, const ReaderBudget& budget) {
    Taken taken;
    EventFeed::State state = EventFeed::State::more;
    while (state == EventFeed::State::more && taken.chunks < kChunksMax) {
      EventFeed::Chunk chunk = next(feed);
      taken.frames += chunk.frames;
      ++taken.chunks;
      feed.release();
      taken.held = std::max(taken.held, budget.used());
      state = chunk.state;
    }
    return taken;
  }

  int reads = 0;  // of the store

 private:
  asio::io_context io_{1};
  ManualClock clock_{1'800'000'000'000};
  ManualTimers timers_;
  MemoryStore memory_{make_memory_store_data(), clock_};
  FaultyStore store_{memory_, [this](FaultyStore::Operation) {
                       ++reads;
                       return FaultyStore::Fault::none;
                     }};
  NoKeeper keeper_;
  std::shared_ptr<engine::LiveRun> run_;
};

TEST_F(RunEventFeedTest, ALongEventGoesOnWhereItWasLeftAndIsNotKeptMeanwhile) {
  ReaderBudget plenty(100 * kLongText);
  const Taken whole = take_slowly(*read_by(plenty), plenty);
  EXPECT_GT(whole.chunks, 3);
  EXPECT_GT(whole.held, kLongText);
  EXPECT_EQ(plenty.used(), 0U);
  EXPECT_EQ(std::exchange(reads, 0), 2) << "the short event and the long one, and the last";

  ReaderBudget tiny(1);
  const Taken released = take_slowly(*read_by(tiny), tiny);
  EXPECT_EQ(released.frames, whole.frames);
  EXPECT_EQ(released.held, 0U);
  EXPECT_EQ(reads, released.chunks) << "nothing is kept from one chunk to the next";
}

TEST_F(RunEventFeedTest, ReadersOfALongEventShareIt) {
  ReaderBudget plenty(100 * kLongText);
  auto first = read_by(plenty, kBeforeLong);
  const std::string begun = next(*first).frames;
  auto second = read_by(plenty, kBeforeLong);
  EXPECT_EQ(next(*second).frames, begun);
  EXPECT_EQ(reads, 1);
}

TEST_F(RunEventFeedTest, AnEventIsSharedNoLongerThanSomebodyHasIt) {
  ReaderBudget plenty(100 * kLongText);
  auto first = read_by(plenty, kBeforeLong);
  next(*first);
  first.reset();
  EXPECT_EQ(plenty.used(), 0U);
  auto second = read_by(plenty, kBeforeLong);
  next(*second);
  EXPECT_EQ(reads, 2);
}

}  // namespace
}  // namespace errand::server::run_event_feed_test
