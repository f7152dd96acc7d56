#include "room/call_span.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "room/test_room.hpp"
#include "room/test_store.hpp"

namespace errand::room::test::call_span_test {
namespace {

constexpr std::string_view kParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

class KeptSpans final : public SpanSink {
 public:
  void end(Span span) override { spans.push_back(std::move(span)); }
  // The texts among the attributes of the last one.
  std::map<std::string, std::string> texts() const {
    std::map<std::string, std::string> out;
    for (const auto& [key, value] : spans.back().attributes) {
      if (const auto* text = std::get_if<std::string>(&value)) out[key] = *text;
    }
    return out;
  }

  std::vector<Span> spans;
};

class SpansOfCalls : public RoomTest {
 protected:
  SpansOfCalls() { spans_ = &kept_; }

  void call(const Client& caller, std::string_view more = "") {
    send(caller, 5, "room.invoke_tool", cat(R"({"toolkit":"kit","tool":"run")", more, "}"));
  }
  void answer(const Client& host, std::string_view content) {
    send(host, 1, "room.tool_call_response", content);
  }

  KeptSpans kept_;
};

TEST_F(SpansOfCalls, ACallIsAChildOfItsCallersSpanAndTheParentOfItsHosts) {
  Client host_client = join({.name = "shop"});
  Client caller = join({.name = "ann"});
  host(host_client, "kit");
  call(caller, cat(R"(,"tool_call_id":"c1","on_behalf_of_id":"v","arguments":{"secret":1},)"
                   R"("__meshagent__":{"v":1,"otel":{"traceparent":")",
                   kParent, "\"}}"));
  const std::string passed = host_client.take();
  EXPECT_TRUE(kept_.spans.empty());
  clock_.pass(milliseconds(30));
  answer(host_client, R"({"type":"text","text":"hidden"})");

  ASSERT_EQ(kept_.spans.size(), 1U);
  const Span& span = kept_.spans[0];
  EXPECT_EQ(span.name, "invoke.kit.run");
  EXPECT_EQ(span.kind, SpanKind::server);
  EXPECT_EQ(to_hex(span.context.trace), kParent.substr(3, 32));
  EXPECT_EQ(to_hex(*span.parent), kParent.substr(36, 16));
  EXPECT_EQ(span.ended - span.begun, milliseconds(30));
  EXPECT_FALSE(span.error);
  EXPECT_NE(passed.find(to_traceparent(span.context)), std::string::npos) << passed;
  const std::map<std::string, std::string> wanted{{"toolkit", "kit"},
                                                  {"tool", "run"},
                                                  {"room", "r"},
                                                  {"session", "s1"},
                                                  {"caller.id", caller.id},
                                                  {"caller.name", "ann"},
                                                  {"caller.role", "user"},
                                                  {"host.id", host_client.id},
                                                  {"host.name", "shop"},
                                                  {"on_behalf_of_id", "v"},
                                                  {"tool_call_id", "c1"},
                                                  {"response_type", "text"}};
  EXPECT_EQ(kept_.texts(), wanted);
}

TEST_F(SpansOfCalls, WithoutATraceACallBeginsOne) {
  Client ann = join({.name = "ann"});
  host(ann, "kit");
  call(ann);
  answer(ann, R"({"type":"empty"})");
  call(ann);
  send(ann, 2, "room.tool_call_response", R"({"type":"empty"})");
  ASSERT_EQ(kept_.spans.size(), 2U);
  EXPECT_FALSE(kept_.spans[0].parent);
  EXPECT_NE(kept_.spans[0].context.trace, kept_.spans[1].context.trace);
}

TEST_F(SpansOfCalls, ATraceThatIsNotSampledHasNoSpansAndGoesOn) {
  Client ann = join({.name = "ann"});
  host(ann, "kit");
  call(ann, R"(,"__meshagent__":{"otel":{"traceparent":)"
            R"("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}})");
  EXPECT_NE(ann.take().find("0af7651916cd43dd8448eb211c80319c"), std::string::npos);
  answer(ann, R"({"type":"empty"})");
  EXPECT_TRUE(kept_.spans.empty());
}

