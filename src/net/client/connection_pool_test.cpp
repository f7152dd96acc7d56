#include "net/client/connection_pool.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/client/test_peer.hpp"

namespace errand::net::test::connection_pool_test {
namespace {

// A connection that says when it is closed.
class FakeConnection final : public ClientConnection {
 public:
  FakeConnection(std::string name, std::vector<std::string>& closed)
      : name(std::move(name)), closed_(closed) {}
  ~FakeConnection() override { closed_.push_back(name); }

  void set_limit(TimeLimit) override {}
  void clear_limit() override {}
  void close() override {}
  Task<Result<void>> write(const std::string*, const std::string*) override {
    co_return Result<void>();
  }
  Task<Result<std::size_t>> read_some(char*, std::size_t) override { co_return std::size_t{0}; }
  void start_read(char*, std::size_t, Done) override {}
  void start_write(std::string_view, Done) override {}
  bool is_quiet() override { return !name.starts_with("dead"); }

  const std::string name;

 private:
  std::vector<std::string>& closed_;
};

class ConnectionPoolTest : public testing::Test {
 protected:
  void put(const Route& route, std::string name, SteadyTime now = {}) {
    pool_.put(route, std::make_unique<FakeConnection>(std::move(name), closed_), now);
  }
  // The name of the connection, which is then closed.
  std::string take(const Route& route, SteadyTime now = {},
                   TakenFor purpose = TakenFor::repeatable) {
    auto taken = pool_.take(route, purpose, now);
    return taken ? dynamic_cast<FakeConnection&>(*taken).name : "none";
  }

  using Names = std::vector<std::string>;

