#include "room/client/room_client.hpp"

#include "async/wakeup.hpp"
#include "room/client/test_client.hpp"

namespace errand::room::test::room_client_test {
namespace {

TEST_F(ClientTest, AHostedToolIsListedAndCalled) {
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  host(host_client, {std::make_shared<TestTool>("echo", echo)});

  auto listed = run_task(io_, caller.list()).value();

  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].name, "kit");
  EXPECT_EQ(listed[0].participant_id, host_client.participant_id());
  EXPECT_EQ(call(caller, "echo", {{"n", 1}}), R"({"type":"json","json":{"n":1}})");
  EXPECT_EQ(call(caller, "gone", {}), "tool gone was not found");
}

TEST_F(ClientTest, AToolkitThatIsNoLongerHostedIsGone) {
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  std::uint64_t handle = host(host_client, {std::make_shared<TestTool>("echo", echo)});

  run_task(io_, host_client.unhost(handle)).value();

  EXPECT_EQ(call(caller, "echo", {}), "toolkit kit was not found");
}

TEST_F(ClientTest, AfterALostConnectionToolkitsAreHostedAgain) {
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  host(host_client, {std::make_shared<TestTool>("echo", echo)});
  const std::string first = host_client.participant_id();

  home_.post([&] { connectors_[0]->last.lock()->close(); });
  run_until(io_, [&] { return host_client.participant_id() != first; });
  run_task(io_, host_client.joined(soon())).value();

  EXPECT_EQ(call(caller, "echo", {}), R"({"type":"json","json":{}})");
  EXPECT_EQ(connectors_[0]->attempts, 2);
}

TEST_F(ClientTest, AParticipantThatIsRefusedDoesNotTryAgain) {
  RoomClient& client = add("stranger");
  connectors_[0]->refusal = Error(ErrorCode::forbidden, "the token is for another room");

  auto joined = run_task(io_, client.joined(soon()));

  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().message(), "the token is for another room");
  EXPECT_TRUE(client.is_over());
  EXPECT_EQ(connectors_[0]->attempts, 1);
}

// Waits until it is cancelled, and says so.
struct Patient {
  Executor home;
  bool began = false;
  bool ended = false;
};

Task<ToolOutcome> wait_for_ever(Patient* patient) {
  struct End {
    Patient* patient;
    ~End() { patient->ended = true; }
  };
  End end{patient};
  patient->began = true;
  Wakeup never(patient->home);
  co_await never.wait();
  co_return ToolOutcome();
}

TEST_F(ClientTest, ACallThatIsGivenUpIsCancelledAtItsHost) {
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  Patient patient{.home = home_.executor()};
  host(host_client, {std::make_shared<TestTool>(
                        "wait", [&](ToolCall, ToolContext) { return wait_for_ever(&patient); })});

  std::optional<RoomCallPtr> made;
  home_.post([&] { made = caller.invoke({.toolkit = "kit", .tool = "wait"}).value(); });
  run_until(io_, [&] { return patient.began; });
  EXPECT_FALSE(patient.ended);
  home_.post([&] { made.reset(); });

  run_until(io_, [&] { return patient.ended; });
}

TEST_F(ClientTest, ACallIsOfUnknownOutcomeWhenItsHostLeaves) {
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  Patient patient{.home = home_.executor()};
  host(host_client, {std::make_shared<TestTool>(
                        "wait", [&](ToolCall, ToolContext) { return wait_for_ever(&patient); })});
  std::optional<RoomCallPtr> made;
  home_.post([&] { made = caller.invoke({.toolkit = "kit", .tool = "wait"}).value(); });
  run_until(io_, [&] { return patient.began; });

  home_.post([&] { connectors_[0]->last.lock()->close(); });
  auto answer = run_task(io_, (*made)->answer()).value();

  EXPECT_EQ(error_of(answer.header).code(), ErrorCode::outcome_unknown);
  EXPECT_EQ(error_of(answer.header).message(), "the host of toolkit kit has left the room");
}

TEST_F(ClientTest, ACallIsOfUnknownOutcomeWhenItsCallerLosesTheConnection) {
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  Patient patient{.home = home_.executor()};
  host(host_client, {std::make_shared<TestTool>(
                        "wait", [&](ToolCall, ToolContext) { return wait_for_ever(&patient); })});
  std::optional<RoomCallPtr> made;
  home_.post([&] { made = caller.invoke({.toolkit = "kit", .tool = "wait"}).value(); });
  run_until(io_, [&] { return patient.began; });

  home_.post([&] { connectors_[1]->last.lock()->close(); });
  auto answer = run_task(io_, (*made)->answer());

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::outcome_unknown);
  run_until(io_, [&] { return patient.ended; });  // the host was told that nobody waits
}

Task<ToolOutcome> tell_progress(ToolContext context) {
  context.progress->report({.message = "half", .progress = 1, .total = 2});
  co_return text_outcome("done");
}

TEST_F(ClientTest, ProgressReachesTheCallerBeforeTheAnswer) {
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  host(host_client, {std::make_shared<TestTool>(
                        "slow", [](ToolCall, ToolContext c) { return tell_progress(c); })});

  std::string told;
  auto answer = run_task(
      io_, caller.call({.toolkit = "kit", .tool = "slow", .on_progress = [&](const auto& event) {
                          told += json::write(json::Value(event));
                        }}));

  EXPECT_EQ(told, R"({"message":"half","progress":1.0,"total":2.0,"type":"errand.progress"})");
  EXPECT_EQ(json::write(json::Value(answer.value().header)), R"({"type":"text","text":"done"})");
}

