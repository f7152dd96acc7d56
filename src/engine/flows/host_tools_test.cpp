// Tools that this process calls: what they may do, and what becomes of the run if they misbehave.
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <stdexcept>

#include "agent/fold/step.hpp"
#include "engine/flows/test_host_tools.hpp"
#include "engine/residency/whole_log.hpp"
#include "run/log/journal.hpp"
#include "run/tools/tool_set.hpp"

namespace errand::engine::testing::host_tools_test {
namespace {

constexpr std::string_view kOneCall =
    R"({"turns":[{"toolCalls":[{"name":"act"}]},{"text":["ok"]}]})";

Task<ToolOutcome> throw_error(ToolCall, ToolContext) {
  throw std::runtime_error("the password is 1234");
  co_return ToolOutcome();
}

Task<ToolOutcome> throw_something_else(ToolCall, ToolContext) {
  throw 7;
  co_return ToolOutcome();
}

// As a tool does whose own operation was cancelled by itself.
Task<ToolOutcome> throw_aborted(ToolCall, ToolContext) {
  throw boost::system::system_error(boost::asio::error::operation_aborted);
  co_return ToolOutcome();
}

struct ThrowingToolTest : HostToolsTest, ::testing::WithParamInterface<WantedTool::Act> {};

TEST_P(ThrowingToolTest, FailsItsCallAndNothingElse) {
  World world(disk, kOneCall);
  add(world, decl_of("act"), GetParam());
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"tool_call", "assistant_message", "tool_result",
                                          "assistant_delta", "assistant_message", "result"}));
  EXPECT_EQ(lines_with("internal error").size(), 1U);
  EXPECT_TRUE(lines_with("1234").empty());
}

INSTANTIATE_TEST_SUITE_P(Exceptions, ThrowingToolTest,
                         ::testing::Values(throw_error, throw_something_else, throw_aborted));

TEST_F(HostToolsTest, CallThatTakesTooLongIsCutOffAndTheRunGoesOn) {
  World world(disk, R"({"turns":[{"toolCalls":[{"name":"slow"}]},{"text":["ok"]}]})");
  client.spec = spec_with_tools({HostTool{"slow"}});
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return world.slow_tools_ended > 0; });
  EXPECT_EQ(world.timers.now().time_since_epoch(), kHostToolTimeout);
  world.run_until([&] { return client.done; });
  EXPECT_EQ(lines_with("took longer than 120 s and was cut off").size(), 1U);
  EXPECT_EQ(types_of(client.seen).back(), "result");
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

// A call with a file whose tool notices only after 10 s that its 5 s are over.
struct LateCallTest : HostToolsTest {
  bool is_back = false;

  void add_late_tool(World& world) {
    add(world, decl_of("act", {.timeout = seconds(5)}),
        [this, &world](ToolCall, ToolContext) { return come_late(&world, &is_back); });
    add_client_tool("look");
    client.answers = false;
  }
  void wait_until_back(World& world) {
    world.tasks.spawn("client", client.go(&world));
    pass(disk, {&world}, seconds(15));
    EXPECT_TRUE(is_back);
    EXPECT_EQ(lines_with("took longer than 5 s and was cut off").size(), 1U);
  }

 private:
  static Task<ToolOutcome> come_late(World* world, bool* is_back) {
    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    co_await world->timers.sleep_until(world->timers.now() + seconds(10));
    *is_back = true;
    ToolOutcome outcome = text_outcome("late");
    FilePart file{.filename = "a.txt",
                  .mime_type = "text/plain",
                  .bytes = std::make_shared<const std::string>("bytes")};
    outcome.content.emplace_back(
        FileContent{.kind = FileContent::Kind::file, .file = std::move(file)});
    co_return outcome;
  }
};

TEST_F(LateCallTest, RunOfTheNextTurnRestsOnceTheCallHasReturned) {
  World world(disk, R"({"turns":[
      {"toolCalls":[{"name":"act"}]},{"toolCalls":[{"name":"look"}]},{"text":["ok"]}]})");
  add_late_tool(world);
  wait_until_back(world);
  EXPECT_EQ(world.engine.count(Place::resting), 1U);
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

TEST_F(LateCallTest, RunOfTheSameTurnRestsOnceTheCallHasReturned) {
  World world(disk, R"({"turns":[
      {"toolCalls":[{"name":"act"},{"name":"look"}]},{"text":["ok"]}]})");
  add_late_tool(world);
  wait_until_back(world);
  EXPECT_EQ(world.engine.count(Place::resting), 1U);
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

