#include <errand/room.hpp>

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>
#include <vector>

#include "sdk/room/test_room.hpp"

namespace errand::sdk::room_streams_test {
namespace {

using namespace test_room;

using v1::BinaryContent;
using v1::ContentTool;
using v1::ContentToolCall;
using v1::EmptyContent;
using v1::FileContent;
using v1::JsonContent;
using v1::LinkContent;
using v1::RoomContent;
using v1::RoomContentType;
using v1::TextContent;

const std::vector<RoomContentType> kAllTypes = {RoomContentType::json, RoomContentType::text,
                                                RoomContentType::file, RoomContentType::binary,
                                                RoomContentType::link, RoomContentType::empty};

// One of each kind.
std::vector<RoomContent> all_kinds() {
  return {JsonContent{v1::JsonObject{{"n", 1}}},
          TextContent{"Grüße"},
          FileContent{.bytes = std::string(100'000, 'x'), .mime_type = "text/plain", .name = "a"},
          BinaryContent{.headers = v1::JsonObject{{"n", 1}}, .bytes = std::string("\0\xff", 2)},
          LinkContent{.url = "https://example.com/", .name = "there"},
          EmptyContent{}};
}

RoomContent number(int n) {
  return JsonContent{v1::Json(n)};
}

int value_of(const RoomContent& content) {
  return static_cast<int>(std::get<JsonContent>(content).value.to_int64().value());
}

ContentTool echo_tool() {
  return {.name = "echo",
          .input = {.types = kAllTypes},
          .output = {.types = kAllTypes},
          .handler = [](ContentToolCall& call) { return call.input(); }};
}

// The four shapes: single or stream, in and out.
std::vector<ContentTool> shapes() {
  return {echo_tool(),
          {.name = "count",  // 1, 2, ... up to the input
           .input = {},
           .output = {.stream = true},
           .handler = [](ContentToolCall& call) -> RoomContent {
             const int last = value_of(call.input());
             for (int n = 1; n <= last; ++n) call.write(number(n));
             return EmptyContent{};
           }},
          {.name = "sum",
           .input = {.stream = true},
           .output = {},
           .handler =
               [](ContentToolCall& call) {
                 int total = 0;
                 while (auto item = call.read()) total += value_of(*item);
                 return number(total);
               }},
          {.name = "copy",
           .input = {.types = kAllTypes, .stream = true},
           .output = {.types = kAllTypes, .stream = true},
           .handler = [](ContentToolCall& call) -> RoomContent {
             while (auto item = call.read()) call.write(*item);
             return EmptyContent{};
           }}};
}

v1::Toolkit kit() {
  return v1::Toolkit({.name = "kit"});
}

std::string failure(const std::function<void()>& work) {
  try {
    work();
    return "none";
  } catch (const v1::Error& error) {
    return cat(v1::to_string(error.code()), ": ", error.what());
  }
}

class RoomStreamsTest : public RoomSdkTest {
 protected:
  v1::Room host_ = v1::Room::join(options("host"));
  v1::Room caller_ = v1::Room::join(options("caller"));
};

TEST_F(RoomStreamsTest, EveryKindOfContentGoesInAndComesOut) {
  v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = shapes()});

  for (const RoomContent& content : all_kinds()) {
    EXPECT_EQ(caller_.call_with("kit", "echo", content), content) << content.index();
  }
}

TEST_F(RoomStreamsTest, ASingleInputIsAnsweredWithAStream) {
  v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = shapes()});

  v1::RoomStream stream = caller_.stream_with("kit", "count", number(3));
  std::vector<int> items;
  while (auto item = stream.read_value<int>()) items.push_back(*item);

  EXPECT_EQ(items, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(caller_.stream_with("kit", "count", number(0)).read(), std::nullopt);
}

TEST_F(RoomStreamsTest, AStreamIsAnsweredWithASingleContent) {
  v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = shapes()});

  v1::RoomStream stream = caller_.stream("kit", "sum");
  for (int n : {1, 2, 3}) stream.write_value(n);
  stream.close_input();

  EXPECT_EQ(stream.read_value<int>(), 6);
  EXPECT_EQ(stream.read(), std::nullopt);
}

TEST_F(RoomStreamsTest, ItemsFlowWhileTheInputIsOpen) {
  v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = shapes()});

  v1::RoomStream stream = caller_.stream("kit", "copy");
  for (const RoomContent& content : all_kinds()) {
    stream.write(content);
    EXPECT_EQ(stream.read(), content);
  }
  stream.close_input();

  EXPECT_EQ(stream.read(), std::nullopt);
  EXPECT_EQ(failure([&] { stream.write(number(1)); }), "conflict: the input of the call is closed");
}

