#include "room/client/room_tools.hpp"

#include "room/client/room_decls.hpp"
#include "room/client/test_client.hpp"

namespace errand::room::test::room_tools_test {
namespace {

// The rooms of a process, of which there is one.
class TestGate final : public RoomGate {
 public:
  TestGate(Executor home, std::shared_ptr<Room> room)
      : home_(std::move(home)), room_(std::move(room)) {}
  Task<Result<std::shared_ptr<Connection>>> enter(WorkspaceSlug, std::string room,
                                                  std::string participant) override {
    if (room != "lab") {
      co_return Error(ErrorCode::not_found, cat("there is no room \"", room, "\""));
    }
    co_return join_locally(home_, room_,
                           {.identity = {.project = "", .key_id = "runs", .name = participant},
                            .role = Role::agent,
                            .room = room,
                            .scope = {.agents = AgentsGrant{}, .messaging = MessagingGrant{}}},
                           "ws://x/rooms/lab");
  }

 private:
  const Executor home_;
  const std::shared_ptr<Room> room_;
};

class RoomToolsTest : public ClientTest {
 protected:
  RoomToolsTest()
      : gate_(home_.executor(), room_),
        tools_({.home = home_.executor(),
                .timers = timers_,
                .on_bug = report_client_bug,
                .web = {},
                .host_wait = milliseconds(0),
                .clients_max = 2}) {
    tools_.open_gate(gate_);
  }
  ~RoomToolsTest() override { run_task(io_, tools_.stop()); }

  static RoomRef lab(std::vector<RequiredToolkit> required = {}) {
    return {.name = "lab", .participant = "helper", .required = std::move(required)};
  }
  Result<std::vector<ToolDecl>> ask(const RoomRef& ref) {
    return run_task(io_, tools_.ask(ref, who_));
  }
  std::string mistake(const RoomRef& ref) {
    auto asked = ask(ref);
    return asked ? "no error" : asked.error().message();
  }
  ToolOutcome invoke(const ToolDecl& decl, const RoomRef& ref, json::Object arguments) {
    ToolPtr tool = tools_.open(decl, ref, who_);
    ToolCall call{.run = *RunId::parse("run_1"), .id = *ToolUseId::parse("tu_1"), .arguments = {}};
    call.arguments = std::move(arguments);
    return run_task(io_, tool->invoke(std::move(call), {}));
  }