TEST_F(SpansOfCalls, FailuresAreTold) {
  Client host_client = join({.name = "shop"});
  Client caller = join({.name = "ann"});
  host(host_client, "kit");
  call(caller);
  answer(host_client, R"({"type":"error","text":"no luck","code":1002})");
  ASSERT_EQ(kept_.spans.size(), 1U);
  EXPECT_EQ(kept_.spans[0].error, "no luck");
  EXPECT_EQ(kept_.texts().at("error.type"), "room_1002");

  call(caller);
  leave(host_client);
  ASSERT_EQ(kept_.spans.size(), 2U);
  EXPECT_EQ(kept_.spans[1].error, "the host of toolkit kit has left the room");
}

TEST_F(SpansOfCalls, AStreamEndsWithItsLastChunk) {
  Client host_client = join({.name = "shop"});
  Client caller = join({.name = "ann"});
  host(host_client, "kit");
  call(caller, R"(,"tool_call_id":"c1")");
  answer(host_client, R"({"type":"control","method":"open"})");
  send(host_client, 1, "room.tool_call_response_chunk",
       R"({"tool_call_id":"call-1","chunk":{"type":"text","text":"x"}})");
  EXPECT_TRUE(kept_.spans.empty());
  send(host_client, 1, "room.tool_call_response_chunk",
       R"({"tool_call_id":"call-1","chunk":{"type":"control","method":"close","status_code":1007,)"
       R"("message":"bad data"}})");
  ASSERT_EQ(kept_.spans.size(), 1U);
  EXPECT_EQ(kept_.texts().at("response_type"), "stream");
  EXPECT_EQ(kept_.texts().at("error.type"), "close_1007");
  EXPECT_EQ(kept_.spans[0].error, "bad data");
}

TEST_F(SpansOfCalls, ACallThatDoesNotBeginSaysWhyNot) {
  limits_.calls_of_one_max = 0;
  Client ann = join({.name = "ann"});
  host(ann, "kit");
  call(ann);
  ASSERT_EQ(kept_.spans.size(), 1U);
  EXPECT_EQ(kept_.texts().at("error.type"), "room_1006");
}

TEST_F(SpansOfCalls, ACallerThatLeavesHasGivenItsCallUp) {
  Client host_client = join({.name = "shop"});
  Client caller = join({.name = "ann"});
  host(host_client, "kit");
  call(caller);
  leave(caller);
  ASSERT_EQ(kept_.spans.size(), 1U);
  EXPECT_EQ(kept_.spans[0].error, "the call was given up");
}

// Calls of what the room itself offers.
class SpansOfTheRoom : public SpansOfCalls {
 protected:
  SpansOfTheRoom() { store_ = &disk_; }

  Client user() {
    return join(
        {.name = "ann", .scope = R"({"messaging":{},"queues":{},"storage":{},"developer":{}})"});
  }
  void use(const Client& client, std::string_view toolkit, std::string_view tool,
           std::string_view arguments, std::uint64_t id = 5) {
    send(client, id, "room.invoke_tool",
         cat(R"({"toolkit":")", toolkit, R"(","tool":")", tool,
             R"(","arguments":{"type":"json","json":)", arguments,
             R"(},"__meshagent__":{"otel":{"traceparent":")", kParent, "\"}}}"));
    on_home([this] { disk_.run(); });
  }
  void open(const Client& client, std::string_view toolkit, std::string_view tool) {
    send(client, 7, "room.invoke_tool",
         cat(R"({"toolkit":")", toolkit, R"(","tool":")", tool,
             R"(","tool_call_id":"c","arguments":{"type":"control","method":"open"}})"));
  }
  void give(const Client& client, std::string_view content) {
    send(client, 8, "room.tool_call_request_chunk",
         cat(R"({"tool_call_id":"c","chunk":)", content, "}"));
    on_home([this] { disk_.run(); });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Span& span : kept_.spans) all.push_back(span.name);
    return all;
  }

  TestStore disk_;
};

