#include "room/test_room.hpp"

namespace errand::room::test {
namespace {

constexpr std::string_view kMessaging = R"({"agents":{},"messaging":{}})";

class RoomMessaging : public RoomTest {
 protected:
  std::string use(const Client& client, std::string_view tool, std::string_view arguments = "{}",
                  std::string_view toolkit = "messaging") {
    return ask(client, "room.invoke_tool",
               cat(R"({"toolkit":")", toolkit, R"(","tool":")", tool,
                   R"(","arguments":{"type":"json","json":)", arguments, "}}"));
  }
  Client enabled(std::string name, std::string_view scope = kMessaging) {
    Client client = join({.name = std::move(name), .scope = scope});
    use(client, "enable");
    client.take();
    return client;
  }
};

const std::string kDone = "__response__#99 {\"type\":\"empty\"}\n";

std::string refused(std::string_view text, int code) {
  return cat(R"(__response__#99 {"type":"error","text":")", text, R"(","code":)", code, "}\n");
}
std::string pushed(std::string_view from, std::string_view type, std::string_view message) {
  return cat(R"(messaging.send#0 {"from_participant_id":")", from, R"(","type":")", type,
             R"(","message":)", message, "}\n");
}

TEST_F(RoomMessaging, TellsWhoIsThere) {
  Client ann = enabled("ann");
  Client bob = join({.name = "bob", .scope = kMessaging});
  const std::string_view shown = R"({"id":"id1","role":"user","attributes":{"name":"ann"}})";
  EXPECT_EQ(use(bob, "enable"),
            kDone + pushed("id2", "messaging.enabled", cat(R"({"participants":[)", shown, "]}")));
  EXPECT_EQ(ann.take(), pushed("id2", "participant.enabled",
                               R"({"id":"id2","role":"user","attributes":{"name":"bob"}})"));
  EXPECT_EQ(use(bob, "disable"), kDone);
  EXPECT_EQ(ann.take(), pushed("id2", "participant.disabled", R"({"id":"id2"})"));
  EXPECT_EQ(use(bob, "disable"), kDone);
  EXPECT_EQ(ann.take(), "");
}

TEST_F(RoomMessaging, TellsOfAttributesAndLeaving) {
  Client ann = enabled("ann");
  Client bob = enabled("bob");
  ann.take();
  send(bob, 1, "set_attributes",
       R"({"mood":"good","name":"admin","__meshagent__":{"v":1,"otel":{}}})");
  EXPECT_EQ(ann.take(),
            pushed("id2", "participant.attributes", R"({"attributes":{"mood":"good"}})"));
  Client eve = join({.name = "eve", .scope = kMessaging});
  EXPECT_NE(use(eve, "enable").find(R"("attributes":{"name":"bob","mood":"good"})"),
            std::string::npos);
  ann.take();
  leave(bob);
  EXPECT_EQ(ann.take(), pushed("id2", "participant.disabled", R"({"id":"id2"})"));
}

TEST_F(RoomMessaging, IgnoresAttributesThatAreTooLarge) {
  limits_.attributes_bytes_max = 100;
  Client ann = enabled("ann");
  Client bob = enabled("bob");
  ann.take();
  send(bob, 1, "set_attributes", cat(R"({"a":")", std::string(200, 'x'), "\"}"));
  EXPECT_EQ(ann.take(), "");
}

TEST_F(RoomMessaging, SendsToOneAndToAll) {
  Client ann = enabled("ann");
  Client bob = enabled("bob");
  Client eve = enabled("eve");
  Client mute = join({.name = "mute", .scope = kMessaging});
  ann.take();
  bob.take();
  EXPECT_EQ(use(ann, "send",
                R"({"to_participant_id":"id2","type":"chat","message_json":"{\"text\":\"hi\"}",
                    "attachment_base64":"Ynl0ZXM="})"),
            kDone);
  EXPECT_EQ(bob.take(), R"(messaging.send#0 {"from_participant_id":"id1","type":"chat",)"
                        R"("message":{"text":"hi"}} [bytes])"
                        "\n");
  EXPECT_EQ(use(ann, "broadcast", R"({"type":"chat","message_json":"{}"})"), kDone);
  const std::string said = pushed("id1", "chat", "{}");
  EXPECT_EQ(bob.take() + eve.take() + mute.take() + ann.take(), said + said);
}

TEST_F(RoomMessaging, SaysThatNobodyIsThere) {
  Client ann = enabled("ann");
  Client mute = join({.name = "mute", .scope = kMessaging});
  for (std::string_view id : {"id2", "nobody"}) {
    EXPECT_EQ(use(ann, "send",
                  cat(R"({"to_participant_id":")", id, R"(","type":"t","message_json":"{}"})")),
              refused("the participant was not found", 1003));
  }
}

TEST_F(RoomMessaging, RefusesMalformedMessages) {
  Client ann = enabled("ann");
  EXPECT_EQ(use(ann, "broadcast", R"({"type":"t","message_json":"[]"})"),
            refused("expected the text of a JSON object (at /message_json)", 1002));
  EXPECT_EQ(use(ann, "broadcast", R"({"type":"t","message_json":"{}","attachment_base64":"?"})"),
            refused("expected base64 (at /attachment_base64)", 1002));
  EXPECT_EQ(use(ann, "broadcast", R"([])"), refused("expected an object, got an array", 1002));
  EXPECT_EQ(use(ann, "shout"), refused("tool shout was not found", 1003));
}

TEST_F(RoomMessaging, AsksForEachGrant) {
  Client none = join({.name = "none"});
  EXPECT_EQ(use(none, "enable"), refused("the token grants no messaging", 1001));
  Client ann = enabled("ann");
  Client shy = join(
      {.name = "shy", .scope = R"({"messaging":{"send":false,"broadcast":false,"list":false}})"});
  EXPECT_EQ(use(shy, "enable"),
            kDone + pushed(shy.id, "messaging.enabled", R"({"participants":[]})"));
  EXPECT_EQ(use(shy, "send", R"({"type":"t","message_json":"{}"})"),
            refused("the token does not allow messaging.send", 1001));
  EXPECT_EQ(use(shy, "broadcast", R"({"type":"t","message_json":"{}"})"),
            refused("the token does not allow messaging.broadcast", 1001));
  Client bob = enabled("bob");
  EXPECT_EQ(shy.take(), "");
}

TEST_F(RoomMessaging, StorageIsEmpty) {
  Client ann = join({.name = "ann", .scope = R"({"storage":{"paths":[{"path":"a"}]}})"});
  Client none = join({.name = "none"});
  auto storage = [&](const Client& client, std::string_view tool, std::string_view path) {
    return use(client, tool, cat(R"({"path":")", path, "\"}"), "storage");
  };
  EXPECT_EQ(storage(ann, "list", ".schemas"), refused("the token does not allow this path", 1001));
  EXPECT_EQ(storage(ann, "list", "a"),
            "__response__#99 {\"type\":\"json\",\"json\":{\"files\":[]}}\n");
  EXPECT_EQ(storage(ann, "exists", "a/b"),
            "__response__#99 {\"type\":\"json\",\"json\":{\"exists\":false}}\n");
  EXPECT_EQ(storage(ann, "stat", "b"), refused("the token does not allow this path", 1001));
  EXPECT_EQ(storage(ann, "list", "a/../b"), refused("the path is not valid", 3004));
  EXPECT_EQ(storage(ann, "upload", "a"), refused("tool upload was not found", 1003));
  EXPECT_EQ(storage(none, "list", ""), refused("the token grants no storage", 1001));
}

}  // namespace
}  // namespace errand::room::test