TEST_F(HostToolsTest, ToolSaysHowLongItsCallsMayTake) {
  World world(disk, kOneCall);
  SteadyTime told{};
  add(world, decl_of("act", {.timeout = seconds(7)}),
      [&told](ToolCall, ToolContext context) -> Task<ToolOutcome> {
        told = context.deadline;
        co_return text_outcome("done");
      });
  SteadyTime begun = world.timers.now();
  run(world);
  EXPECT_EQ(told, begun + seconds(7));
}

TEST_F(HostToolsTest, FatalFailureEndsTheRunOnceItsOtherCallsAreOver) {
  World world(disk, R"({"turns":[
      {"toolCalls":[{"name":"act"},{"name":"slow"},{"name":"look"},{"name":"careless"}]},
      {"text":["never"]}]})");
  add(world, decl_of("act"), [](ToolCall, ToolContext) -> Task<ToolOutcome> {
    ToolOutcome outcome = failed_outcome("the disk is on fire");
    outcome.kind = ToolOutcome::Kind::fatal;
    co_return outcome;
  });
  add_client_tool("look");
  client.spec = spec_with_tools(
      {HostTool{"act"}, HostTool{"slow"}, client_tool("look"), HostTool{"careless"}});
  client.answers = false;
  run(world);
  // The slow call is waited for, the client's is not, and the one that had to wait is not made.
  EXPECT_EQ(lines_with("took longer than 120 s").size(), 1U);
  EXPECT_EQ(lines_with("was not made").size(), 1U);
  EXPECT_EQ(disk.careless.begun, 0);
  EXPECT_NE(
      client.seen.back().find(R"("subtype":"error_tool_fatal","error":"the disk is on fire")"),
      std::string::npos)
      << client.seen.back();
  EXPECT_EQ(world.asked, 1);
}

TEST_F(HostToolsTest, ProgressIsShownWhileTheCallRuns) {
  World world(disk, kOneCall);
  add(world, decl_of("act"), [](ToolCall, ToolContext context) -> Task<ToolOutcome> {
    context.progress->report({.message = "half", .progress = 1, .total = 2});
    context.progress->report({.message = std::string(kProgressMessageBytesMax + 1, 'x')});
    co_return text_outcome("done");
  });
  run(world);
  std::vector<std::string> reports = lines_with("tool_progress");
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_NE(reports[0].find(R"("name":"act","message":"half","progress":1.0,"total":2.0})"),
            std::string::npos)
      << reports[0];
  EXPECT_EQ(std::get<ToolProgress>(parse_event(reports[1])->event).message.size(),
            kProgressMessageBytesMax);
}

TEST_F(HostToolsTest, ProgressWithoutEndIsDropped) {
  World world(disk, kOneCall);
  add(world, decl_of("act"), [](ToolCall, ToolContext context) -> Task<ToolOutcome> {
    for (int i = 0; i < agent::AgentRun::kReportsMax + 10; ++i) context.progress->report({});
    co_return text_outcome("done");
  });
  run(world);
  EXPECT_EQ(lines_with("tool_progress").size(),
            static_cast<std::size_t>(agent::AgentRun::kReportsMax));
}

