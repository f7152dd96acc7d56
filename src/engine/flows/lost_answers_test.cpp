// Writes that are durable although the store's answer was lost.
#include "engine/flows/test_session.hpp"

namespace errand::engine::testing::lost_answers_test {
namespace {

using Fault = FaultyStore::Fault;
using Kind = FaultyStore::Kind;

constexpr std::string_view kSlow = R"({"turns":[{"delayMs":60000,"text":["at last"]}]})";
constexpr std::string_view kOneCall = R"({"turns":[
  {"toolCalls":[{"name":"look"}]},{"text":["Seen."]}]})";
constexpr milliseconds kSoon{5000};

// Loses the answer to the n-th write of a kind. Each of the three reads after that fails.
auto lose(Kind kind, int nth = 1) {
  return [kind, nth, writes = 0, reads = 0](FaultyStore::Operation op) mutable {
    if (op.kind == kind && ++writes == nth) return Fault::fail_after;
    const bool fails = op.kind == Kind::read && writes >= nth && ++reads <= 3;
    return fails ? Fault::fail_before : Fault::none;
  };
}

struct LostAnswersTest : SessionTest {
  Client client{.spec = spec_with_tools({client_tool("look")})};

  RunId create(World& world, Spec spec = spec_with_tools({})) {
    return world.result_of(world.engine.create(someone(), std::move(spec), {})).value();
  }
  void pass(World& world, milliseconds duration) { testing::pass(disk, {&world}, duration); }

  // Begins what goes on while time passes, and gives its result.
  template <class T>
  std::optional<Result<T>> after(World& world, Task<Result<T>> task, milliseconds duration) {
    struct Keeper {
      static Task<void> keep(Task<Result<T>> from, std::optional<Result<T>>* out) {
        *out = co_await std::move(from);
      }
    };
    std::optional<Result<T>> out;
    world.tasks.spawn("result", Keeper::keep(std::move(task), &out));
    pass(world, duration);
    return out;
  }

  std::size_t lines_with(std::string_view part) const {
    auto has_it = [part](const std::string& line) { return line.find(part) != std::string::npos; };
    return static_cast<std::size_t>(std::count_if(client.seen.begin(), client.seen.end(), has_it));
  }
};

TEST_F(LostAnswersTest, AnAnswerReachesItsRun) {
  World world(disk, kOneCall);
  world.fault = lose(Kind::mail);
  world.tasks.spawn("client", client.go(&world));
  pass(world, kSoon);

  EXPECT_TRUE(client.done);
  EXPECT_EQ(client.acknowledged.size(), 1U);
  check();
}

TEST_F(LostAnswersTest, AnAnswerReachesItsRunAlsoWhenItsSenderIsCutOff) {
  World world(disk, kOneCall);
  client.answers = false;
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  world.fault = lose(Kind::mail);
  struct Send {
    static Task<void> answer(World* world, RunId run, std::string call) {
      auto sent = co_await world->engine.answer(
          someone(), run, {.tool_use_id = std::move(call), .answer = {.text = "seen"}});
      ADD_FAILURE() << "the sender was cut off";
    }
  };
  TaskGroup sender(world.home.executor(), [](const char*, const std::string&) {});
  sender.spawn("answer", Send::answer(&world, *client.run, *client.pending.begin()));
  world.settle();
  sender.cancel(CancelReason::client_gone);
  pass(world, kSoon);

  EXPECT_EQ(sender.size(), 0U);
  EXPECT_TRUE(client.done);
}

TEST_F(LostAnswersTest, ACancelReachesItsRun) {
  World world(disk, kSlow);
  RunId run = create(world);
  world.fault = lose(Kind::mail);
  auto told = after(world, world.engine.cancel(someone(), run), kSoon);

  ASSERT_TRUE(told && *told);
  EXPECT_EQ(**told, RunStatus::cancelled);
  EXPECT_EQ(status(world, run), "cancelled");
  check();
}

