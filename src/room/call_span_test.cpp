#include "room/call_span.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "room/test_room.hpp"

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

TEST_F(SpansOfCalls, ACallerThatLeavesHasGivenItsCallUp) {
  Client host_client = join({.name = "shop"});
  Client caller = join({.name = "ann"});
  host(host_client, "kit");
  call(caller);
  leave(caller);
  ASSERT_EQ(kept_.spans.size(), 1U);
  EXPECT_EQ(kept_.spans[0].error, "the call was given up");
}

}  // namespace
}  // namespace errand::room::test::call_span_test
