#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "json/write.hpp"
#include "room/test_room.hpp"

namespace errand::room::test::room_agents_test {
namespace {

constexpr std::string_view kCall = R"({"name":"helper","url":"http://a/","arguments":{"x":1}})";

class CallingAgents : public RoomTest {
 protected:
  struct Called {
    AgentCall call;
    Room::AgentCalled done;
  };

  CallingAgents() {
    call_agent_ = [this](AgentCall call, Room::AgentCalled done) {
      called_.push_back({.call = std::move(call), .done = std::move(done)});
    };
  }
  // The code of the error that the room answers with; empty for any other answer.
  std::string refusal(const Client& client, std::string_view request) {
    const std::string answer = ask(client, "room.call", request);
    const std::size_t at = answer.find("\"code\":");
    return at == std::string::npos ? "" : answer.substr(at + 7, 4);
  }

  std::vector<Called> called_;
};

TEST_F(CallingAgents, TheCallerIsAnsweredOnceTheAgentHasBeenTold) {
  Client ann = join({.name = "ann", .expires_at = WallTime(milliseconds(5))});
  EXPECT_EQ(ask(ann, "room.call", kCall), "");
  ASSERT_EQ(called_.size(), 1U);
  const AgentCall& call = called_[0].call;
  EXPECT_EQ(call.name, "helper");
  EXPECT_EQ(call.url, "http://a/");
  EXPECT_EQ(json::write(call.arguments), R"({"x":1})");
  EXPECT_EQ(json::write(call.api), kAgents);
  EXPECT_EQ(call.room_url, "ws://x/rooms/r");
  EXPECT_EQ(call.caller.name, "ann");
  EXPECT_EQ(call.called_by, "ann");
  EXPECT_EQ(call.expires_at, WallTime(milliseconds(5)));
  on_home([&] { called_[0].done({}); });
  EXPECT_EQ(ann.take(), "__response__#99 {\"type\":\"empty\"}\n");
}

TEST_F(CallingAgents, TheTraceOfTheCallerGoesOnAndCarriesNothingElse) {
  constexpr std::string_view kTrace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  Client ann = join({.name = "ann"});
  auto call_with = [&](std::string_view traceparent) {
    ask(ann, "room.call",
        cat(kCall.substr(0, kCall.size() - 1), R"(,"__meshagent__":{"otel":{"traceparent":")",
            traceparent, R"("}}})"));
    return called_.back().call.traceparent;
  };
  EXPECT_EQ(call_with(kTrace), kTrace);
  EXPECT_EQ(call_with(R"(x\r\nEvil: yes)"), "");
}

TEST_F(CallingAgents, TheAgentComesToWhereItsCallerReachesTheRoom) {
  Client eve = join({.name = "eve", .url = "ws://evil/rooms/r"});
  Client ann = join({.name = "ann"});
  ask(ann, "room.call", kCall);
  EXPECT_EQ(called_.at(0).call.room_url, "ws://x/rooms/r");
}

TEST_F(CallingAgents, TheCallerIsToldWhyTheAgentDoesNotCome) {
  Client ann = join({.name = "ann"});
  for (auto [code, shown] :
       {std::pair(ErrorCode::forbidden, "1001"), std::pair(ErrorCode::timeout, "1009"),
        std::pair(ErrorCode::unavailable, "1008")}) {
    ask(ann, "room.call", kCall);
    on_home([&, code = code] { called_.back().done(Error(code, "why")); });
    const std::string answer = ann.take();
    EXPECT_NE(answer.find("\"text\":\"why\""), std::string::npos) << answer;
    EXPECT_NE(answer.find(shown), std::string::npos) << answer;
  }
}

TEST_F(CallingAgents, ACallerWhoHasLeftIsNotAnswered) {
  Client ann = join({.name = "ann"});
  ask(ann, "room.call", kCall);
  leave(ann);
  on_home([&] { called_[0].done({}); });
  EXPECT_EQ(ann.take(), "");
}

TEST_F(CallingAgents, ACallNeedsItsGrants) {
  for (std::string_view scope :
       {"{}", R"({"agents":{"call":false}})", R"({"agents":{"use_agents":false}})",
        R"({"agents":{"useAgents":false}})"}) {
    EXPECT_EQ(refusal(join({.name = "ann", .scope = scope}), kCall), "1001") << scope;
  }
  EXPECT_TRUE(called_.empty());
}

TEST_F(CallingAgents, ACallNeedsANameAndAUrl) {
  Client ann = join({.name = "ann"});
  EXPECT_EQ(refusal(ann, R"({"url":"http://a/"})"), "1002");
  EXPECT_EQ(refusal(ann, R"({"name":" ","url":"http://a/"})"), "1002");
  EXPECT_EQ(refusal(ann, R"({"name":"a"})"), "1002");
  EXPECT_EQ(refusal(ann, cat(R"({"name":"a","url":"http://)", std::string(3000, 'a'), "\"}")),
            "1002");
}

TEST_F(CallingAgents, AnAgentMayDoNoMoreThanItsCaller) {
  Client ann =
      join({.name = "ann", .scope = R"({"agents":{},"queues":{"send":["a"]},"storage":{}})"});
  ask(ann, "room.call",
      R"({"name":"h","url":"u","api":{"agents":{"call":false},"queues":{},"developer":{}}})");
  ASSERT_EQ(called_.size(), 1U);
  EXPECT_EQ(json::write(called_[0].call.api),
            R"({"agents":{"call":false},"queues":{"send":["a"]}})");
  EXPECT_EQ(refusal(ann, R"({"name":"h","url":"u","api":{"queues":{"send":["b"]}}})"), "1001");
}

TEST_F(CallingAgents, NobodyGetsTheNameOfSomebodyElse) {
  Client ann = join({.name = "ann"});
  Client weather = join({.name = "weather"});
  host(weather, "forecast");
  EXPECT_EQ(refusal(ann, R"({"name":"weather","url":"u"})"), "1004");
  // An agent of this name that was called before the other one came.
  leave(weather);
  ask(ann, "room.call", R"({"name":"weather","url":"u"})");
  EXPECT_EQ(called_.size(), 1U);
  Client real = join({.name = "weather"});
  host(real, "forecast");
  Client agent = join({.name = "weather", .called_by = "ann"});
  EXPECT_NE(
      ask(agent, "room.register_toolkit", R"({"name":"forecast","public":true,"tools":{"run":{}}})")
          .find("1004"),
      std::string::npos);
}

TEST_F(CallingAgents, WhoCalledIsKeptFromCallToCall) {
  Client agent = join({.name = "a/b", .called_by = "ann"});
  ask(agent, "room.call", kCall);
  EXPECT_EQ(called_.at(0).call.called_by, "ann/a%2Fb");
  Client last = join({.name = "last", .called_by = std::string(1024, 'x')});
  EXPECT_EQ(refusal(last, kCall), "1002");
}

TEST_F(CallingAgents, OnlySoManyAreCalledAtOnce) {
  limits_.agent_calls_max = 2;
  Client ann = join({.name = "ann"});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(refusal(ann, kCall), "");
  EXPECT_EQ(refusal(ann, kCall), "1008");
  on_home([&] { called_[0].done({}); });
  ann.take();
  EXPECT_EQ(refusal(ann, kCall), "");
}

TEST_F(CallingAgents, AServerWithoutAWayOutSaysSo) {
  call_agent_ = {};
  EXPECT_EQ(refusal(join({.name = "ann"}), kCall), "1002");
}

}  // namespace
}  // namespace errand::room::test::room_agents_test
