#include "room/developer_logs.hpp"

#include "room/test_room.hpp"

namespace errand::room::test::developer_logs_test {
namespace {

class RoomLogs : public RoomTest {
 protected:
  std::string use(const Client& client, std::string_view tool, std::string_view arguments) {
    return ask(client, "room.invoke_tool",
               cat(R"({"toolkit":"developer","tool":")", tool,
                   R"(","arguments":{"type":"json","json":)", arguments, "}}"));
  }
  void listen(const Client& client) {
    send(client, 7, "room.invoke_tool",
         R"({"toolkit":"developer","tool":"logs","tool_call_id":"c",)"
         R"("arguments":{"type":"control","method":"open"}})");
  }
  Client developer(std::string name, std::string_view scope = R"({"developer":{}})") {
    return join({.name = std::move(name), .scope = scope});
  }
};

std::string told(std::string_view chunk) {
  return cat(R"(room.tool_call_response_chunk#7 {"tool_call_id":"c","toolkit":"developer",)",
             R"("tool":"logs","chunk":)", chunk, "\n");
}
std::string refusal(std::string_view text, int code) {
  return cat(R"(__response__#99 {"type":"error","text":")", text, R"(","code":)", code, "}\n");
}
const std::string kLogged = "__response__#99 {\"type\":\"empty\"}\n";

TEST_F(RoomLogs, ReachThoseWhoListen) {
  Client ann = developer("ann");
  Client bob = developer("bob");
  EXPECT_EQ(use(bob, "info", R"({"message":"early","extra":{}})"), kLogged);
  listen(ann);
  EXPECT_EQ(ann.take(), "__response__#7 {\"type\":\"control\",\"method\":\"open\"}\n");
  EXPECT_EQ(use(bob, "info", R"({"message":"hi","extra":{"n":1}})"), kLogged);
  EXPECT_EQ(use(bob, "log", R"({"type":"step","data":{"n":2}})"), kLogged);
  EXPECT_EQ(
      ann.take(),
      told(R"({"type":"binary","headers":{"type":"info"}}} [{"message":"hi","extra":{"n":1}}])") +
          told(R"({"type":"binary","headers":{"type":"step"}}} [{"n":2}])"));
  send(ann, 8, "room.tool_call_request_chunk",
       R"({"tool_call_id":"c","chunk":{"type":"control","method":"close","status_code":1000}})");
  EXPECT_EQ(ann.take(), told(R"({"type":"control","method":"close","status_code":1000}})") +
                            "__response__#8 {\"type\":\"empty\"}\n");
  use(bob, "info", R"({"message":"late"})");
  EXPECT_EQ(ann.take(), "");
}

TEST_F(RoomLogs, AskForEachGrantAndAreBounded) {
  limits_.log_listeners_max = 1;
  limits_.log_bytes_max = 300;
  Client none = join({.name = "none"});
  EXPECT_EQ(use(none, "info", R"({"message":"hi"})"),
            refusal("the token grants no developer", 1001));
  Client deaf = developer("deaf", R"({"developer":{"logs":false}})");
  EXPECT_EQ(use(deaf, "info", R"({"message":"hi"})"), kLogged);
  EXPECT_EQ(use(deaf, "logs", "{}"), refusal("the token does not allow reading logs", 1001));
  Client ann = developer("ann");
  EXPECT_EQ(use(ann, "logs", "{}"), refusal("developer.logs takes a stream", 1002));
  EXPECT_EQ(use(ann, "log", R"({"type":"x"})"), refusal("a line needs a type and data", 1002));
  EXPECT_EQ(use(ann, "print", "{}"), refusal("tool print was not found", 1003));
  EXPECT_EQ(use(ann, "info", cat(R"({"message":")", std::string(300, 'x'), "\"}")),
            refusal("the line is too long", 1002));
  listen(ann);
  Client bob = developer("bob");
  listen(bob);
  EXPECT_NE(bob.take().find("too many read the logs"), std::string::npos);
  leave(ann);
  listen(bob);
  EXPECT_NE(bob.take().find("open"), std::string::npos);
}

}  // namespace
}  // namespace errand::room::test::developer_logs_test