TEST_F(RoomStreamsTest, AShapeThatTheToolDoesNotHaveIsRefused) {
  v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = shapes()});

  EXPECT_EQ(failure([&] { caller_.call_with("kit", "sum", number(1)); }),
            "invalid_argument: tool 'sum' takes streamed input");
  EXPECT_EQ(failure([&] { caller_.stream("kit", "echo").read(); }),
            "invalid_argument: tool 'echo' does not take streamed input");
  EXPECT_EQ(failure([&] { caller_.call_with("kit", "count", TextContent{"3"}); }),
            "invalid_argument: tool 'count' input is of type text");
  EXPECT_EQ(failure([&] { caller_.call_with("kit", "count", number(1)); }),
            "unsupported: the tool answers with a stream");
}

TEST_F(RoomStreamsTest, JsonIsCheckedAgainstItsSchema) {
  ContentTool tool = echo_tool();
  tool.input = {.schema = v1::JsonObject{
                    {"type", "object"},
                    {"required", v1::JsonArray{"n"}},
                    {"properties", v1::JsonObject{{"n", v1::JsonObject{{"type", "integer"}}}}}}};
  v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = {tool}});

  const RoomContent good = JsonContent{v1::JsonObject{{"n", 1}}};
  EXPECT_EQ(caller_.call_with("kit", "echo", good), good);
  EXPECT_EQ(failure([&] {
              caller_.call_with("kit", "echo", JsonContent{v1::JsonObject{{"n", "one"}}});
            }).substr(0, 60),
            "invalid_argument: tool 'echo' input is not as its schema say");
}

TEST_F(RoomStreamsTest, WhatAHandlerThrowsReachesTheCaller) {
  std::vector<ContentTool> tools = shapes();
  tools[0].handler = [](ContentToolCall&) -> RoomContent { throw std::runtime_error("no luck"); };
  tools[1].handler = [](ContentToolCall& call) -> RoomContent {
    call.write(number(1));
    throw std::runtime_error("no more");
  };
  v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = tools});

  EXPECT_EQ(failure([&] { caller_.call_with("kit", "echo", EmptyContent{}); }),
            "unavailable: no luck");
  v1::RoomStream stream = caller_.stream_with("kit", "count", number(3));
  EXPECT_EQ(stream.read_value<int>(), 1);
  EXPECT_EQ(failure([&] { stream.read(); }), "unavailable: no more");
  EXPECT_EQ(stream.read(), std::nullopt);
}

TEST_F(RoomStreamsTest, AHandlerLearnsThatItsCallerHasGivenUp) {
  std::promise<void> begun;
  std::promise<std::string> end;
  ContentTool tool{.name = "sum",
                   .input = {.stream = true},
                   .handler = [&](ContentToolCall& call) -> RoomContent {
                     begun.set_value();
                     end.set_value(failure([&] { call.read(); }));
                     return EmptyContent{};
                   }};
  v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = {tool}});
  {
    v1::RoomStream stream = caller_.stream("kit", "sum");
    begun.get_future().wait();
  }

  EXPECT_EQ(end.get_future().get(), "cancelled: the call was cancelled");
}

TEST_F(RoomStreamsTest, AStreamIsOfUnknownOutcomeWhenItsHostLeaves) {
  std::promise<void> left;
  std::promise<void> begun;
  ContentTool tool{.name = "count",
                   .output = {.stream = true},
                   .handler = [&](ContentToolCall& call) -> RoomContent {
                     call.write(number(1));
                     begun.set_value();
                     left.get_future().wait();
                     return EmptyContent{};
                   }};
  auto other = std::make_unique<v1::Room>(v1::Room::join(options("other")));
  auto hosted = std::make_unique<v1::HostedToolkit>(other->host(kit(), {.content_tools = {tool}}));
  v1::RoomStream stream = caller_.stream_with("kit", "count", number(1));
  EXPECT_EQ(stream.read_value<int>(), 1);
  begun.get_future().wait();

  auto leaving = std::async(std::launch::async, [&] {
    hosted.reset();
    other.reset();
  });
  EXPECT_EQ(failure([&] { stream.read(); }).substr(0, 16), "outcome_unknown:");
  left.set_value();
  leaving.get();
}