TEST_F(HostToolsTest, FilesOfAResultAreKeptAndShownToTheModel) {
  World world(disk, kOneCall);
  add(world, decl_of("act"), [](ToolCall, ToolContext) -> Task<ToolOutcome> {
    ToolOutcome outcome = text_outcome("a picture");
    FilePart picture{.filename = "../a.png",
                     .mime_type = "image/png",
                     .bytes = std::make_shared<const std::string>("bytes")};
    outcome.content.emplace_back(
        FileContent{.kind = FileContent::Kind::image, .file = std::move(picture)});
    outcome.content.emplace_back(JsonContent{json::Object{{"a", 1}}});
    co_return outcome;
  });
  run(world);
  EXPECT_EQ(world.shown_files, std::vector<std::string>{"a.png: bytes"});
  std::vector<std::string> results = lines_with("\"tool_result\"");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_NE(results[0].find(R"("result":"a picture\n{\"a\":1}","files":[{"filename":"a.png",)"
                            R"("mimeType":"image/png","size":5}])"),
            std::string::npos)
      << results[0];
}

TEST_F(HostToolsTest, NoteThatIsTooLongIsRefused) {
  World world(disk, kOneCall);
  add(world, decl_of("act", {.resumable = true}),
      [](ToolCall, ToolContext context) -> Task<ToolOutcome> {
        auto kept = co_await context.notes->keep({{"x", std::string(kNoteBytesMax, 'x')}});
        co_return text_outcome(kept ? "kept" : kept.error().message());
      });
  run(world);
  EXPECT_EQ(lines_with("has more than 4096 bytes").size(), 1U);
  for (const SegmentPtr& segment : stored_run(disk, *client.run).segments) {
    EXPECT_EQ(segment->journal.find("\"note\""), std::string::npos);
  }
}

// A run that an older version has created holds no entry that the older version cannot read.
TEST_F(HostToolsTest, NotesOfACallThatIsNotResumedStayOutOfTheJournal) {
  World world(disk, kOneCall);
  add(world, decl_of("act", {}), [](ToolCall, ToolContext context) -> Task<ToolOutcome> {
    auto kept = co_await context.notes->keep({{"step", 1}});
    co_return text_outcome(kept ? "went on" : kept.error().message());
  });
  run(world);
  EXPECT_EQ(lines_with("went on").size(), 1U);
  for (const SegmentPtr& segment : stored_run(disk, *client.run).segments) {
    EXPECT_EQ(segment->journal.find("\"note\""), std::string::npos);
  }
}

// What a call that is being cut off is told.
struct CutOffTest : HostToolsTest {
  std::vector<std::string> told;

  void add_waiting_tool(World& world, milliseconds timeout) {
    add(world, decl_of("act", {.timeout = timeout, .resumable = true}),
        [this, &world](ToolCall, ToolContext context) {
          return wait_and_tell(&world, context, &told);
        });
  }

 private:
  static Task<ToolOutcome> wait_and_tell(World* world, ToolContext context,
                                         std::vector<std::string>* told) {
    struct Telling {
      CallNotes* notes;
      std::vector<std::string>* told;
      ~Telling() { told->emplace_back(notes->goes_on_later() ? "goes on later" : "given up"); }
    };
    Telling telling{context.notes, told};
    co_await world->timers.sleep_until(SteadyTime::max());
    co_return text_outcome("never");
  }
};

TEST_F(CutOffTest, CallOfAProcessThatStopsGoesOnLater) {
  {
    World world(disk, kOneCall);
    add_waiting_tool(world, seconds(60));
    world.tasks.spawn("client", client.go(&world));
    world.settle();
  }
  EXPECT_EQ(told, std::vector<std::string>{"goes on later"});
}

// Notes what it has begun, and goes on with that as long as `is_done` is false.
Task<ToolOutcome> note_and_wait(World* world, ToolContext context, bool is_done) {
  const bool goes_on = context.notes->last().has_value();
  if (!goes_on) {
    auto kept = co_await context.notes->keep({{"taskId", "t1"}});
    if (!kept) co_return text_outcome(kept.error().message());
  }
  if (!is_done) co_await world->timers.sleep_until(SteadyTime::max());
  co_return text_outcome(goes_on ? "went on" : "began");
}

TEST_F(HostToolsTest, NotedCallGoesOnAfterAnyNumberOfRestarts) {
  for (int process = 0; process <= agent::kCallResumesMax + 1; ++process) {
    const bool is_last = process > agent::kCallResumesMax;
    World world(disk, kOneCall);
    add(world, decl_of("act", {.resumable = true}),
        [&world, is_last](ToolCall, ToolContext context) {
          return note_and_wait(&world, context, is_last);
        });
    if (process > 0) world.engine.start();
    if (is_last) run(world);
    if (process == 0) world.tasks.spawn("client", client.go(&world));
    world.settle();
  }
  EXPECT_EQ(lines_with("went on").size(), 1U);
}

TEST_F(CutOffTest, CallOfACancelledRunIsGivenUp) {
  World world(disk, kOneCall);
  add_waiting_tool(world, seconds(60));
  client.cancels_after = 2;
  run(world);
  EXPECT_EQ(told, std::vector<std::string>{"given up"});
}

TEST_F(CutOffTest, CallWhoseTimeIsOverIsGivenUp) {
  World world(disk, kOneCall);
  add_waiting_tool(world, seconds(60));
  run(world);
  EXPECT_EQ(told, std::vector<std::string>{"given up"});
}

TEST_F(CutOffTest, CallOfARunWhoseTimeIsOverIsGivenUp) {
  World world(disk, kOneCall, {}, {.run_time = seconds(30)});
  add_waiting_tool(world, seconds(60));
  run(world);
  world.settle();
  EXPECT_EQ(told, std::vector<std::string>{"given up"});
}

// The tool of this process that somebody tries out.
class TriedTool final : public ToolSource {
 public:
  explicit TriedTool(WantedTool::Act act)
      : tool_(std::make_shared<WantedTool>(decl_of("act"), std::move(act))) {}
  Result<std::vector<ToolDecl>> bind(const ToolRef&, const Principal&) override {
    return std::vector<ToolDecl>{tool_->decl()};
  }
  ToolPtr open(const ToolDecl&, const ToolRef&, const Principal&) override { return tool_; }

 private:
  const ToolPtr tool_;
};

TEST_P(ThrowingToolTest, FailsTheCallOfWhoeverTriesItOut) {
  TriedTool tried(GetParam());
  World world(disk, kOneCall);
  world.sources.add("plugins", {"mantyx_plugin"}, tried);
  auto outcome = world.result_of(world.engine.try_tool(someone(), "act", {}));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(text_of(*outcome),
            "The tool failed because of an internal error. It may or may not have taken effect.");
}

constexpr std::string_view kLookThenAct = R"({"turns":[
    {"toolCalls":[{"name":"look"}]},{"toolCalls":[{"name":"act"}]},{"text":["ok"]}]})";

