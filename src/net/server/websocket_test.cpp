#include <gtest/gtest.h>

#include <future>
#include <string>
#include <utility>

#include "net/client/websocket_client.hpp"
#include "net/server/http_server.hpp"
#include "net/server/test_support.hpp"
#include "net/websocket_stream.hpp"

namespace errand::net::test::websocket_test {
namespace {

using Socket = std::shared_ptr<WebSocket>;
using Session = std::function<Task<void>(Socket)>;

// What a test sets up, and how the server's side ended.
struct Shared {
  Upgrade upgrade;
  int refuse_with = 0;
  std::promise<WebSocketEnd> ended;
};

Task<void> run_session(Session session, Socket socket, std::shared_ptr<Shared> shared) {
  co_await session(socket);
  co_await socket->finish();
  shared->ended.set_value(socket->end());
}

Task<Response> answer(std::shared_ptr<Shared> shared, Request request) {
  Response response;
  response.status = shared->refuse_with;
  if (shared->refuse_with > 0) co_return response;
  response.upgrade = std::make_unique<Upgrade>(shared->upgrade);
  response.upgrade->headers = request.headers;
  for (const std::string& offered : offered_protocols(request))
    response.upgrade->protocol = offered;
  response.upgrade->session = [shared](Socket socket) {
    return run_session(shared->upgrade.session, std::move(socket), shared);
  };
  co_return response;
}

Task<void> echo(Socket socket) {
  while (auto message = co_await socket->read()) socket->send(std::move(message->bytes));
}

// Tells of each message that was written after it.
Task<void> tell_what_was_written(Socket socket) {
  auto bytes = std::make_shared<const std::string>("shared");
  auto weak = std::weak_ptr<WebSocket>(socket);
  socket->queue({.bytes = bytes, .written = [weak] {
                   if (auto open = weak.lock()) open->send("written");
                 }});
  auto message = co_await socket->read();
}

Task<void> close_with_4000(Socket socket) {
  socket->send("last words");
  socket->close({.code = 4000, .reason = "bye"});
  co_return;
}

Task<void> drop_after_one(Socket socket) {
  auto message = co_await socket->read();
  socket->drop();
}

// Whether the memory of each message was told before it was whole.
Task<void> tell_what_was_held(Socket socket) {
  auto held = std::make_shared<std::size_t>(0);
  while (auto message = co_await socket->read([held](std::size_t bytes) { *held = bytes; })) {
    socket->send(std::exchange(*held, 0) >= message->bytes.size() ? "told" : "not told");
  }
}

constexpr std::size_t kHeldMax = 50'000;

Task<void> drop_what_holds_much(Socket socket) {
  auto weak = std::weak_ptr<WebSocket>(socket);
  auto message = co_await socket->read([weak](std::size_t bytes) {
    if (bytes > kHeldMax) weak.lock()->drop();
  });
}

Task<void> close_and_drop(Socket socket) {
  socket->close({.code = 4000, .reason = "bye"});
  socket->drop();
  co_return;
}

// Far more than the kernel takes for a peer that reads nothing.
Task<void> send_much(Socket socket) {
  for (int i = 0; i < 64 && socket->end() == WebSocketEnd::open; ++i) {
    socket->send(std::string(1024UL * 1024, 'x'));
  }
  auto message = co_await socket->read();
}

// Nothing is written before the session waits.
Task<void> tell_how_much_is_queued(Socket socket) {
  for (int i = 0; i < 3; ++i) socket->send("x");
  socket->send(std::to_string(socket->queued_bytes()));
  auto message = co_await socket->read();
}

// What a client sees of one connection.
struct Seen {
  std::vector<std::string> messages;
  WebSocketEnd end = WebSocketEnd::open;
  CloseFrame frame;
};

Task<Result<Seen>> talk(WebSocketRequest request, std::vector<std::string> messages,
                        std::size_t answers) {
  auto opened = co_await open_websocket(std::move(request));
  if (!opened) co_return std::move(opened).error();
  Socket socket = std::move(*opened);
  for (std::string& message : messages) socket->send(std::move(message));
  Seen seen;
  while (seen.messages.size() < answers) {
    auto message = co_await socket->read();
    if (!message) break;
    seen.messages.push_back(std::move(message->bytes));
  }
  if (seen.messages.size() == answers) {
    co_await socket->finish();
  }
  seen.end = socket->end();
  seen.frame = socket->peer_close();
  co_return seen;
}

class WebSockets : public testing::Test {
 protected:
  void start(Session session, WebSocketLimits limits = {},
             Compression compression = Compression::off) {
    shared_->upgrade.session = std::move(session);
    shared_->upgrade.limits = limits;
    shared_->upgrade.compression = compression;
    server_ = std::make_unique<TestServer>(
        [shared = shared_](Request request) { return answer(shared, std::move(request)); });
  }
  WebSocketRequest request() {
    return {.url = cat("ws://127.0.0.1:", server_->port(), "/rooms/r?x=1")};
  }
  Result<Seen> talk_to_server(WebSocketRequest request, std::vector<std::string> messages,
                              std::size_t answers) {
    return client_.run(talk(std::move(request), std::move(messages), answers));
  }
  WebSocketEnd ended() { return shared_->ended.get_future().get(); }

