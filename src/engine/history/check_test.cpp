#include "engine/history/check.hpp"

#include <gtest/gtest.h>

#include "engine/flows/test_world.hpp"
#include "engine/history/run_check.hpp"

namespace errand::engine::testing::check_test {
namespace {

using Rules = std::vector<std::string>;

constexpr std::string_view kTwoCalls = R"({"turns":[
  {"text":["a","b"],"toolCalls":[{"name":"look"},{"name":"look"}]},
  {"text":["c"],"toolCalls":[{"name":"look"}]},
  {"text":["done"]}]})";

// A run to break: each test changes one thing that a store holds of it.
struct CheckTest : ::testing::Test {
  Disk disk;
  Client client{.spec = spec_with_tools({client_tool("look")})};

  // A run that has ended.
  StoredRun ended_run(std::string_view script = kTwoCalls) {
    World world(disk, script);
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_TRUE(client.done);
    return stored_run(disk, *client.run);
  }

  // A run whose client does not answer its two calls.
  StoredRun waiting_run() {
    client.answers = false;
    World world(disk, kTwoCalls);
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return world.engine.count(Place::resting) == 1; });
    return stored_run(disk, *client.run);
  }

  static Rules broken_rules(const StoredRun& run) {
    Rules rules;
    for (const Finding& finding : RunCheck(run).findings()) rules.push_back(finding.rule);
    return rules;
  }

  // Changes a copy of the n-th segment.
  template <class Change>
  static void change(StoredRun& run, std::size_t n, Change change) {
    Segment segment = *run.segments.at(n);
    change(segment);
    run.segments.at(n) = std::make_shared<const Segment>(std::move(segment));
  }

  // Replaces text wherever it stands in the log.
  static void replace(StoredRun& run, std::string_view from, std::string_view to) {
    int found = 0;
    for (std::size_t n = 0; n < run.segments.size(); ++n) {
      change(run, n, [&](Segment& segment) {
        for (std::string* text : {&segment.journal, &segment.events}) {
          for (std::size_t at = text->find(from); at != std::string::npos;
               at = text->find(from, at + to.size())) {
            text->replace(at, from.size(), to);
            ++found;
          }
        }
      });
    }
    EXPECT_GT(found, 0) << from;
  }

  // The line of the log that begins so, without its newline.
  static std::string line_of(const StoredRun& run, std::string_view start) {
    for (const SegmentPtr& segment : run.segments) {
      for (const std::string* text : {&segment->journal, &segment->events}) {
        std::size_t at = text->find(start);
        if (at != std::string::npos) return text->substr(at, text->find('\n', at) - at);
      }
    }
    ADD_FAILURE() << start;
    return {};
  }
};

TEST_F(CheckTest, AMergedLogIsAsGood) {
  StoredRun run = ended_run();
  Segment merged = *run.segments.back();
  merged.n = 0;
  merged.events_count = static_cast<std::int32_t>(merged.last_seq);
  merged.journal.clear();
  merged.events.clear();
  for (const SegmentPtr& segment : run.segments) {
    merged.journal += segment->journal;
    merged.events += segment->events;
  }
  run.segments = {std::make_shared<const Segment>(std::move(merged))};
  run.row.segments = 1;

  EXPECT_EQ(broken_rules(run), Rules{});
}

TEST_F(CheckTest, RunsThatEndedAndRunsThatWaitHaveNoFindings) {
  EXPECT_EQ(broken_rules(ended_run()), Rules());
  client = {.spec = client.spec};
  disk.data = make_memory_store_data();
  EXPECT_EQ(broken_rules(waiting_run()), Rules());
  EXPECT_EQ(findings_of(disk), Rules());
}

TEST_F(CheckTest, ReportCountsRunsAndEvents) {
  StoredRun run = ended_run();
  std::size_t told = 0;
  auto report = read_disk<CheckReport>(disk, [&](Store* store) {
    return check_store(store, [&](const CheckReport& so_far) { told = so_far.runs; });
  });
  EXPECT_EQ(report.runs, 1U);
  EXPECT_EQ(told, 1U);
  EXPECT_EQ(report.events, run.row.last_seq);
}

TEST_F(CheckTest, SegmentNumbersHaveNoGap) {
  StoredRun run = ended_run();
  change(run, 2, [](Segment& segment) { segment.n = 7; });
  EXPECT_EQ(broken_rules(run), Rules{"segment_numbers"});
  EXPECT_EQ(RunCheck(run).findings().front().sentence, "segment 7 stands where segment 2 should");
  run.segments.clear();
  EXPECT_EQ(broken_rules(run), Rules{"segment_numbers"});
}

TEST_F(CheckTest, SeqsOfSegmentsFollowEachOther) {
  StoredRun run = ended_run();
  change(run, 2, [](Segment& segment) { ++segment.last_seq; });
  EXPECT_EQ(broken_rules(run), Rules{"segment_seqs"});
}

TEST_F(CheckTest, CountOfEventsIsTheirNumber) {
  StoredRun run = ended_run();
  change(run, 1, [](Segment& segment) { ++segment.events_count; });
  EXPECT_EQ(broken_rules(run), Rules{"event_count"});
}

