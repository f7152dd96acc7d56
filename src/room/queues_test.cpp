#include "room/queues.hpp"

#include "room/test_room.hpp"
#include "room/test_store.hpp"

namespace errand::room::test::queues_test {
namespace {

class RoomQueues : public RoomTest {
 protected:
  RoomQueues() { store_ = &disk_; }

  // Asks without letting the store do anything.
  void begin(const Client& client, std::string_view tool, std::string_view arguments,
             std::uint64_t id = 99) {
    send(client, id, "room.invoke_tool",
         cat(R"({"toolkit":"queues","tool":")", tool, R"(","arguments":{"type":"json","json":)",
             arguments, "}}"));
  }
  void settle() {
    on_home([this] { disk_.run(); });
  }
  std::string use(const Client& client, std::string_view tool, std::string_view arguments = "{}") {
    begin(client, tool, arguments);
    settle();
    return client.take();
  }
  // The client's connection takes what was sent, and the store what follows from it.
  void write(const Client& client) {
    on_home([&] { client.outlet->write(); });
    settle();
  }
  Client user(std::string name, std::string_view scope = R"({"queues":{}})") {
    return join({.name = std::move(name), .scope = scope});
  }
  // The room of the next process.
  void restart() { room_.reset(); }

  TestStore disk_;
};

const std::string kEmpty = "__response__#99 {\"type\":\"empty\"}\n";

std::string given(std::string_view message, int id = 99) {
  return cat("__response__#", id, R"( {"type":"json","json":)", message, "}\n");
}
std::string error(std::string_view text, int code) {
  return cat(R"(__response__#99 {"type":"error","text":")", text, R"(","code":)", code, "}\n");
}

TEST_F(RoomQueues, GiveMessagesInOrderAndOnce) {
  Client ann = user("ann");
  EXPECT_EQ(use(ann, "send", R"({"name":"q","create":true,"message":{"n":1}})"), kEmpty);
  EXPECT_EQ(use(ann, "send", R"({"name":"q","create":false,"message":{"n":2}})"), kEmpty);
  EXPECT_EQ(use(ann, "list"), given(R"({"queues":[{"name":"q","size":2}]})"));
  EXPECT_EQ(disk_.text(), R"(q: {"n":1} {"n":2};)");
  EXPECT_EQ(use(ann, "receive", R"({"name":"q","wait":false})"), given(R"({"n":1})"));
  EXPECT_EQ(use(ann, "receive", R"({"name":"q","wait":false})"), given(R"({"n":2})"));
  EXPECT_EQ(use(ann, "receive", R"({"name":"q","wait":false})"), kEmpty);
  EXPECT_EQ(disk_.text(), R"(q: {"n":1} {"n":2};)");
  write(ann);
  EXPECT_EQ(disk_.text(), "q:;");
}

TEST_F(RoomQueues, AMessageThatWasNotWrittenGoesBackToItsPlace) {
  Client ann = user("ann");
  Client bob = user("bob");
  for (int n = 1; n <= 3; ++n) {
    use(ann, "send", cat(R"({"name":"q","create":true,"message":{"n":)", n, "}}"));
  }
  EXPECT_EQ(use(bob, "receive", R"({"name":"q"})"), given(R"({"n":1})"));
  write(bob);
  EXPECT_EQ(use(bob, "receive", R"({"name":"q"})"), given(R"({"n":2})"));
  leave(bob);
  EXPECT_EQ(disk_.text(), R"(q: {"n":2} {"n":3};)");
  EXPECT_EQ(use(ann, "receive", R"({"name":"q"})"), given(R"({"n":2})"));
  EXPECT_EQ(use(ann, "receive", R"({"name":"q"})"), given(R"({"n":3})"));
  // Nobody is told of what is written to a connection that has left.
  on_home([&] { bob.outlet->write(); });
}

TEST_F(RoomQueues, AMessageThatComesBackGoesToWhoeverWaits) {
  Client ann = user("ann");
  Client bob = user("bob");
  use(bob, "receive", R"({"name":"q","create":true,"wait":true})");
  use(ann, "receive", R"({"name":"q","wait":true})");
  use(ann, "send", R"({"name":"q","message":{"n":1}})");
  EXPECT_EQ(bob.take(), given(R"({"n":1})"));
  leave(bob);
  EXPECT_EQ(ann.take(), given(R"({"n":1})"));
}

TEST_F(RoomQueues, AMessageIsDurableBeforeItsSenderIsAnswered) {
  Client ann = user("ann");
  use(ann, "open", R"({"name":"q"})");
  begin(ann, "send", R"({"name":"q","message":{"n":1}})");
  EXPECT_EQ(ann.take(), "");
  settle();
  EXPECT_EQ(ann.take(), kEmpty);
}

TEST_F(RoomQueues, OutliveTheRoom) {
  Client ann = user("ann");
  use(ann, "send", R"({"name":"q","create":true,"message":{"n":1}})");
  use(ann, "send", R"({"name":"q","message":{"n":2}})");
  restart();
  Client bob = user("bob");
  EXPECT_EQ(use(bob, "receive", R"({"name":"q"})"), given(R"({"n":1})"));
  EXPECT_EQ(use(bob, "send", R"({"name":"q","message":{"n":3}})"), kEmpty);
  EXPECT_EQ(use(bob, "receive", R"({"name":"q"})"), given(R"({"n":2})"));
  EXPECT_EQ(use(bob, "receive", R"({"name":"q"})"), given(R"({"n":3})"));
}

TEST_F(RoomQueues, AReceiverWaits) {
  Client ann = user("ann");
  Client bob = user("bob");
  Client eve = user("eve");
  EXPECT_EQ(use(bob, "receive", R"({"name":"q","create":true,"wait":true})"), "");
  EXPECT_EQ(use(eve, "receive", R"({"name":"q","wait":true})"), "");
  EXPECT_EQ(use(ann, "send", R"({"name":"q","message":{"n":1}})"), kEmpty);
  EXPECT_EQ(bob.take() + eve.take(), given(R"({"n":1})"));
  leave(eve);
  EXPECT_EQ(use(ann, "send", R"({"name":"q","message":{"n":2}})"), kEmpty);
  EXPECT_EQ(eve.take(), "");
  EXPECT_EQ(use(ann, "receive", R"({"name":"q"})"), given(R"({"n":2})"));
}

TEST_F(RoomQueues, DrainAndClose) {
  Client ann = user("ann");
  Client bob = user("bob");
  use(ann, "send", R"({"name":"q","create":true,"message":{}})");
  EXPECT_EQ(use(ann, "drain", R"({"name":"q"})"), kEmpty);
  EXPECT_EQ(disk_.text(), "q:;");
  use(bob, "receive", R"({"name":"q","wait":true})");
  EXPECT_EQ(use(ann, "close", R"({"name":"q"})"), kEmpty);
  EXPECT_EQ(bob.take(), error("queue q was not found", 5001));
  EXPECT_EQ(disk_.text(), "");
}

TEST_F(RoomQueues, RefuseWhatCannotBe) {
  Client ann = user("ann");
  use(ann, "open", R"({"name":"q"})");
  EXPECT_EQ(use(ann, "open", R"({"name":"q"})"), error("queue q exists already", 5002));
  for (std::string_view tool : {"receive", "drain", "close"}) {
    EXPECT_EQ(use(ann, tool, R"({"name":"r"})"), error("queue r was not found", 5001));
  }
  EXPECT_EQ(use(ann, "send", R"({"name":"r","message":{}})"), error("queue r was not found", 5001));
  EXPECT_EQ(use(ann, "send", R"({"name":"q","message":"text"})"),
            error("a message is a JSON object", 1002));
  EXPECT_EQ(use(ann, "open", "{}"), error("a queue needs a name", 1002));
  EXPECT_EQ(use(ann, "peek", R"({"name":"q"})"), error("tool peek was not found", 1003));
}

TEST_F(RoomQueues, AskForEachGrant) {
  Client none = join({.name = "none"});
  EXPECT_EQ(use(none, "list"), error("the token grants no queues", 1001));
  Client some = user("some", R"({"queues":{"send":["in"],"receive":["out"],"list":false}})");
  const std::string denied = error("the token does not allow this queue", 1001);
  EXPECT_EQ(use(some, "list"), denied);
  EXPECT_EQ(use(some, "send", R"({"name":"out","create":true,"message":{}})"), denied);
  EXPECT_EQ(use(some, "receive", R"({"name":"in"})"), denied);
  EXPECT_EQ(use(some, "send", R"({"name":"in","create":true,"message":{}})"), kEmpty);
  EXPECT_EQ(use(some, "receive", R"({"name":"out","create":true})"), kEmpty);
}

TEST_F(RoomQueues, AreBounded) {
  limits_.queues_max = 1;
  limits_.queue_items_max = 1;
  Client ann = user("ann");
  use(ann, "send", R"({"name":"q","create":true,"message":{}})");
  EXPECT_EQ(use(ann, "send", R"({"name":"q","message":{}})"), error("the queue is full", 1008));
  EXPECT_EQ(use(ann, "open", R"({"name":"r"})"), error("the room has too many queues", 1008));
}

TEST_F(RoomQueues, SayThatTheStoreIsAway) {
  disk_.is_failing = true;
  Client ann = user("ann");
  EXPECT_EQ(use(ann, "list"), error("the store is away", 1008));
  disk_.is_failing = false;
  EXPECT_EQ(use(ann, "open", R"({"name":"q"})"), kEmpty);
  disk_.is_failing = true;
  EXPECT_EQ(use(ann, "send", R"({"name":"q","message":{}})"), error("the store is away", 1008));
  disk_.is_failing = false;
  EXPECT_EQ(use(ann, "list"), given(R"({"queues":[{"name":"q","size":0}]})"));
}

TEST_F(RoomQueues, AreGoneIfTheyCouldNotBeStored) {
  Client ann = user("ann");
  Client bob = user("bob");
  use(ann, "list");
  disk_.is_failing = true;
  EXPECT_EQ(use(ann, "open", R"({"name":"q"})"), error("the store is away", 1008));
  EXPECT_EQ(use(bob, "receive", R"({"name":"r","create":true,"wait":true})"),
            error("the store is away", 1008));
  disk_.is_failing = false;
  EXPECT_EQ(use(ann, "list"), given(R"({"queues":[]})"));
  EXPECT_EQ(use(ann, "send", R"({"name":"q","message":{}})"), error("queue q was not found", 5001));
}

TEST_F(RoomQueues, AMessageBringsItsQueueAlongUntilThatIsStored) {
  Client ann = user("ann");
  use(ann, "list");
  disk_.is_failing = true;
  begin(ann, "send", R"({"name":"q","create":true,"message":{"n":1}})", 1);
  begin(ann, "send", R"({"name":"q","message":{"n":2}})", 2);
  on_home([this] {
    disk_.run_one();
    disk_.is_failing = false;
    disk_.run();
  });
  EXPECT_EQ(disk_.text(), R"(q: {"n":2};)");
  ann.take();
  EXPECT_EQ(use(ann, "list"), given(R"({"queues":[{"name":"q","size":1}]})"));
  restart();
  Client bob = user("bob");
  EXPECT_EQ(use(bob, "receive", R"({"name":"q"})"), given(R"({"n":2})"));
}

TEST_F(RoomQueues, AMessageDoesNotReachAQueueThatWasMadeAgain) {
  Client ann = user("ann");
  use(ann, "open", R"({"name":"q"})");
  begin(ann, "send", R"({"name":"q","message":{"n":1}})");
  begin(ann, "close", R"({"name":"q"})");
  begin(ann, "open", R"({"name":"q"})");
  settle();
  EXPECT_EQ(disk_.text(), "q:;");
  ann.take();
  EXPECT_EQ(use(ann, "receive", R"({"name":"q"})"), kEmpty);
}

TEST_F(RoomQueues, BoundWhatWaits) {
  limits_.queue_calls_waiting_max = 1;
  limits_.queue_changes_max = 1;
  limits_.queue_bytes_max = 300;
  Client ann = user("ann");
  begin(ann, "list", "{}");
  begin(ann, "list", "{}");
  EXPECT_EQ(ann.take(), error("too many calls wait for the queues to be read", 1008));
  settle();
  ann.take();
  begin(ann, "open", R"({"name":"q"})");
  begin(ann, "open", R"({"name":"r"})");
  EXPECT_EQ(ann.take(), error("too many changes of queues are under way", 1008));
  settle();
  ann.take();
  const std::string large = cat(R"({"name":"q","message":{"x":")", std::string(150, 'x'), "\"}}");
  EXPECT_EQ(use(ann, "send", large), kEmpty);
  EXPECT_EQ(use(ann, "send", large), error("the queues of the room are full", 1008));
  use(ann, "receive", R"({"name":"q"})");
  EXPECT_EQ(use(ann, "send", large), error("the queues of the room are full", 1008));
  write(ann);
  EXPECT_EQ(use(ann, "send", large), kEmpty);
}

TEST_F(RoomQueues, AnswerNobodyWhoHasLeft) {
  Client ann = user("ann");
  begin(ann, "send", R"({"name":"q","create":true,"message":{}})");
  leave(ann);
  settle();
  EXPECT_EQ(ann.take(), "");
}

TEST_F(RoomQueues, ARoomWithoutAStoreHasNone) {
  store_ = nullptr;
  Client ann = user("ann");
  EXPECT_EQ(use(ann, "list"), error("toolkit queues was not found", 1003));
}

}  // namespace
}  // namespace errand::room::test::queues_test
