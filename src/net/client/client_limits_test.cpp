#include "net/client/client_limits.hpp"

#include <gtest/gtest.h>

#include <string>

#include "net/client/test_peer.hpp"

namespace errand::net::test::client_limits_test {
namespace {

constexpr milliseconds kShort{30};

class ClientLimitsTest : public ClientTest {
 protected:
  static std::string passed(std::string_view name, const Peer& peer) {
    return cat("timeout ", name, "_timeout: the ", name,
               " timeout of 30 ms for 127.0.0.1:", peer.port(), " passed");
  }
};

// Says and reads nothing until the client has gone.
void stay_silent(PeerConnection& peer) {
  peer.wait_for_close();
}

TEST_F(ClientLimitsTest, SilenceBeforeTheAnswerEndsTheRequest) {
  Peer peer(stay_silent);
  auto response = get(peer.url(), {.first_byte = kShort});
  EXPECT_EQ(shown_error(response.error()), passed("first_byte", peer));
}

TEST_F(ClientLimitsTest, APeerThatReadsNothingEndsTheRequest) {
  std::promise<void> done;
  Peer peer([&](PeerConnection&) { done.get_future().wait(); });
  auto response = send({.method = Method::post,
                        .url = peer.url(),
                        .body = std::string(20'000'000, 'x'),
                        .timeouts = {.first_byte = kShort}});
  EXPECT_EQ(shown_error(response.error()), passed("first_byte", peer));
  done.set_value();
}

TEST_F(ClientLimitsTest, SilenceWithinTheHeadEndsTheRequest) {
  Peer peer([](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200");
    connection.wait_for_close();
  });
  auto response = get(peer.url(), {.idle = kShort});
  EXPECT_EQ(shown_error(response.error()), passed("idle", peer));
}

TEST_F(ClientLimitsTest, SilenceWithinTheBodyEndsTheStream) {
  Peer peer([](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc");
    connection.wait_for_close();
  });
  auto opened = open(peer.url(), {.idle = kShort});
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "abc");
  EXPECT_EQ(shown_error(loop_.run(opened.value()->read()).error()), passed("idle", peer));
  drop(opened);
}

TEST_F(ClientLimitsTest, AReaderMayTakeItsTime) {
  std::promise<void> has_head;
  std::promise<void> first_sent;
  std::promise<void> first_read;
  std::promise<void> second_sent;
  Peer peer([&](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n");
    has_head.get_future().wait();
    connection.send("abc");
    first_sent.set_value();
    first_read.get_future().wait();
    connection.send("de");
    second_sent.set_value();
    connection.wait_for_close();
  });
  Peer silent(stay_silent);
  auto opened = open(peer.url(), {.idle = kShort});
  has_head.set_value();
  first_sent.get_future().wait();
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "abc");
  first_read.set_value();
  second_sent.get_future().wait();
  // By the end of this, more time has passed than the peer may be silent for.
  EXPECT_EQ(shown(get(silent.url(), {.first_byte = kShort * 2})), "timeout");
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "de");
  drop(opened);
}

TEST_F(ClientLimitsTest, AnAnswerThatDripsWithoutEndMeetsTheTotal) {
  Peer peer([](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\n\r\n");
    while (connection.send("x")) std::this_thread::yield();
  });
  auto response = get(peer.url(), {.total = kShort});
  EXPECT_EQ(shown_error(response.error()), passed("total", peer));
}

TEST_F(ClientLimitsTest, TheTotalCoversTheWaitForAnAnswer) {
  Peer peer(stay_silent);
  auto response = get(peer.url(), {.total = kShort});
  EXPECT_EQ(shown_error(response.error()), passed("total", peer));
}

TEST_F(ClientLimitsTest, ATlsHandshakeIsPartOfConnecting) {
  Peer peer(stay_silent);
  auto response =
      get(cat("https://127.0.0.1:", peer.port(), "/"), {.connect = kShort, .total = kShort * 100});
  EXPECT_EQ(shown_error(response.error()), passed("connect", peer));
}

TEST_F(ClientLimitsTest, AConnectionThatIsKeptHasNoLimit) {
  Peer peer(answers_often(kOk, 2));
  EXPECT_EQ(shown(get(peer.url(), {.first_byte = kShort * 100, .total = kShort * 100})), "200 ok");
  EXPECT_EQ(shown(get(peer.url(), {.total = ClientTimeouts::kNone})), "200 ok");
  EXPECT_EQ(peer.accepted(), 1);
  loop_.call([this] { client_.reset(); });
}

Task<void> send_and_tell(HttpClient* client, ClientRequest request, std::promise<bool>* returned) {
  auto response = co_await client->send(std::move(request));
  returned->set_value(response.has_value());
}

class CancelTest : public ClientTest {
 protected:
  // Cancels a request once `begun` is set. Returns when the peer has seen the connection close.
  void cancel_when(std::promise<void>& begun, std::promise<void>& closed, const std::string& url) {
    std::promise<bool> returned;
    auto group = loop_.call([this] {
      return std::make_unique<TaskGroup>(loop_.home().executor(),
                                         [](const char*, const std::string&) {});
    });
    loop_.call(
        [&] { group->spawn("request", send_and_tell(client_.get(), {.url = url}, &returned)); });
    begun.get_future().wait();
    loop_.run(group->stop(CancelReason::user_stop));
    closed.get_future().wait();
    loop_.call([&] { group.reset(); });
  }
};

TEST_F(CancelTest, ClosesAConnectionThatWaitsForItsAnswer) {
  std::promise<void> begun;
  std::promise<void> closed;
  Peer peer([&](PeerConnection& connection) {
    connection.receive_head();
    begun.set_value();
    connection.wait_for_close();
    closed.set_value();
  });
  cancel_when(begun, closed, peer.url());
}

TEST_F(CancelTest, ClosesAConnectionWithinABody) {
  std::promise<void> begun;
  std::promise<void> closed;
  Peer peer([&](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    begun.set_value();
    connection.wait_for_close();
    closed.set_value();
  });
  cancel_when(begun, closed, peer.url());
}

TEST_F(CancelTest, ClosesAConnectionWithinTheHandshake) {
  std::promise<void> begun;
  std::promise<void> closed;
  Peer peer([&](PeerConnection& connection) {
    connection.receive_through("\x01");  // of the client's hello
    begun.set_value();
    connection.wait_for_close();
    closed.set_value();
  });
  cancel_when(begun, closed, cat("https://127.0.0.1:", peer.port(), "/"));
}

TEST_F(CancelTest, DestroyingAStreamClosesItsConnection) {
  std::promise<void> closed;
  Peer peer([&](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    connection.wait_for_close();
    closed.set_value();
  });
  auto opened = open(peer.url());
  drop(opened);
  closed.get_future().wait();
}

}  // namespace
}  // namespace errand::net::test::client_limits_test
