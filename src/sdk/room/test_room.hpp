#pragma once

// Participants of a room of a server in this process.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include <errand/room.hpp>

#include "base/text.hpp"
#include "host/environment.hpp"
#include "json/members.hpp"
#include "sdk/client/flows/test_server.hpp"
#include "sdk/http/http_api.hpp"
#include "support/run_task.hpp"

namespace errand::sdk::test_room {

struct Sum {
  int a = 0;
  int b = 0;
};

inline v1::Json sum(int a, int b) {
  return v1::JsonObject{{"a", a}, {"b", b}};
}

class RoomSdkTest : public testing::Test {
 protected:
  RoomSdkTest() { post("/rooms", R"({"name":"lab"})"); }

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

}  // namespace errand::sdk::test_room