  const Principal who_{.workspace = *WorkspaceSlug::parse("default"), .key = {}};
  TestGate gate_;
  RoomTools tools_;
};

ToolPtr named(std::string name) {
  return std::make_shared<TestTool>(std::move(name), echo);
}

TEST_F(RoomToolsTest, ToolsAreBoundByNames) {
  host(join("host"), {named("add"), named("sub")});

  auto decls = ask(lab({{.toolkit = "kit",
                         .tools = std::vector<std::string>{"add"},
                         .participant_name = "host"}}))
                   .value();

  ASSERT_EQ(decls.size(), 1U);
  EXPECT_EQ(decls[0].name, "kit_add");
  EXPECT_EQ(decls[0].origin.upstream, R"({"toolkit":"kit","tool":"add","participantName":"host"})");
}

TEST_F(RoomToolsTest, WithoutRequirementsARunHasWhatIsThere) {
  host(join("host"), {named("add")});
  host(join("other"), {named("note")}, "notes");

  auto decls = ask(lab()).value();

  ASSERT_EQ(decls.size(), 2U);
  EXPECT_EQ(decls[0].name, "kit_add");
  EXPECT_EQ(decls[1].name, "notes_note");
}

TEST_F(RoomToolsTest, WhatIsMissingIsNamed) {
  host(join("host"), {named("add")});

  EXPECT_EQ(mistake(lab({{.toolkit = "crm", .timeout = milliseconds(0)}})),
            "the room \"lab\" has no toolkit \"crm\"");
  EXPECT_EQ(mistake(lab({{.toolkit = "kit",
                          .tools = std::vector<std::string>{"add", "mul", "div"},
                          .timeout = milliseconds(0)}})),
            "the toolkit \"kit\" of the room \"lab\" lacks the tools \"mul\", \"div\"");
  EXPECT_EQ(
      mistake(lab({{.toolkit = "kit", .participant_name = "nobody", .timeout = milliseconds(0)}})),
      "the room \"lab\" has no toolkit \"kit\" of the participant \"nobody\"");
  EXPECT_EQ(mistake({.name = "attic", .participant = "helper"}),
            "the room \"attic\" cannot be joined: there is no room \"attic\"");
}

TEST_F(RoomToolsTest, AToolkitThatComesLaterIsWaitedFor) {
  RoomClient& host_client = join("host");
  timers_.set(timers_.now() + milliseconds(20), [] {});
  std::optional<Result<std::vector<ToolDecl>>> asked;
  TaskGroup tasks(home_.executor(), report_client_bug);
  struct Asking {
    static Task<void> ask(RoomTools* tools, RoomRef ref, Principal who,
                          std::optional<Result<std::vector<ToolDecl>>>* out) {
      auto result = co_await tools->ask(std::move(ref), std::move(who));
      out->emplace(std::move(result));
    }
  };
  tasks.spawn("ask", Asking::ask(&tools_, lab({{.toolkit = "kit"}}), who_, &asked));
  run_until(io_, [&] { return room_->counts().participants == 2; });
  EXPECT_FALSE(asked);

  host(host_client, {named("add")});
  run_until(io_, [&] { return asked && tasks.size() == 0; });

  EXPECT_EQ(asked->value().at(0).name, "kit_add");
}

TEST_F(RoomToolsTest, ACallGoesToTheHostAndTellsItsRun) {
  RoomClient& host_client = join("host");
  std::string context;
  host(host_client, {std::make_shared<TestTool>("add", [&](ToolCall call, ToolContext around) {
         context = json::write(json::Value(around.caller->context));
         return echo(std::move(call), around);
       })});
  auto decls = ask(lab({{.toolkit = "kit", .participant_name = "host"}})).value();

  ToolOutcome outcome = invoke(decls.at(0), lab(), {{"n", 2}});

  EXPECT_EQ(text_of(outcome), R"({"n":2})");
  EXPECT_EQ(context, R"({"runId":"run_1","toolUseId":"tu_1"})");
}

TEST_F(RoomToolsTest, ACallAfterTheHostHasGoneSaysSo) {
  host(join("host"), {named("add")});
  auto decls = ask(lab({{.toolkit = "kit"}})).value();
  run_task(io_, clients_[0]->stop());

  ToolOutcome outcome = invoke(decls.at(0), lab(), {});

  EXPECT_FALSE(outcome.ok());
  EXPECT_EQ(text_of(outcome), "Nobody in the room offers the toolkit \"kit\" at the moment.");
}

// A participant that waits for an answer.
struct Busy {
  explicit Busy(Executor home) : never(std::move(home)) {}
  Wakeup never;
  bool has_begun = false;
  bool has_ended = false;

