#include "room/test_room.hpp"

namespace errand::room::test::messaging_test {
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

TEST_F(RoomMessaging, AMessageToAllIsReadyOnceItIsRead) {
  const ReadMessage read = read_message(
      "id1", {.id = 7,
              .type = "room.invoke_tool",
              .header = R"({"toolkit":"messaging","tool":"broadcast","arguments":{"type":"json",
                            "json":{"type":"chat","attachment_base64":"Ynl0ZXM="}}})"});
  ASSERT_TRUE(read.sent && *read.sent);
  const Message& push = (*read.sent)->push->message();
  EXPECT_EQ(push.header, R"({"from_participant_id":"id1","type":"chat","message":{}})");
  EXPECT_EQ(push.attachment, "bytes");
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

TEST_F(RoomMessaging, EncodesABroadcastOnce) {
  Client ann = enabled("ann");
  Client bob = enabled("bob");
  Client eve = enabled("eve");
  use(ann, "broadcast", R"({"type":"chat","message_json":"{}"})");
  EXPECT_EQ(bob.outlet->shared.back(), eve.outlet->shared.back());
}

TEST_F(RoomMessaging, BoundsWhatPresenceTellsInAll) {
  limits_.presence_bytes_max = 350;
  Client ann = enabled("ann");
  Client bob = enabled("bob");
  ann.take();
  send(bob, 1, "set_attributes", cat(R"({"a":")", std::string(200, 'x'), "\"}"));
  EXPECT_NE(ann.take(), "");
  send(ann, 1, "set_attributes", cat(R"({"a":")", std::string(200, 'x'), "\"}"));
  EXPECT_EQ(bob.take(), "");
  TestOutlet outlet;
  EXPECT_EQ(try_join(outlet, {.name = "eve"}).error().reason(), "room_full");
  leave(bob);
  EXPECT_TRUE(try_join(outlet, {.name = "eve"}));
}

// Asking again and again makes the room work no more than the asker reads.
TEST_F(RoomMessaging, TellsWhoIsThereOnceUntilItIsRead) {
  Client ann = enabled("ann");
  std::vector<Client> others;
  for (int i = 0; i < 10; ++i) {
    others.push_back(enabled(cat("other", i)));
    send(others.back(), 1, "set_attributes", cat(R"({"a":")", std::string(7'000, 'x'), "\"}"));
  }
  ann.take();
  const std::string large = "messaging.send#0 {\"from_participant_id\":\"id1\",";
  const auto count = [&](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = text.find(large); at != std::string::npos; at = text.find(large, at + 1))
      ++found;
    return found;
  };
  std::string seen;
  for (int i = 0; i < 100; ++i) seen += use(ann, "enable");
  EXPECT_EQ(count(seen), 1U);
  on_home([&] { ann.outlet->write(); });
  EXPECT_EQ(count(ann.take()), 1U);
  on_home([&] { ann.outlet->write(); });
  EXPECT_EQ(ann.take(), "");
}

class RoomMessageStreams : public RoomMessaging {
 protected:
  RoomMessageStreams() : ann_(enabled("ann")), bob_(enabled("bob")) { ann_.take(); }

  // Ann asks the participant for a stream, as call "c" with the request id 7.
  void ask_for_stream(std::string_view to) {
    send(ann_, 7, "room.invoke_tool",
         R"({"toolkit":"messaging","tool":"stream","tool_call_id":"c",)"
         R"("arguments":{"type":"control","method":"open"}})");
    input(cat(R"({"type":"json","json":{"to_participant_id":")", to,
              R"(","type":"chat","message_json":"{}"}})"));
  }
  void input(std::string_view chunk) {
    send(ann_, 8, "room.tool_call_request_chunk",
         cat(R"({"tool_call_id":"c","chunk":)", chunk, "}"));
  }
  void answer(std::string_view content) { send(bob_, 2, "room.tool_call_response", content); }
  void output(std::string_view chunk) {
    send(bob_, 2, "room.tool_call_response_chunk",
         cat(R"({"tool_call_id":"call-2","chunk":)", chunk, "}"));
  }
  // What ann gets, without the answers to her chunks.
  std::string taken() {
    const std::string chunk_answer = "__response__#8 {\"type\":\"empty\"}\n";
    std::string all = ann_.take();
    for (std::size_t at = all.find(chunk_answer); at != std::string::npos;
         at = all.find(chunk_answer)) {
      all.erase(at, chunk_answer.size());
    }
    return all;
  }
  void open() {
    ask_for_stream("id2");
    answer(R"({"type":"control","method":"open"})");
    taken();
    bob_.take();
  }

  Client ann_;
  Client bob_;
};

