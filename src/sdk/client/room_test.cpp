#include <errand/room.hpp>

#include <future>

#include "host/environment.hpp"
#include "json/members.hpp"
#include "sdk/client/test_server.hpp"
#include "sdk/http_api.hpp"
#include "support/run_task.hpp"

namespace errand::sdk {
namespace {

struct Sum {
  int a = 0;
  int b = 0;
};

v1::Json sum(int a, int b) {
  return v1::JsonObject{{"a", a}, {"b", b}};
}

class RoomSdkTest : public testing::Test {
 protected:
  void SetUp() override { post("/rooms", R"({"name":"lab"})"); }

  json::Object post(std::string path, std::string body) {
    const v1::ClientOptions server = server_.options();
    asio::io_context io(1);
    HttpApi api({.url = server.server, .workspace = "default", .key = server.key},
                host::client_options_here());
    return run_task(io, api.send({.method = net::Method::post,
                                  .path = std::move(path),
                                  .body = std::move(body)}))
        .value()
        .as_object();
  }

  v1::RoomOptions options(const std::string& name) {
    json::Object made = post("/rooms/lab/tokens", cat(R"({"name":")", name, R"("})"));
    return {.url = std::string(json::text_at(&made, "url")),
            .token = std::string(json::text_at(&made, "token"))};
  }

  static v1::Toolkit calculator() {
    return v1::Toolkit(
        {.name = "calculator",
         .rules = {"Add once."},
         .tools = {v1::tool("add", "Adds.", [](const Sum& sum) { return sum.a + sum.b; }),
                   v1::tool("who", "Says who calls.", [](v1::ToolContext& context) {
                     v1::Room room = v1::Room::of(context);
                     return cat(context.caller(), " in ", context.info().room, " of ",
                                room.toolkits().size());
                   })}});
  }

  TestServer server_{R"({"turns":[{"text":["unused"]}]})"};
};

TEST_F(RoomSdkTest, AToolkitIsHostedListedAndCalled) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(calculator());

  auto listed = caller.toolkits();

  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].name, "calculator");
  EXPECT_EQ(listed[0].rules, std::vector<std::string>{"Add once."});
  EXPECT_EQ(listed[0].participant_id, host.participant_id());
  EXPECT_EQ(caller.name(), "lab");
  EXPECT_EQ(caller.call("calculator", "add", sum(2, 3)).text(), "5");
  EXPECT_EQ(caller.call_for<int>("calculator", "add", sum(2, 3)), 5);
}

TEST_F(RoomSdkTest, AToolKnowsItsCallerAndItsRoom) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(calculator());

  EXPECT_EQ(caller.call("calculator", "who").text(), "caller in lab of 1");
}

TEST_F(RoomSdkTest, AStoppedToolkitIsGone) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(calculator());
  hosted.stop();

  EXPECT_THROW(caller.call("calculator", "add", sum(1, 1)), v1::Error);
  EXPECT_TRUE(caller.toolkits().empty());
}

TEST_F(RoomSdkTest, AToolsFailureIsAResultAndWrongArgumentsAre) {
  v1::Room host = v1::Room::join(options("host"));
  v1::Room caller = v1::Room::join(options("caller"));
  v1::HostedToolkit hosted = host.host(calculator());

  v1::ToolResult result = caller.call("calculator", "add", v1::JsonObject{{"a", "x"}});

  EXPECT_FALSE(result.ok());
}

TEST_F(RoomSdkTest, MessagesReachTheOther) {
  std::promise<std::string> heard;
  v1::RoomOptions listening = options("listener");
  listening.on_message = [&](const v1::RoomMessage& message) {
    heard.set_value(cat(message.from.name, ": ", message.type));
  };
  v1::Room listener = v1::Room::join(std::move(listening));
  v1::Room talker = v1::Room::join(options("talker"));

  talker.send(listener.participant_id(), "note", v1::JsonObject{{"x", 1}});

  EXPECT_EQ(heard.get_future().get(), "talker: note");
}

TEST_F(RoomSdkTest, AWrongTokenIsRefused) {
  v1::RoomOptions wrong = options("stranger");
  wrong.token = "x.y.z";
  try {
    v1::Room room = v1::Room::join(std::move(wrong));
    FAIL();
  } catch (const v1::Error& error) {
    EXPECT_EQ(error.code(), v1::ErrorCode::forbidden);
  }
}

}  // namespace
}  // namespace errand::sdk