  // Opens by hand; the answer's head.
  RawResponse open_raw(RawClient& client, std::string_view more_headers = "",
                       std::string_view surplus = "") {
    client.send(
        cat("GET /rooms/r HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
            more_headers, "\r\n", surplus));
    RawResponse response;
    response.head = client.receive_through("\r\n\r\n");
    response.status = parse_integer<int>(std::string_view(response.head).substr(9, 3)).value_or(0);
    return response;
  }

  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  std::unique_ptr<TestServer> server_;
  Loop client_;
};

// A masked frame as a client sends it, with a mask of zeros.
std::string frame(unsigned char first, std::string_view payload) {
  std::string out;
  out.push_back(static_cast<char>(first));
  out.push_back(static_cast<char>(0x80U | payload.size()));
  return cat(out, std::string(4, '\0'), payload);
}

TEST_F(WebSockets, CarryBinaryMessagesBothWaysInOrder) {
  start(echo);
  std::string large(3UL * 1024 * 1024, 'l');
  auto seen = talk_to_server(request(), {"one", "", large}, 3);
  ASSERT_TRUE(seen) << seen.error().describe();
  EXPECT_EQ(seen->messages, (std::vector<std::string>{"one", "", large}));
  EXPECT_EQ(seen->end, WebSocketEnd::closed_by_us);
  EXPECT_EQ(ended(), WebSocketEnd::closed_by_peer);
}

TEST_F(WebSockets, AnswerTheHandshakeWithTheOfferedProtocol) {
  start(echo);
  RawClient client(server_->port());
  RawResponse response = open_raw(client, "Sec-WebSocket-Protocol: meshagent-room.abc\r\n");
  EXPECT_EQ(response.status, 101);
  EXPECT_EQ(response.header("Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(response.header("Sec-WebSocket-Protocol"), "meshagent-room.abc");
  EXPECT_EQ(response.header("Sec-WebSocket-Extensions"), "");
}

TEST_F(WebSockets, TellTheClientWhyTheyWereRefused) {
  start(echo);
  shared_->refuse_with = 403;
  EXPECT_EQ(talk_to_server(request(), {}, 0).error().reason(), "status_403");
  shared_->refuse_with = 404;
  EXPECT_EQ(talk_to_server(request(), {}, 0).error().code(), ErrorCode::not_found);
  shared_->refuse_with = 503;
  EXPECT_EQ(talk_to_server(request(), {}, 0).error().code(), ErrorCode::unavailable);
}

TEST_F(WebSockets, CloseWithACodeAfterWhatIsQueued) {
  start(close_with_4000);
  auto seen = talk_to_server(request(), {}, 2);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->messages, std::vector<std::string>{"last words"});
  EXPECT_EQ(seen->end, WebSocketEnd::closed_by_peer);
  EXPECT_EQ(seen->frame, (CloseFrame{.code = 4000, .reason = "bye"}));
  EXPECT_EQ(ended(), WebSocketEnd::closed_by_us);
}

TEST_F(WebSockets, DropWithoutACloseFrame) {
  start(drop_after_one);
  RawClient client(server_->port());
  open_raw(client);
  client.send(frame(0x82, "go"));
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(ended(), WebSocketEnd::dropped);
}

TEST_F(WebSockets, SendACloseFrameBeforeTheyAreDropped) {
  start(close_and_drop);
  RawClient client(server_->port());
  open_raw(client);
  EXPECT_EQ(client.receive_all(),
            "\x88\x05\x0F\xA0"
            "bye");
  EXPECT_EQ(ended(), WebSocketEnd::closed_by_us);
}

TEST_F(WebSockets, TellWhatAMessageHoldsThatIsNotWhole) {
  start(tell_what_was_held);
  auto seen = talk_to_server(request(), {"short", std::string(100'000, 'x'), "short"}, 3);
  ASSERT_TRUE(seen) << seen.error().describe();
  EXPECT_EQ(seen->messages, (std::vector<std::string>{"not told", "told", "not told"}));
}

TEST_F(WebSockets, CanEndInTheMiddleOfAMessage) {
  start(drop_what_holds_much);
  RawClient client(server_->port());
  open_raw(client);
  const std::string head("\x82\xFF\0\0\0\0\0\1\0\0\0\0\0\0", 14);  // 64 KiB, a mask of zeros
  client.send(cat(head, std::string(kHeldMax + 1, 'x')));
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(ended(), WebSocketEnd::dropped);
}

TEST_F(WebSockets, AreDroppedWhenTheServerStops) {
  start(echo);
  RawClient client(server_->port());
  open_raw(client);
  server_->wait_for([](const HttpServer::Counts& counts) { return counts.web_sockets == 1; });
  server_->stop(soon());
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(ended(), WebSocketEnd::dropped);
}

TEST_F(WebSockets, RefuseAMessageBeyondTheLimit) {
  start(echo, {.message_bytes_max = 1000});
  auto seen = talk_to_server(request(), {std::string(1001, 'x')}, 1);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->frame.code, 1009);
  EXPECT_EQ(ended(), WebSocketEnd::too_large);
}

TEST_F(WebSockets, TellWhenAMessageWasWritten) {
  start(tell_what_was_written);
  auto seen = talk_to_server(request(), {}, 2);
  ASSERT_TRUE(seen) << seen.error().describe();
  EXPECT_EQ(seen->messages, (std::vector<std::string>{"shared", "written"}));
}

TEST_F(WebSockets, DropAPeerThatDoesNotRead) {
  start(send_much, {.queued_bytes_max = 4UL * 1024 * 1024});
  RawClient client(server_->port(), 4096);
  open_raw(client);
  EXPECT_EQ(ended(), WebSocketEnd::slow_reader);
}

TEST_F(WebSockets, CountWhatShortMessagesTakeInTheQueue) {
  start(tell_how_much_is_queued);
  auto seen = talk_to_server(request(), {}, 4);
  ASSERT_TRUE(seen) << seen.error().describe();
  EXPECT_EQ(seen->messages.back(), std::to_string(3 * (kQueuedMessageBytes + 1)));
}

TEST_F(WebSockets, PingASilentPeerAndThenDropIt) {
  start(echo, {.idle_timeout = milliseconds(200)});
  RawClient client(server_->port());
  open_raw(client);
  EXPECT_EQ(client.receive_exactly(2), std::string("\x89\x00", 2));
  EXPECT_EQ(ended(), WebSocketEnd::silent);
  EXPECT_EQ(client.receive_all(), "");
}

TEST_F(WebSockets, DropAPeerThatStopsInTheMiddleOfAFrame) {
  start(echo, {.idle_timeout = milliseconds(200)});
  RawClient client(server_->port());
  open_raw(client);
  client.send("\x82\xFE\x7F");
  EXPECT_EQ(client.receive_exactly(2), std::string("\x89\x00", 2));
  EXPECT_EQ(ended(), WebSocketEnd::silent);
}

TEST_F(WebSockets, AnswerPings) {
  start(echo);
  RawClient client(server_->port());
  open_raw(client);
  client.send(frame(0x89, "are you there"));
  EXPECT_EQ(client.receive_exactly(15),
            "\x8A\x0D"
            "are you there");
}

TEST_F(WebSockets, CompressWhereBothSidesWantIt) {
  start(echo, {.message_bytes_max = 100'000}, Compression::on);
  WebSocketRequest compressed = request();
  compressed.compression = Compression::on;
  std::string text(90'000, 'c');
  auto seen = talk_to_server(compressed, {text, "short"}, 2);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->messages, (std::vector<std::string>{text, "short"}));
  RawClient client(server_->port());
  RawResponse response = open_raw(client, "Sec-WebSocket-Extensions: permessage-deflate\r\n");
  EXPECT_EQ(response.header("Sec-WebSocket-Extensions"), "permessage-deflate");
}

TEST_F(WebSockets, CountTheSizeOfACompressedMessageAfterItsDecompression) {
  start(echo, {.message_bytes_max = 100'000}, Compression::on);
  WebSocketRequest compressed = request();
  compressed.compression = Compression::on;
  auto seen = talk_to_server(compressed, {std::string(7UL * 1024 * 1024, 'b')}, 1);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->messages, std::vector<std::string>{});
  EXPECT_EQ(ended(), WebSocketEnd::too_large);
}

TEST_F(WebSockets, CloseWith1002OnABrokenFrame) {
  start(echo);
  RawClient client(server_->port());
  open_raw(client);
  client.send("\x82\x01x");  // not masked
  EXPECT_EQ(client.receive_exactly(4), "\x88\x02\x03\xEA");
  client.close();
  EXPECT_EQ(ended(), WebSocketEnd::malformed);
}

TEST_F(WebSockets, RefuseFramesBeforeTheHandshake) {
  start(echo);
  RawClient client(server_->port());
  EXPECT_EQ(open_raw(client, "", frame(0x82, "early")).status, 400);
}

TEST_F(WebSockets, RefuseARequestOfAnotherVersion) {
  start(echo);
  RawClient client(server_->port());
  client.send(
      "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 7\r\n\r\n");
  EXPECT_TRUE(client.receive_through("\r\n").starts_with("HTTP/1.1 4"));
}

TEST(AsksForWebsocket, LooksForTheTokenInAList) {
  Request request;
  request.headers = {{.name = "connection", .value = "keep-alive, upgrade"},
                     {.name = "UPGRADE", .value = "WebSocket"}};
  EXPECT_TRUE(asks_for_websocket(request));
  request.headers[0].value = "keep-alive";
  EXPECT_FALSE(asks_for_websocket(request));
}

TEST(OfferedProtocols, AreTrimmed) {
  Request request;
  request.headers = {{.name = "Sec-WebSocket-Protocol", .value = "a, meshagent-room.x ,"}};
  EXPECT_EQ(offered_protocols(request), (std::vector<std::string>{"a", "meshagent-room.x"}));
}

}  // namespace
}  // namespace errand::net::test::websocket_test