TEST_F(CheckTest, EveryEventIsAnObjectWithItsSeqAndType) {
  for (auto [from, to] :
       {std::pair(R"({"seq":2,)", R"({"seq":3,)"), std::pair(R"("text":"a")", R"("text":)"),
        std::pair(R"("type":"assistant_delta")", R"("type":"")"),
        std::pair(R"("type":"assistant_delta")", R"("kind":"assistant_delta")")}) {
    disk.data = make_memory_store_data();
    client = {.spec = client.spec};
    StoredRun run = ended_run();
    replace(run, from, to);
    EXPECT_EQ(broken_rules(run), Rules{"event_lines"}) << to;
  }
}

TEST_F(CheckTest, JournalCanBeRead) {
  StoredRun run = ended_run();
  replace(run, R"({"entry":"turn_end")", R"({"entry":"turn_over")");
  EXPECT_EQ(broken_rules(run), Rules{"journal"});
}

TEST_F(CheckTest, JournalBeginsWithCreated) {
  StoredRun run = ended_run();
  std::string created = line_of(run, R"({"entry":"created")") + "\n";
  StoredRun late = run;
  replace(late, created, "");
  EXPECT_EQ(broken_rules(late), Rules{"journal_order"});
  StoredRun twice = run;
  replace(twice, created, created + created);
  EXPECT_EQ(broken_rules(twice), Rules{"journal_order"});
}

TEST_F(CheckTest, JournalFolds) {
  StoredRun run = ended_run();
  for (auto [from, to] : {std::pair(R"("turn":1,"attempt":1)", R"("turn":2,"attempt":1)"),
                          std::pair(R"("turn":1,"attempt":1)", R"("turn":1,"attempt":2)"),
                          std::pair(R"("turn":1,"attempt":1)", R"("turn":0,"attempt":2)")}) {
    StoredRun broken = run;
    replace(broken, from, to);
    EXPECT_EQ(broken_rules(broken), Rules{"journal_order"}) << to;
  }
  StoredRun lost = run;
  replace(lost, line_of(run, R"({"entry":"outcome")") + "\n", "");
  EXPECT_EQ(broken_rules(lost), Rules{"journal_order"});
}

TEST_F(CheckTest, RowSaysWhatTheLogSays) {
  StoredRun run = ended_run();
  auto rules_after = [&](auto change_row) {
    StoredRun broken = run;
    change_row(broken.row);
    return broken_rules(broken);
  };
  EXPECT_EQ(rules_after([](RunRow& row) { row.status = RunStatus::failed; }), Rules{"row_status"});
  EXPECT_EQ(rules_after([](RunRow& row) { row.status = RunStatus::running; }), Rules{"row_status"});
  EXPECT_EQ(rules_after([](RunRow& row) { ++row.last_seq; }), Rules{"row_last_seq"});
  EXPECT_EQ(rules_after([](RunRow& row) { ++row.segments; }), Rules{"row_segments"});
  EXPECT_EQ(rules_after([](RunRow& row) { row.name = "x"; }), Rules{"row_name"});
  EXPECT_EQ(rules_after([](RunRow& row) { row.model_id = "x"; }), Rules{"row_model"});
  EXPECT_EQ(rules_after([](RunRow& row) { row.metadata = R"({"a":"b"})"; }), Rules{"row_metadata"});
  EXPECT_EQ(rules_after([](RunRow& row) { row.created_at += seconds(1); }),
            Rules{"row_created_at"});
  EXPECT_EQ(rules_after([](RunRow& row) { row.ends_by += seconds(1); }), Rules{"row_ends_by"});
  EXPECT_EQ(rules_after([](RunRow& row) { ++row.format; }), Rules{"row_format"});
  EXPECT_EQ(rules_after([](RunRow& row) { row.session = *SessionId::parse("session_1"); }),
            Rules{"row_session"});
  EXPECT_EQ(rules_after([](RunRow& row) { row.updated_at += seconds(1); }),
            Rules{"row_updated_at"});
}

TEST_F(CheckTest, RunThatWaitsForItsClientSaysSo) {
  StoredRun run = waiting_run();
  EXPECT_EQ(run.row.status, RunStatus::waiting);
  run.row.status = RunStatus::running;
  EXPECT_EQ(broken_rules(run), Rules{"row_status"});
  run.row.status = RunStatus::succeeded;
  EXPECT_EQ(broken_rules(run), Rules{"row_status"});
}

TEST_F(CheckTest, OneTerminalEventComesLast) {
  StoredRun run = ended_run();
  StoredRun none = run;
  replace(none, R"("type":"result")", R"("type":"notice")");
  EXPECT_EQ(broken_rules(none), Rules{"terminal_event"});
  StoredRun other = run;
  replace(other, R"("type":"result")", R"("type":"error")");
  EXPECT_EQ(broken_rules(other), Rules{"terminal_event"});
  StoredRun early = run;
  replace(early, R"("type":"assistant_delta")", R"("type":"result")");
  EXPECT_EQ(broken_rules(early), Rules{"terminal_event"});
}

