#pragma once

// The part of the contract about creating runs and reading their logs.

#include "store/store_contract.hpp"

namespace errand {

using namespace store_contract;

inline int created(const std::vector<Result<CreateOutcome>>& outcomes) {
  int count = 0;
  for (const auto& outcome : outcomes) {
    count += outcome.value().kind == Creation::created;
  }
  return count;
}

TEST_P(StoreContract, CreatedRunIsFoundWithItsJournalAndEpoch) {
  NewRun run = new_run(1);
  run.row.name = "naïve \"name\"";
  run.row.metadata = R"({"k":"v"})";

  CreateOutcome outcome = wait_for(store().create(run)).value();

  RunRow expected = run.row;
  expected.segments = 1;
  expected.epoch = outcome.epoch;
  EXPECT_EQ(outcome.kind, Creation::created);
  EXPECT_EQ(outcome.run, run_id(1));
  EXPECT_GT(outcome.epoch, 0);
  EXPECT_EQ(find(1), expected);
  EXPECT_EQ(journal(1), "{\"created\":1}\n");
}

TEST_P(StoreContract, EqualRequestWithTheSameKeyFindsTheExistingRun) {
  ASSERT_TRUE(wait_for(store().create(keyed_run(1, "key", "same"))));

  CreateOutcome again = wait_for(store().create(keyed_run(2, "key", "same"))).value();

  EXPECT_EQ(again.kind, Creation::existing);
  EXPECT_EQ(again.run, run_id(1));
  EXPECT_FALSE(exists(2));
}

TEST_P(StoreContract, OtherRequestWithTheSameKeyConflicts) {
  ASSERT_TRUE(wait_for(store().create(keyed_run(1, "key", "one"))));

  CreateOutcome other = wait_for(store().create(keyed_run(2, "key", "two"))).value();

  EXPECT_EQ(other.kind, Creation::conflict);
  EXPECT_FALSE(exists(2));
}

TEST_P(StoreContract, TheSameKeyInAnotherWorkspaceIsAnotherKey) {
  ASSERT_TRUE(wait_for(store().create(keyed_run(1, "key", "same"))));
  NewRun elsewhere = keyed_run(2, "key", "same");
  elsewhere.row.workspace = workspace("other");

  CreateOutcome outcome = wait_for(store().create(elsewhere)).value();

  EXPECT_EQ(outcome.kind, Creation::created);
}

TEST_P(StoreContract, AKeyIsKnownAfterARestart) {
  ASSERT_TRUE(wait_for(store().create(keyed_run(1, "key", "same"))));
  reopen();

  CreateOutcome again = wait_for(store().create(keyed_run(2, "key", "same"))).value();

  EXPECT_EQ(again.kind, Creation::existing);
  EXPECT_EQ(again.run, run_id(1));
}

TEST_P(StoreContract, ExactlyOneOfAHundredEqualRequestsCreates) {
  std::vector<Task<Result<CreateOutcome>>> race;
  for (int i = 0; i < 100; ++i) race.push_back(store().create(keyed_run(i, "key", "same")));

  EXPECT_EQ(created(wait_for_all(std::move(race))), 1);

  RunFilter all;
  all.workspace = workspace();
  EXPECT_EQ(wait_for(store().list(all)).value().size(), 1U);
}

TEST_P(StoreContract, ASecondRunWithTheSameIdIsRefusedInAnyWorkspace) {
  create(1);

  auto refused = wait_for(store().create(new_run_in("other", 1)));

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::conflict);
  EXPECT_EQ(find(1).workspace, workspace());
}

TEST_P(StoreContract, ReadingEventsFromInsideASegmentBringsTheWholeSegment) {
  auto epoch = create(1);
  ASSERT_TRUE(append(commit_of(1, epoch, events_segment(1, 1, 3))));
  ASSERT_TRUE(append(commit_of(1, epoch, events_segment(2, 4, 2))));
  Segment first = events_segment(1, 1, 3);
  Segment second = events_segment(2, 4, 2);
  first.journal.clear();
  second.journal.clear();

  EXPECT_EQ(events(1, 0, 1 << 20), (std::vector{first, second}));
  EXPECT_EQ(events(1, 2, 1 << 20), (std::vector{first, second}));
  EXPECT_EQ(events(1, 3, 1 << 20), std::vector{second});
  EXPECT_EQ(events(1, 4, 1 << 20), std::vector{second});
}

TEST_P(StoreContract, ReadingEventsAfterTheEndOrOfNoRunBringsNothing) {
  auto epoch = create(1);
  ASSERT_TRUE(append(commit_of(1, epoch, events_segment(1, 1, 3))));

  EXPECT_EQ(events(1, 3, 1 << 20), std::vector<Segment>());
  EXPECT_EQ(events(1, 99, 1 << 20), std::vector<Segment>());
  EXPECT_EQ(events(2, 0, 1 << 20), std::vector<Segment>());
}

TEST_P(StoreContract, SegmentsWithoutEventsAreSkippedByEventsAndKeptInTheJournal) {
  auto epoch = create(1);
  ASSERT_TRUE(append(commit_of(1, epoch, events_segment(1, 1, 0))));
  ASSERT_TRUE(append(commit_of(1, epoch, events_segment(2, 1, 1))));
  ASSERT_TRUE(append(commit_of(1, epoch, events_segment(3, 2, 0))));
  Segment with_events = events_segment(2, 1, 1);
  with_events.journal.clear();

  EXPECT_EQ(events(1, 0, 1 << 20), std::vector{with_events});
  EXPECT_EQ(journal(1), "{\"created\":1}\n{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n");
}