  const Route a_{.host = "a"};
  const Route b_{.host = "b"};
  Names closed_;
  ConnectionPool pool_{{.idle_per_route_max = 2, .idle_max = 3, .idle_time_max = seconds(10)}};
};

TEST_F(ConnectionPoolTest, TheOneThatWasUsedLastIsTakenFirst) {
  put(a_, "1");
  put(a_, "2");
  EXPECT_EQ(take(a_), "2");
  EXPECT_EQ(take(a_), "1");
  EXPECT_EQ(take(a_), "none");
}

TEST_F(ConnectionPoolTest, RoutesShareNothing) {
  Route https = a_;
  https.scheme = Scheme::https;
  Route other_port = a_;
  other_port.port = 81;
  Route proxied = a_;
  proxied.proxy = Proxy{.host = "p"};
  Route other_user = proxied;
  other_user.proxy->authorization = "Basic x";
  put(proxied, "1");
  for (const Route& route : {a_, b_, https, other_port, other_user}) {
    EXPECT_EQ(take(route), "none");
  }
  EXPECT_EQ(take(proxied), "1");
}

TEST_F(ConnectionPoolTest, TheOldestOfARouteMakesRoom) {
  put(a_, "1");
  put(b_, "2");
  put(a_, "3");
  put(a_, "4");
  EXPECT_EQ(closed_, Names{"1"});
  EXPECT_EQ(pool_.size(), 3U);
}

TEST_F(ConnectionPoolTest, TheOldestOfAllMakesRoom) {
  put(a_, "1");
  put(a_, "2");
  put(b_, "3");
  put(b_, "4");
  EXPECT_EQ(closed_, Names{"1"});
  EXPECT_EQ(pool_.size(), 3U);
}

TEST_F(ConnectionPoolTest, WhatWaitsTooLongIsClosed) {
  SteadyTime start{};
  put(a_, "1", start);
  put(b_, "2", start + seconds(5));
  EXPECT_EQ(take(a_, start + seconds(10)), "none");
  EXPECT_EQ(closed_, Names{"1"});
  EXPECT_EQ(take(b_, start + seconds(14)), "2");
}

TEST_F(ConnectionPoolTest, WhatThePeerHasClosedIsNotTaken) {
  put(a_, "1");
  put(a_, "dead 2");
  EXPECT_EQ(take(a_), "1");
  EXPECT_EQ(closed_, (Names{"dead 2", "1"}));
}

TEST_F(ConnectionPoolTest, ASingleSendGetsOnlyAConnectionThatWasUsedAMomentAgo) {
  SteadyTime start{};
  put(a_, "1", start);
  put(a_, "2", start + seconds(3));
  EXPECT_EQ(take(a_, start + seconds(5), TakenFor::single_send), "2");
  EXPECT_EQ(take(a_, start + seconds(5), TakenFor::single_send), "none");
  EXPECT_EQ(take(a_, start + seconds(5)), "1");
}

TEST(ConnectionPool, MayKeepNothing) {
  std::vector<std::string> closed;
  ConnectionPool pool({.idle_max = 0});
  pool.put({.host = "a"}, std::make_unique<FakeConnection>("1", closed), {});
  EXPECT_EQ(closed, std::vector<std::string>{"1"});
}

class ReuseTest : public ClientTest {};

TEST_F(ReuseTest, OneConnectionServesManyRequests) {
  Peer peer({answers_often(kOk, 3), answers(kOk)});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(peer.accepted(), 1);
  loop_.call([this] { client_.reset(); });
}

TEST_F(ReuseTest, AnAnswerThatSaysCloseIsBelieved) {
  std::string close = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
  Peer peer({answers_often(close, 2), answers_often(kOk, 1)});
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(peer.accepted(), 2);
  loop_.call([this] { client_.reset(); });
}

TEST_F(ReuseTest, AStreamThatIsLeftHalfReadIsNotKept) {
  std::promise<void> closed;
  Peer peer({[&](PeerConnection& connection) {
               connection.receive_head();
               connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc");
               connection.wait_for_close();
               closed.set_value();
             },
             answers_often(kOk, 1)});
  auto opened = open(peer.url());
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "abc");
  drop(opened);
  closed.get_future().wait();
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(peer.accepted(), 2);
  loop_.call([this] { client_.reset(); });
}

TEST_F(ReuseTest, AConnectionIsKeptOnceTheLastByteHasCome) {
  Peer peer({answers_often("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 2)});
  auto opened = open(peer.url());
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "ok");
  EXPECT_EQ(shown(get(peer.url())), "200 ok");  // the stream still lives
  EXPECT_EQ(peer.accepted(), 1);
  loop_.call([&] {
    opened.value().reset();
    client_.reset();
  });
}

// Reads a second request on the first connection and closes without a byte of an answer.
Peer::Script leaves_second_unanswered(std::string partial = "") {
  return [partial = std::move(partial)](PeerConnection& peer) {
    peer.receive_head();
    peer.send(kOk);
    peer.receive_head();
    peer.send(partial);
  };
}

TEST_F(ReuseTest, ADeadConnectionIsReplacedOnce) {
  Peer peer({leaves_second_unanswered(), answers_often(kOk, 1)});
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(peer.accepted(), 2);
  loop_.call([this] { client_.reset(); });
}

TEST_F(ReuseTest, ARequestThatIsSafeToRepeatMaySaySo) {
  Peer peer({leaves_second_unanswered(), answers_often(kOk, 1)});
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(shown(send({.method = Method::post, .url = peer.url(), .resend = Resend::once})),
            "200 ok");
  EXPECT_EQ(peer.accepted(), 2);
  loop_.call([this] { client_.reset(); });
}

TEST_F(ReuseTest, ARequestWithEffectsIsNeverSentTwice) {
  Peer peer({leaves_second_unanswered(), answers_often(kOk, 1)});
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(shown(send({.method = Method::post, .url = peer.url()})), "unavailable");
  EXPECT_EQ(peer.accepted(), 1);
}

TEST_F(ReuseTest, AGetThatHasEffectsIsNeverSentTwice) {
  Peer peer({leaves_second_unanswered(), answers_often(kOk, 1)});
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(shown(send({.url = peer.url(), .resend = Resend::never})), "unavailable");
  EXPECT_EQ(peer.accepted(), 1);
}

TEST_F(ReuseTest, AnIdleConnectionThatThePeerHasClosedCostsARequestWithEffectsNothing) {
  Peer peer({[](PeerConnection& connection) {
               connection.receive_head();
               connection.send(kOk);
             },
             answers_often(kOk, 1)});
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  peer.wait_for_ended(1);
  EXPECT_EQ(shown(send({.method = Method::post, .url = peer.url()})), "200 ok");
  EXPECT_EQ(peer.accepted(), 2);
  loop_.call([this] { client_.reset(); });
}

TEST_F(ReuseTest, AnAnswerThatHasBegunIsNeverAskedForAgain) {
  Peer peer({leaves_second_unanswered("H"), answers_often(kOk, 1)});
  EXPECT_EQ(shown(get(peer.url())), "200 ok");
  EXPECT_EQ(shown(get(peer.url())), "unavailable");
  EXPECT_EQ(peer.accepted(), 1);
}

TEST_F(ReuseTest, AFreshConnectionThatDiesIsNotTriedAgain) {
  Peer peer({answers(""), answers_often(kOk, 1)});
  EXPECT_EQ(shown(get(peer.url())), "unavailable");
  EXPECT_EQ(peer.accepted(), 1);
}

TEST_F(ReuseTest, StreamsMayOutliveTheClient) {
  Peer peer(answers_often(kOk, 1));
  auto opened = open(peer.url());
  loop_.call([this] { client_.reset(); });
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "ok");
  drop(opened);
}

}  // namespace
}  // namespace errand::net::test::connection_pool_test