// The process that took the first cancel did not live to deliver it.
TEST_F(LostAnswersTest, ACancelThatLiesInTheMailboxAlreadyReachesItsRun) {
  World world(disk, kSlow);
  RunId run = create(world);
  read_disk<MailOutcome>(disk, [&run](Store* store) {
    return store->mail(
        {.to = key_of(run), .slot = std::string(kCancelSlot), .kind = MailKind::cancel});
  });
  EXPECT_EQ(world.result_of(world.engine.cancel(someone(), run)).value(), RunStatus::cancelled);
  pass(world, kSoon);

  EXPECT_EQ(status(world, run), "cancelled");
  check();
}

// The slow call keeps the run in memory.
TEST_F(LostAnswersTest, ATimeoutReachesItsRun) {
  World world(disk,
              R"({"turns":[{"toolCalls":[{"name":"look"},{"name":"slow"}]},{"text":["ok"]}]})", {},
              {.local_tool_timeout = seconds(10)});
  client.spec = spec_with_tools({client_tool("look"), HostTool{"slow"}});
  client.answers = false;
  world.fault = lose(Kind::mail);
  world.tasks.spawn("client", client.go(&world));
  pass(world, seconds(30));

  EXPECT_EQ(lines_with("error_local_tool_timeout"), 1U);
  check();
}

// The first mail is the answer of the client, the second one the end of the call beside it.
TEST_F(LostAnswersTest, ACallBesideOneThatFailedIsEndedInStoreTroubleToo) {
  World world(disk,
              R"({"turns":[{"toolCalls":[{"name":"first"},{"name":"look"}]},{"text":["ok"]}]})");
  client.spec = spec_with_tools(
      {LocalTool{.name = "first", .annotations = {.cancel_siblings = true}}, client_tool("look")});
  client.answers = false;
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  int mails = 0;
  world.fault = [&mails](FaultyStore::Operation op) {
    return op.kind == Kind::mail && ++mails == 2 ? Fault::fail_before : Fault::none;
  };
  auto boxes = stored_run(disk, *client.run).mail;
  auto first = std::find_if(boxes.begin(), boxes.end(),
                            [](const Mailbox& box) { return box.name == "first"; });
  ASSERT_TRUE(world.result_of(world.engine.answer(
      someone(), *client.run,
      {.tool_use_id = first->slot, .answer = {.ok = false, .text = "broken"}})));
  pass(world, kSoon);

  EXPECT_EQ(lines_with("a call beside it failed"), 1U);
  EXPECT_TRUE(client.done);
  check();
}

TEST_F(LostAnswersTest, TheEndOfASessionReachesItsRuns) {
  World world(disk, kSlow);
  begin(world);
  const std::vector<RunId> runs{send(world, "first").value(), send(world, "second").value()};
  world.fault = lose(Kind::end_session);
  auto ended = after(world, world.engine.end_session(someone(), session), kSoon);

  ASSERT_TRUE(ended && *ended);
  EXPECT_TRUE(**ended);
  EXPECT_EQ(statuses(world, runs), (std::vector<std::string>{"cancelled", "cancelled"}));
  check();
}

TEST_F(LostAnswersTest, ARunThatWasCreatedIsDriven) {
  World world(disk, R"({"turns":[{"text":["done"]}]})");
  world.fault = lose(Kind::create);
  auto run = after(world, world.engine.create(someone(), spec_with_tools({}), {}), kSoon);

  ASSERT_TRUE(run && *run);
  EXPECT_EQ(status(world, **run), "succeeded");
  EXPECT_EQ(world.asked, 1);
  check();
}

TEST_F(LostAnswersTest, ARunThatWasNotCreatedIsNotThere) {
  World world(disk, kSlow);
  world.fault = [](FaultyStore::Operation op) {
    return op.kind == Kind::create ? Fault::fail_before : Fault::none;
  };
  auto run = after(world, world.engine.create(someone(), spec_with_tools({}), {}), kSoon);

  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->error().code(), ErrorCode::unavailable);
}

}  // namespace
}  // namespace errand::engine::testing::lost_answers_test