TEST_P(StoreContract, ReadingStopsOnceItHasPassedItsBytes) {
  auto epoch = create(1);
  for (int n = 1; n <= 5; ++n) {
    Segment large = events_segment(n, n, 1);
    large.events = cat("{\"x\":\"", std::string(100'000, 'x'), "\"}\n");
    ASSERT_TRUE(append(commit_of(1, epoch, large)));
  }

  EXPECT_EQ(events(1, 0, 0).size(), 1U);
  EXPECT_EQ(events(1, 0, 1000).size(), 1U);
  EXPECT_EQ(events(1, 0, 150'000).size(), 2U);
  EXPECT_EQ(events(1, 2, 150'000).size(), 2U);
  EXPECT_EQ(events(1, 0, 10'000'000).size(), 5U);
}

TEST_P(StoreContract, EveryByteOfJournalAndEventsSurvives) {
  auto epoch = create(1);
  Segment bytes = events_segment(1, 1, 1);
  bytes.events = std::string("{\"t\":\"\0\xff ünï 🦊\"}\n", 19);
  bytes.journal = std::string("\0j\xc3\x28\n", 5);
  ASSERT_TRUE(append(commit_of(1, epoch, bytes)));

  EXPECT_EQ(events(1, 0, 1 << 20).at(0).events, bytes.events);
  EXPECT_EQ(journal(1), "{\"created\":1}\n" + bytes.journal);
}

TEST_P(StoreContract, WholeSegmentsAreReadInPages) {
  auto epoch = create(1);
  Segment first = new_run(1).first;
  Segment second = events_segment(1, 1, 2);
  Segment third = events_segment(2, 3, 0);
  ASSERT_TRUE(append(commit_of(1, epoch, second)));
  ASSERT_TRUE(append(commit_of(1, epoch, third)));

  EXPECT_EQ(log(1, -1, 1 << 20), (std::vector{first, second, third}));
  EXPECT_EQ(log(1, -1, 1), std::vector{first});
  EXPECT_EQ(log(1, 0, 1), (std::vector{second, third})) << "they have the same seq";
  EXPECT_EQ(log(1, 1, 1), (std::vector{second, third})) << "a segment is never cut";
  EXPECT_EQ(log(1, 2, 1), std::vector<Segment>());
}

TEST_P(StoreContract, JournalsAreReadInPagesOfTheirOwnBytes) {
  auto epoch = create(1);
  Segment first = new_run(1).first;
  Segment second = events_segment(1, 1, 2);
  Segment third = events_segment(2, 3, 0);
  Segment fourth = events_segment(3, 3, 1);
  second.events.insert(second.events.size() - 1, 10'000, ' ');
  for (const Segment& one : {second, third, fourth}) ASSERT_TRUE(append(commit_of(1, epoch, one)));
  second.events.clear();
  fourth.events.clear();

  EXPECT_EQ(journals(1, -1, 1000), (std::vector{first, second, third, fourth}));
  EXPECT_EQ(journals(1, -1, 1), std::vector{first});
  EXPECT_EQ(journals(1, 0, 1), (std::vector{second, third})) << "they have the same seq";
  EXPECT_EQ(journals(1, 2, 1), std::vector{fourth});
  EXPECT_EQ(journals(1, 3, 1), std::vector<Segment>());
}

TEST_P(StoreContract, ALongLogIsReadFromAnySeqOn) {
  constexpr std::int32_t kSegments = 150;
  const auto epoch = create(1);
  create(2);
  std::vector<Segment> whole{new_run(1).first};
  for (std::int32_t n = 1; n < kSegments; ++n) {
    const bool has_event = n % 3 != 0;
    whole.push_back(events_segment(n, whole.back().last_seq + 1, has_event ? 1 : 0));
    ASSERT_TRUE(append(commit_of(1, epoch, whole.back())));
    ASSERT_TRUE(append(commit_of(2, epoch, events_segment(n, n, 1))));
  }
  auto expect_whole = [&] {
    for (EventSeq after = -1; after <= whole.back().last_seq; ++after) {
      auto from = std::find_if(whole.begin(), whole.end(), [after](const Segment& segment) {
        return segment.last_seq > after;
      });
      auto page_end = std::find_if(from, whole.end(), [after](const Segment& segment) {
        return segment.last_seq > after + 1;
      });
      EXPECT_EQ(log(1, after, 1 << 20), std::vector(from, whole.end()));
      EXPECT_EQ(log(1, after, 1), std::vector(from, page_end));
    }
    for (EventSeq after = 0; after <= whole.back().last_seq; ++after) {
      auto left = static_cast<std::size_t>(whole.back().last_seq - after);
      EXPECT_EQ(events(1, after, 1 << 20).size(), left);
      EXPECT_EQ(events(1, after, 0).size(), left == 0 ? 0U : 1U);
    }
  };

  expect_whole();
  whole.push_back(events_segment(kSegments, whole.back().last_seq + 1, 1));
  ASSERT_TRUE(append(last_commit(1, epoch, whole.back())));
  expect_whole();
  reopen();
  expect_whole();
  EXPECT_EQ(events(2, 0, 1 << 20).size(), static_cast<std::size_t>(kSegments - 1));
}

}  // namespace errand