TEST_F(SpansOfTheRoom, AreChildrenOfTheirCallersAndSayHowTheyEnd) {
  Client ann = user();
  use(ann, "storage", "list", R"({"path":""})");
  ASSERT_EQ(names(), std::vector<std::string>{"invoke.storage.list"});
  EXPECT_EQ(to_hex(*kept_.spans[0].parent), kParent.substr(36, 16));
  EXPECT_FALSE(kept_.spans[0].error);
  const std::map<std::string, std::string> wanted{
      {"toolkit", "storage"},  {"tool", "list"},         {"room", "r"},
      {"session", "s1"},       {"caller.id", ann.id},    {"caller.name", "ann"},
      {"caller.role", "user"}, {"response_type", "json"}};
  EXPECT_EQ(kept_.texts(), wanted);
  use(ann, "messaging", "send", R"({"to_participant_id":"nobody","type":"chat"})");
  EXPECT_EQ(kept_.spans.back().error, "the participant was not found");
  use(ann, "sync", "open", "{}");
  EXPECT_EQ(kept_.texts().at("error.type"), "room_1003");
}

TEST_F(SpansOfTheRoom, AReceiverWaitsInItsSpan) {
  Client ann = user();
  use(ann, "queues", "receive", R"({"name":"q","create":true,"wait":true})");
  use(ann, "queues", "receive", R"({"name":"q","wait":true})", 6);
  EXPECT_TRUE(kept_.spans.empty());
  use(ann, "queues", "send", R"({"name":"q","message":{"secret":1}})", 9);
  const std::vector<std::string> wanted{"invoke.queues.receive", "invoke.queues.send"};
  std::vector<std::string> told = names();
  std::sort(told.begin(), told.end());
  EXPECT_EQ(told, wanted);
  leave(ann);
  ASSERT_EQ(kept_.spans.size(), 3U);
  EXPECT_EQ(kept_.spans[2].error, "the call was given up");
}

TEST_F(SpansOfTheRoom, ACallOfAnAgentIsOne) {
  Room::AgentCalled done;
  std::string traceparent;
  call_agent_ = [&](const AgentCall& call, Room::AgentCalled called) {
    traceparent = call.traceparent;
    done = std::move(called);
  };
  Client ann = join({.name = "ann"});
  send(ann, 5, "room.call", R"({"name":"helper","url":"http://a/"})");
  EXPECT_TRUE(kept_.spans.empty());
  on_home([&] { done(Error(ErrorCode::timeout, "too late")); });
  ASSERT_EQ(names(), std::vector<std::string>{"invoke.room.call"});
  EXPECT_EQ(kept_.texts().at("error.type"), "room_1009");
  EXPECT_EQ(traceparent, to_traceparent(kept_.spans[0].context));
}

TEST_F(SpansOfTheRoom, StreamsEndWithTheirLastChunk) {
  Client ann = user();
  open(ann, "developer", "logs");
  EXPECT_TRUE(kept_.spans.empty());
  give(ann, R"({"type":"control","method":"close","status_code":1000})");
  ASSERT_EQ(names(), std::vector<std::string>{"invoke.developer.logs"});
  EXPECT_EQ(kept_.texts().at("response_type"), "stream");
  open(ann, "storage", "download");
  give(ann, R"({"type":"binary","headers":{"kind":"start","path":"none"}})");
  ASSERT_EQ(kept_.spans.size(), 2U);
  EXPECT_EQ(kept_.texts().at("error.type"), "room_3001");
}

}  // namespace
}  // namespace errand::room::test::call_span_test