std::string stream_out(std::string_view chunk) {
  return cat(R"(room.tool_call_response_chunk#7 {"tool_call_id":"c","toolkit":"messaging",)",
             R"("tool":"stream","chunk":)", chunk, "}\n");
}
std::string stream_in(std::string_view chunk) {
  return cat(R"(room.tool_call_request_chunk.messaging#2 {"tool_call_id":"call-2","chunk":)", chunk,
             "}\n");
}
const std::string kStreamClose = R"({"type":"control","method":"close","status_code":1000})";

TEST_F(RoomMessageStreams, OpenOnceTheOtherSideAccepts) {
  ask_for_stream("id2");
  EXPECT_EQ(taken(), "");
  EXPECT_EQ(bob_.take(),
            R"(room.tool_call.messaging#2 {"name":"stream","arguments":{"type":"control",)"
            R"("method":"open"},"caller_id":"id1","tool_call_id":"call-2"})"
            "\n" +
                stream_in(R"({"type":"json","json":{"from_participant_id":"id1","type":"chat",)"
                          R"("message_json":"{}"}})"));
  answer(R"({"type":"control","method":"open"})");
  EXPECT_EQ(taken(), "__response__#7 {\"type\":\"control\",\"method\":\"open\"}\n" +
                         stream_out(R"({"type":"json","json":{"kind":"accepted",)"
                                    R"("stream_id":"call-2"}})"));
  input(R"({"type":"json","json":{"n":1}})");
  EXPECT_EQ(bob_.take(), stream_in(R"({"type":"json","json":{"n":1}})"));
  output(R"({"type":"json","json":{"n":2}})");
  EXPECT_EQ(taken(), stream_out(R"({"type":"json","json":{"n":2}})"));
  output(kStreamClose);
  EXPECT_EQ(taken(), stream_out(kStreamClose));
  input(R"({"type":"json","json":{"n":3}})");
  EXPECT_EQ(bob_.take() + taken(), "");
  EXPECT_EQ(room().counts().calls, 0U);
}

TEST_F(RoomMessageStreams, AreRefusedByTheOtherSideOrForWantOfOne) {
  ask_for_stream("id2");
  answer(R"({"type":"error","text":"no"})");
  EXPECT_EQ(taken(), "__response__#7 {\"type\":\"error\",\"text\":\"no\"}\n");
  ask_for_stream("nobody");
  EXPECT_EQ(taken(),
            R"(__response__#7 {"type":"error","text":"the participant was not found","code":1003})"
            "\n");
  EXPECT_EQ(room().counts().calls, 0U);
}

TEST_F(RoomMessageStreams, EndWithEitherSide) {
  open();
  input(kStreamClose);
  EXPECT_EQ(bob_.take(), stream_in(kStreamClose));
  EXPECT_EQ(taken(), stream_out(kStreamClose));
  EXPECT_EQ(room().counts().calls, 0U);
}

TEST_F(RoomMessageStreams, EndWhenTheOtherSideLeaves) {
  open();
  leave(bob_);
  EXPECT_NE(taken().find(R"("method":"close","status_code":1011)"), std::string::npos);
  EXPECT_EQ(room().counts().calls, 0U);
}

TEST_F(RoomMessageStreams, EndWhenTheCallerLeaves) {
  open();
  leave(ann_);
  EXPECT_NE(bob_.take().find(R"("method":"close","status_code":1001)"), std::string::npos);
  EXPECT_EQ(room().counts().calls, 0U);
}

TEST_F(RoomMessageStreams, TakeNoMessageBeforeTheyAreOpen) {
  ask_for_stream("id2");
  bob_.take();
  input(R"({"type":"json","json":{"n":1}})");
  EXPECT_NE(taken().find(R"("code":1002)"), std::string::npos);
  EXPECT_NE(bob_.take().find(R"("method":"close")"), std::string::npos);
}

}  // namespace
}  // namespace errand::room::test::messaging_test