Task<ToolOutcome> tell_caller(ToolContext context) {
  const RoomCaller& caller = *context.caller;
  co_return text_outcome(cat(caller.room, " ", caller.name, " ", caller.on_behalf_of, " ",
                             json::write(json::Value(caller.context))));
}

TEST_F(ClientTest, AToolKnowsWhoCallsIt) {
  RoomClient& host_client = join("host", {.wants_messages = true});
  RoomClient& caller = join("caller", {.wants_messages = true});
  host(host_client,
       {std::make_shared<TestTool>("who", [](ToolCall, ToolContext c) { return tell_caller(c); })});

  auto answer = run_task(io_, caller.call({.toolkit = "kit",
                                           .tool = "who",
                                           .on_behalf_of_id = "visitor",
                                           .caller_context = {{"a", 1}}}));

  EXPECT_EQ(json::write(json::Value(answer.value().header)),
            R"({"type":"text","text":"lab caller visitor {\"a\":1}"})");
}

// Gives back each item of its input, and then a text.
class EchoStream final : public HostedToolkit {
 public:
  json::Object registration() const override {
    json::Object spec{{"types", json::Array{"text", "binary"}}, {"stream", true}};
    json::Object tool{{"input_spec", spec}, {"output_spec", spec}};
    return {{"name", "kit"}, {"public", true}, {"tools", {{"echo", tool}}}};
  }
  Task<Content> call(HostedCallPtr call) override {
    for (;;) {
      std::optional<Content> item = co_await call->next_input();
      if (!item) break;
      call->write(*item);
    }
    co_return empty_content();
  }
};

Task<std::string> talk(RoomClient* client) {
  auto made = client->invoke({.toolkit = "kit", .tool = "echo", .arguments = open_content()});
  RoomCallPtr call = made.value();
  std::string heard;
  for (std::string_view word : {"a", "b"}) {
    Content item{.header = {{"type", "binary"}, {"headers", json::Object()}}};
    item.bytes = word;
    auto written = co_await call->write(std::move(item));
    EXPECT_TRUE(written);
    auto answer = co_await call->answer();
    EXPECT_TRUE(is_open(answer.value().header));
    auto heard_item = co_await call->next();
    heard += heard_item.value()->bytes;
  }
  call->close_input();
  auto end = co_await call->next();
  heard += end.value() ? " more" : " end";
  co_return heard;
}

TEST_F(ClientTest, StreamsFlowBothWaysAtOnce) {
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  run_task(io_, host_client.host(std::make_shared<EchoStream>())).value();

  EXPECT_EQ(run_task(io_, talk(&caller)), "ab end");
}

// An item of JSON has no bytes apart from its header.
TEST_F(ClientTest, ItemsThatNobodyReadsAreBoundedByAllTheirBytes) {
  class Flood final : public HostedToolkit {
   public:
    explicit Flood(Timers& timers) : timers_(timers) {}
    json::Object registration() const override {
      return {{"name", "kit"}, {"public", true}, {"tools", {{"flood", json::Object()}}}};
    }
    Task<Content> call(HostedCallPtr call) override {
      const json::Value large(std::string(RoomCall::kItemBytesMax / 5, 'x'));
      for (int i = 0; i < 6; ++i) {
        call->write(json_content(large));
        co_await timers_.sleep_until(timers_.now());  // the connection takes one at a time
      }
      co_return empty_content();
    }

   private:
    Timers& timers_;
  };
  RoomClient& host_client = join("host");
  RoomClient& caller = join("caller");
  run_task(io_, host_client.host(std::make_shared<Flood>(timers_))).value();
  std::optional<RoomCallPtr> made;
  home_.post([&] { made = caller.invoke({.toolkit = "kit", .tool = "flood"}).value(); });
  run_until(io_, [&] { return made.has_value(); });
  run_until(io_, [&] { return room_->counts().calls == 0; });
  // The answer of another call comes after all items.
  EXPECT_EQ(call(caller, "none", {}), "tool none was not found");

  std::optional<Error> error;
  for (int i = 0; i < 7 && !error; ++i) {
    auto item = run_task(io_, (*made)->next());
    if (!item) error = item.error();
  }

  ASSERT_TRUE(error);
  EXPECT_EQ(error->code(), ErrorCode::too_large);
}

TEST_F(ClientTest, MessagesReachThoseWhoWantThem) {
  std::string heard;
  RoomClient::Options listening{.wants_messages = true, .on_message = [&](const PeerMessage& one) {
                                  heard = cat(one.from.name(), ": ", one.type, " ",
                                              json::write(json::Value(one.message)), " ",
                                              one.attachment);
                                }};
  RoomClient& listener = join("listener", std::move(listening));
  RoomClient& talker = join("talker", {.wants_messages = true});

  run_task(io_, talker.send({.to = listener.participant_id(),
                             .type = "note",
                             .message = {{"x", 1}},
                             .attachment = "bytes"}))
      .value();
  run_until(io_, [&] { return !heard.empty(); });

  EXPECT_EQ(heard, R"(talker: note {"x":1} bytes)");
}

}  // namespace
}  // namespace errand::room::test::room_client_test