TEST_F(RoomStreamsTest, ProgressReachesTheCallerOfAFunctionTool) {
  v1::Toolkit toolkit(
      {.name = "kit", .tools = {v1::tool("slow", "Tells.", [](v1::ToolContext& context) {
                        context.progress("half", 1, 2);
                        return 1;
                      })}});
  v1::HostedToolkit hosted = host_.host(toolkit);
  std::promise<v1::ToolProgress> told;

  v1::RoomCallOptions options{
      .on_progress = [&](const v1::ToolProgress& progress) { told.set_value(progress); }};
  EXPECT_EQ(caller_.call_for<int>("kit", "slow", {}, options), 1);

  EXPECT_EQ(told.get_future().get(), (v1::ToolProgress{.message = "half", .done = 1, .total = 2}));
}

TEST_F(RoomStreamsTest, ACallThatTakesTooLongEndsForBothSides) {
  std::promise<void> ended;
  v1::Toolkit toolkit(
      {.name = "kit", .tools = {v1::tool("slow", "Waits.", [&](v1::ToolContext& context) {
                        while (!context.cancelled()) std::this_thread::yield();
                        ended.set_value();
                        return 1;
                      })}});
  v1::HostedToolkit hosted = host_.host(toolkit);

  EXPECT_EQ(failure([&] {
              caller_.call("kit", "slow", {}, {.timeout = std::chrono::milliseconds(50)});
            }).substr(0, 8),
            "timeout:");
  ended.get_future().wait();
}

TEST_F(RoomStreamsTest, AMessageToAllReachesEverybodyElse) {
  std::promise<std::string> heard;
  v1::RoomOptions listening = options("listener");
  listening.on_message = [&](const v1::RoomMessage& message) {
    heard.set_value(cat(message.from.name, ": ", message.type, " ", message.attachment));
  };
  v1::Room listener = v1::Room::join(std::move(listening));

  caller_.broadcast("note", v1::JsonObject{{"x", 1}}, "bytes");

  EXPECT_EQ(heard.get_future().get(), "caller: note bytes");
  std::vector<std::string> names;
  for (const v1::Participant& one : listener.participants()) {
    names.push_back(cat(one.name, " ", one.role));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"caller user", "host user"}));
}

TEST_F(RoomStreamsTest, AToolSeesTheRoleOfItsCallerAndGoesOnWithItsTrace) {
  const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  v1::Toolkit toolkit(
      {.name = "kit",
       .tools = {
           v1::tool("inner", "The trace.",
                    [](v1::ToolContext& context) { return context.info().traceparent; }),
           v1::tool("outer", "The role, and the trace of a call.", [](v1::ToolContext& context) {
             return cat(context.info().caller_role, " ",
                        v1::Room::of(context).call("kit", "inner").text());
           })}});
  v1::HostedToolkit hosted = host_.host(toolkit);

  EXPECT_EQ(caller_.call("kit", "outer", {}, {.traceparent = trace}).text(), cat("user ", trace));
}

TEST_F(RoomStreamsTest, AListShowsAllThatTheHostSaid) {
  v1::Toolkit toolkit({.name = "kit",
                       .thumbnail_url = "https://example.com/a.png",
                       .tools = {v1::tool("add", "Adds.", [](const Sum& sum) { return sum; })}});
  v1::HostedToolkit hosted = host_.host(
      toolkit,
      {.content_tools = {echo_tool()}, .annotations = {{"meshagent.tool_search", "true"}}});

  v1::RoomToolkitInfo seen = caller_.toolkits().at(0);

  EXPECT_EQ(seen.thumbnail_url, "https://example.com/a.png");
  EXPECT_EQ(seen.annotations.at("meshagent.tool_search"), "true");
  ASSERT_EQ(seen.tools.size(), 2U);
  EXPECT_EQ(seen.tools[0].name, "add");
  EXPECT_FALSE(seen.tools[0].output_schema.is_null());
  EXPECT_EQ(seen.tools[1].name, "echo");
  EXPECT_EQ(seen.tools[1].input_spec, (v1::RoomContentSpec{.types = kAllTypes}));
}

TEST_F(RoomStreamsTest, AContentToolThatIsNoneIsRefused) {
  ContentTool tool = echo_tool();
  tool.input.types.clear();

  EXPECT_EQ(
      failure([&] { v1::HostedToolkit hosted = host_.host(kit(), {.content_tools = {tool}}); }),
      "invalid_argument: a tool of a room needs a type of content");
}

}  // namespace
}  // namespace errand::sdk::room_streams_test