TEST_F(CheckTest, RunThatHasNotEndedHasNoTerminalEvent) {
  StoredRun run = waiting_run();
  replace(run, R"("type":"assistant_delta")", R"("type":"result")");
  EXPECT_EQ(broken_rules(run), Rules{"terminal_event"});
}

TEST_F(CheckTest, EveryFinishedTurnHasItsMessage) {
  StoredRun run = ended_run();
  StoredRun lost = run;
  replace(lost, R"("type":"assistant_message","text":"c")", R"("type":"notice","text":"c")");
  EXPECT_EQ(broken_rules(lost), Rules{"turn_messages"});
  StoredRun other = run;
  replace(other, R"("text":"c","turn":1)", R"("text":"c","turn":0)");
  EXPECT_EQ(broken_rules(other), Rules{"turn_messages"});
}

TEST_F(CheckTest, RestartOfAShownTurnIsShown) {
  StoredRun run = ended_run(R"({"turns":[{"text":["half"],"cutAfter":1}]})");
  EXPECT_EQ(broken_rules(run), Rules());
  replace(run, R"("type":"turn_restarted","turn":0,"attempt":3)",
          R"("type":"turn_restarted","turn":0,"attempt":2)");
  EXPECT_EQ(broken_rules(run), Rules{"turn_restarts"});
}

TEST_F(CheckTest, EveryOutcomeIsShownOnce) {
  StoredRun run = ended_run();
  StoredRun lost = run;
  replace(lost, R"("type":"local_tool_result_in")", R"("type":"notice")");
  EXPECT_EQ(broken_rules(lost), Rules{"outcome_events"});
  StoredRun twice = run;
  replace(twice, R"("type":"local_tool_call")", R"("type":"tool_result")");
  EXPECT_EQ(broken_rules(twice), Rules{"outcome_events"});
}

TEST_F(CheckTest, IdsOfCallsAreUniqueInTheirRun) {
  StoredRun run = ended_run();
  std::vector<std::string> ids(client.acknowledged.begin(), client.acknowledged.end());
  ASSERT_EQ(ids.size(), 3U);
  replace(run, ids[2], ids[0]);
  EXPECT_EQ(broken_rules(run), Rules{"call_ids"});
}

TEST_F(CheckTest, OpenCallsAndMailboxesAreTheSame) {
  StoredRun run = waiting_run();
  ASSERT_EQ(run.mail.size(), 2U);
  StoredRun lost = run;
  lost.mail.pop_back();
  EXPECT_EQ(broken_rules(lost), Rules{"call_mail"});
  StoredRun other = run;
  other.mail.push_back(run.mail.back());
  other.mail.back().slot = "tu_other";
  EXPECT_EQ(broken_rules(other), Rules{"call_mail"});
}

TEST_F(CheckTest, MailboxesAskForWhatTheirCallsAskFor) {
  const StoredRun run = waiting_run();
  auto rules_after = [&run](auto change_box) {
    StoredRun broken = run;
    change_box(broken.mail.back());
    return broken_rules(broken);
  };
  EXPECT_EQ(rules_after([](Mailbox& box) { box.name = "other"; }), Rules{"call_request"});
  EXPECT_EQ(rules_after([](Mailbox& box) { box.request = R"({"q":1})"; }), Rules{"call_request"});
  EXPECT_EQ(rules_after([](Mailbox& box) { box.offer_again = true; }), Rules{"call_request"});
}

TEST_F(CheckTest, MailboxOfAQuestionAsksWhatTheEventSays) {
  constexpr std::string_view kAsking =
      R"({"turns":[{"toolCalls":[{"name":"asking"}]},{"text":["done"]}]})";
  client = {.spec = spec_with_tools({HostTool{"asking"}}), .answers = false};
  World world(disk, kAsking);
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  StoredRun run = stored_run(disk, *client.run);
  ASSERT_EQ(run.mail.size(), 1U);
  EXPECT_EQ(broken_rules(run), Rules());
  run.mail.back().request = R"({"q":"who else?"})";
  EXPECT_EQ(broken_rules(run), Rules{"call_request"});
}

TEST_F(CheckTest, MailOfARunThatWaitsCanBeRead) {
  StoredRun run = waiting_run();
  run.mail.back().filled = true;
  run.mail.back().body = to_mail_body({.text = "fine"});
  EXPECT_EQ(broken_rules(run), Rules());
  run.mail.back().body = "not JSON";
  EXPECT_EQ(broken_rules(run), Rules{"mail_body"});
}

TEST_F(CheckTest, RunThatHasEndedHasNoMail) {
  StoredRun waiting = waiting_run();
  disk.data = make_memory_store_data();
  client = {.spec = client.spec};
  StoredRun run = ended_run();
  run.mail = waiting.mail;
  EXPECT_EQ(broken_rules(run), Rules{"ended_mail"});
}

}  // namespace
}  // namespace errand::engine::testing::check_test