TEST_F(HostToolsTest, RunIsBoundToItsToolsOnce) {
  auto done = [](ToolCall, ToolContext) -> Task<ToolOutcome> { co_return text_outcome("done"); };
  client.answers = false;
  {
    World world(disk, kLookThenAct);
    add(world, decl_of("act"), done);
    add_client_tool("look");
    world.tasks.spawn("client", client.go(&world));
    world.settle();
  }
  // The next process has another tool of that name; the run keeps to what it was told.
  World world(disk, kLookThenAct);
  ToolDecl changed = decl_of("act");
  changed.description = "Something else.";
  changed.input_schema = share_schema({{"type", "object"}, {"required", {"city"}}});
  world.tools.tools["act"] = std::make_shared<WantedTool>(changed, done);
  client.answers = true;
  world.engine.start();
  run(world);
  EXPECT_EQ(lines_with(R"("result":"done")").size(), 1U);
}

TEST_F(HostToolsTest, ToolThatIsGoneIsToldToTheModel) {
  client.answers = false;
  {
    World world(disk, kLookThenAct);
    add(world, decl_of("act"), nullptr);
    add_client_tool("look");
    world.tasks.spawn("client", client.go(&world));
    world.settle();
  }
  World world(disk, kLookThenAct);
  client.answers = true;
  world.engine.start();
  run(world);
  EXPECT_EQ(lines_with("is not available any more").size(), 1U);
  EXPECT_EQ(types_of(client.seen).back(), "result");
}

TEST_F(HostToolsTest, LargeBindingsAreKeptBesideTheJournal) {
  World world(disk, kOneCall);
  ToolDecl decl = decl_of("act");
  decl.description = std::string(kToolsBesideBytesMin, 'x');
  add(world, decl,
      [](ToolCall, ToolContext) -> Task<ToolOutcome> { co_return text_outcome("done"); });
  run(world);
  std::string stored = stored_run(disk, *client.run).segments.front()->journal;
  EXPECT_EQ(hashes_of_tools(stored).size(), 1U);
  EXPECT_LT(stored.size(), kToolsBesideBytesMin);
  const std::string whole = journal_of(read_disk<std::vector<SegmentPtr>>(
      disk, [&](Store* store) { return read_whole_log(store, key_of(*client.run)); }));
  EXPECT_NE(whole.find(decl.description), std::string::npos);
}

TEST_F(HostToolsTest, ToolsThatBindToTheSameNameAreAMistake) {
  World world(disk, kOneCall);
  add(world, decl_of("act"), nullptr);
  client.spec = spec_with_tools({HostTool{"act"}, client_tool("act")});
  auto created = world.result_of(world.engine.create(someone(), client.spec, {}));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().message(), "two tools are called \"act\"");
}

}  // namespace
}  // namespace errand::engine::testing::host_tools_test