  Task<ToolOutcome> serve() {
    has_begun = true;
    co_await never.wait();
    co_return text_outcome("done");
  }
  static Task<void> call(Busy* self, ToolPtr tool, std::string* text) {
    ToolCall call{.run = *RunId::parse("run_1"), .id = *ToolUseId::parse("tu_1"), .arguments = {}};
    ToolOutcome outcome = co_await tool->invoke(std::move(call), {});
    *text = text_of(outcome);
    self->has_ended = true;
  }
};

TEST_F(RoomToolsTest, AParticipantThatIsInUseMakesWayForNobody) {
  Busy busy(home_.executor());
  host(join("host"),
       {std::make_shared<TestTool>("wait", [&](ToolCall, ToolContext) { return busy.serve(); })});
  const auto as = [](std::string name) {
    return RoomRef{.name = "lab", .participant = std::move(name), .required = {}};
  };
  auto decls = ask(as("a")).value();
  TaskGroup tasks(home_.executor(), report_client_bug);
  std::string text;
  tasks.spawn("call", Busy::call(&busy, tools_.open(decls.at(0), as("a"), who_), &text));
  run_until(io_, [&] { return busy.has_begun; });

  // "a" was used longest ago, and is busy: "b" makes way instead.
  EXPECT_TRUE(ask(as("b")));
  EXPECT_TRUE(ask(as("c")));
  run_until(io_, [&] { return room_->counts().participants == 3; });
  home_.post([&] { busy.never.notify(); });
  run_until(io_, [&] { return busy.has_ended && tasks.size() == 0; });

  EXPECT_EQ(text, "done");
}

TEST_F(RoomToolsTest, ARunIsRefusedWhileAllParticipantsAreInUse) {
  Busy one(home_.executor());
  Busy two(home_.executor());
  Busy* next = &one;
  host(join("host"), {std::make_shared<TestTool>("wait", [&](ToolCall, ToolContext) {
         return std::exchange(next, &two)->serve();
       })});
  const auto as = [](std::string name) {
    return RoomRef{.name = "lab", .participant = std::move(name), .required = {}};
  };
  auto decls = ask(as("a")).value();
  TaskGroup tasks(home_.executor(), report_client_bug);
  std::string text;
  tasks.spawn("call", Busy::call(&one, tools_.open(decls.at(0), as("a"), who_), &text));
  run_until(io_, [&] { return one.has_begun; });
  tasks.spawn("call", Busy::call(&two, tools_.open(decls.at(0), as("b"), who_), &text));
  run_until(io_, [&] { return two.has_begun; });

  EXPECT_EQ(mistake(as("c")),
            "this server takes part in rooms with at most 2 agents at a time, and all of them are "
            "busy");
  home_.post([&] {
    one.never.notify();
    two.never.notify();
  });
  run_until(io_, [&] { return one.has_ended && two.has_ended && tasks.size() == 0; });
}

TEST_F(RoomToolsTest, AllThatIsMissingIsWaitedForTogetherAndNamed) {
  host(join("host"), {named("add")});
  const milliseconds wait(60);
  const SteadyTime begun = timers_.now();

  std::string missing = mistake(lab({{.toolkit = "kit"},
                                     {.toolkit = "crm", .timeout = wait},
                                     {.toolkit = "erp", .timeout = wait},
                                     {.toolkit = "fax", .timeout = milliseconds(60'000)}}));

  EXPECT_EQ(missing,
            "the room \"lab\" has no toolkit \"crm\"; the room \"lab\" has no toolkit \"erp\"; "
            "the room \"lab\" has no toolkit \"fax\"");
  EXPECT_GE(timers_.now() - begun, wait);
}

TEST_F(RoomToolsTest, AHostSeesWhichAgentCalls) {
  RoomClient& host_client = join("host", {.wants_messages = true});
  std::string seen;
  host(host_client, {std::make_shared<TestTool>("add", [&](ToolCall call, ToolContext around) {
         seen = cat(around.caller->name, " ", around.caller->role);
         return echo(std::move(call), around);
       })});
  auto decls = ask(lab()).value();

  invoke(decls.at(0), lab(), {});

  EXPECT_EQ(seen, "helper agent");
}

// The room has refused the call, which therefore had no effect.
TEST_F(RoomToolsTest, ACallThatIsRefusedIsNotOfUnknownOutcome) {
  RoomClient& host_client = join("host", {.limits = {.calls_taken_max = 0}});
  host(host_client, {named("add")});
  auto decls = ask(lab()).value();

  ToolOutcome outcome = invoke(decls.at(0), lab(), {});

  EXPECT_FALSE(outcome.ok());
  EXPECT_EQ(text_of(outcome), "the host has too many calls in flight");
}

TEST_F(RoomToolsTest, RulesAndPromisesOfToolkitsComeAlong) {
  auto add = std::make_shared<TestTool>("add", echo);
  add->change().annotations.read_only = true;
  add->change().annotations.cancel_siblings = true;
  add->change().annotations.timeout = milliseconds(600'000);
  add->change().rules = {"Add once."};
  RoomClient& client = join("host");
  ToolkitOffer offer{.name = "kit", .rules = {"Be exact."}, .tools = {add, named("set")}};
  run_task(io_, client.host(make_hosted_toolkit(client, std::move(offer)))).value();

  auto decls = ask(lab()).value();

  ASSERT_EQ(decls.size(), 2U);
  EXPECT_EQ(decls[0].rules, (std::vector<std::string>{"Be exact.", "Add once."}));
  EXPECT_TRUE(decls[0].annotations.read_only);
  EXPECT_FALSE(decls[1].annotations.read_only);
  EXPECT_TRUE(decls[0].annotations.cancel_siblings);
  EXPECT_FALSE(decls[1].annotations.cancel_siblings);
  EXPECT_EQ(decls[0].annotations.timeout, milliseconds(600'000));
  EXPECT_EQ(decls[1].annotations.timeout, std::nullopt);
}

TEST_F(RoomToolsTest, AToolkitSaysHowLongItsCallsMayTake) {
  auto timeout_of = [](std::string_view annotation) {
    ListedToolkit toolkit{.name = "kit",
                          .participant_id = "p",
                          .members = {{"tools", {{"ask", json::Object()}}},
                                      {"annotations", {{"errand.timeout_ms", annotation}}}}};
    return decls_of(toolkit, nullptr).at(0).annotations.timeout;
  };
  EXPECT_EQ(timeout_of("find=5, ask=250"), milliseconds(250));
  EXPECT_EQ(timeout_of("ask=999999999999"), kToolTimeoutMax);
  for (std::string_view none : {"", "ask", "ask=", "ask=0", "ask=-1", "ask=soon", "asked=5"}) {
    EXPECT_EQ(timeout_of(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace errand::room::test::room_tools_test
