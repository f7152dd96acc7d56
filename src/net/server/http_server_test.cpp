#include "net/server/http_server.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "net/server/test_support.hpp"

namespace errand::net::test::http_server_test {
namespace {

// Says what it was asked, in one line.
Task<Response> describe(Request request) {
  Response response;
  response.content_type = "text/plain";
  response.body =
      cat(to_string(request.method), " ", request.path, " ", request.query, " ", request.body);
  co_return response;
}

Task<Response> fail(Request request) {
  if (request.path == "/bug") throw std::logic_error("a bug");
  co_return Response();
}

Task<Response> answer_large(Request request) {
  Response response;
  response.body.assign(parse_integer<std::size_t>(request.query).value_or(0), 'x');
  co_return response;
}

Task<Response> answer_nothing(Request request) {
  Response response;
  response.status = parse_integer<int>(request.query).value_or(204);
  response.body = "never sent";
  co_return response;
}

TEST(HttpServer, AnswersWithLengthTypeDateAndRequestId) {
  TestServer server(describe);
  RawClient client(server.port());
  RawResponse response =
      client.ask("GET /a/b?c=d HTTP/1.1\r\nHost: x\r\nX-Request-Id: my-id.1\r\n\r\n");
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "GET /a/b c=d ");
  EXPECT_EQ(response.header("Content-Type"), "text/plain");
  EXPECT_EQ(response.header("x-request-id"), "my-id.1");
  EXPECT_EQ(response.header("Date").size(), std::string("Sun, 15 Nov 2026 12:00:00 GMT").size());
  EXPECT_EQ(response.header("Connection"), "");
}

TEST(HttpServer, GivesItsOwnIdWhenTheCallersIsNotSane) {
  TestServer server(describe);
  RawClient client(server.port());
  RawResponse first = client.ask("GET / HTTP/1.1\r\nHost: x\r\nX-Request-Id: a b\r\n\r\n");
  RawResponse second = client.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(first.header("x-request-id"), "a b");
  EXPECT_NE(first.header("x-request-id"), "");
  EXPECT_NE(first.header("x-request-id"), second.header("x-request-id"));
}

TEST(HttpServer, KeepsAConnectionForManyRequests) {
  TestServer server(describe);
  RawClient client(server.port());
  for (int i = 0; i < 100; ++i) {
    RawResponse response = client.ask(cat("GET /", i, " HTTP/1.1\r\nHost: x\r\n\r\n"));
    ASSERT_EQ(response.body, cat("GET /", i, "  "));
  }
  EXPECT_EQ(server.counts().connections, 1U);
  EXPECT_EQ(server.counts().requests, 100U);
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  TestServer server(describe);
  RawClient client(server.port());
  std::string requests;
  for (int i = 0; i < 500; ++i) {
    append(requests, "POST /", i, " HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc");
  }
  ASSERT_TRUE(client.send(requests));
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(client.receive_response().body, cat("POST /", i, "  abc"));
  }
}

TEST(HttpServer, ReadsRequestsThatComeByteByByte) {
  TestServer server(describe);
  RawClient client(server.port());
  for (char c : std::string("\r\nPUT /p?q HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")) {
    ASSERT_TRUE(client.send(std::string_view(&c, 1)));
  }
  EXPECT_EQ(client.receive_response().body, "PUT /p q hi");
}

TEST(HttpServer, ReadsChunkedBodies) {
  TestServer server(describe);
  RawClient client(server.port());
  RawResponse response = client.ask(
      "POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n");
  EXPECT_EQ(response.body, "POST /c  abcdefg");
  EXPECT_EQ(client.ask("GET /n HTTP/1.1\r\nHost: x\r\n\r\n").body, "GET /n  ");
}

TEST(HttpServer, SendsContinueBeforeAnExpectedBody) {
  TestServer server(describe);
  RawClient client(server.port());
  client.send("POST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.receive_through("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("body").body, "POST /e  body");
}

TEST(HttpServer, AnswersHeadLikeGetButWithoutTheBody) {
  TestServer server(describe);
  RawClient client(server.port());
  client.send("HEAD /h HTTP/1.1\r\nHost: x\r\n\r\nGET /n HTTP/1.1\r\nHost: x\r\n\r\n");
  RawResponse head = client.receive_response(Method::head);
  EXPECT_EQ(head.header("Content-Length"), "9");
  EXPECT_EQ(client.receive_response().body, "GET /n  ");
}

TEST(HttpServer, NoContentAndNotModifiedHaveNeitherBodyNorLength) {
  TestServer server(answer_nothing);
  RawClient client(server.port());
  for (const char* status : {"204", "304"}) {
    RawResponse response = client.ask(cat("GET /?", status, " HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_EQ(std::to_string(response.status), status);
    EXPECT_EQ(response.header("Content-Length"), "");
    EXPECT_EQ(response.header("Content-Type"), "");
  }
}

TEST(HttpServer, TakesThePathFromAnAbsoluteTarget) {
  TestServer server(describe);
  RawClient client(server.port());
  EXPECT_EQ(client.ask("GET http://other/p/q?r HTTP/1.1\r\nHost: x\r\n\r\n").body, "GET /p/q r ");
  EXPECT_EQ(client.ask("GET http://other HTTP/1.1\r\nHost: x\r\n\r\n").body, "GET /  ");
  EXPECT_EQ(client.ask("GET http://other?r HTTP/1.1\r\nHost: x\r\n\r\n").body, "GET / r ");
}

TEST(HttpServer, ClosesAfterHttp10UnlessAskedToKeepTheConnection) {
  TestServer server(describe);
  RawClient client(server.port());
  RawResponse kept = client.ask("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(kept.header("Connection"), "keep-alive");
  RawResponse last = client.ask("GET /2 HTTP/1.0\r\n\r\n");
  EXPECT_EQ(last.header("Connection"), "close");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(client.end(), End::closed);
}

TEST(HttpServer, ClosesWhenTheClientAsksForIt) {
  TestServer server(describe);
  RawClient client(server.port());
  RawResponse response = client.ask("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(response.header("Connection"), "close");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(client.end(), End::closed);
}

TEST(HttpServer, SendsAnswersLargerThanTheSocketTakesAtOnce) {
  TestServer server(answer_large);
  RawClient client(server.port());
  RawResponse response = client.ask("GET /?9000000 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(response.body, std::string(9'000'000, 'x'));
  EXPECT_EQ(client.ask("GET /?3 HTTP/1.1\r\nHost: x\r\n\r\n").body, "xxx");
}

TEST(HttpServer, AHandlerThatThrowsAnswers500AndTheConnectionGoesOn) {
  TestServer server(fail);
  RawClient client(server.port());
  RawResponse response = client.ask("GET /bug HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body, "internal");
  EXPECT_EQ(client.ask("GET /fine HTTP/1.1\r\nHost: x\r\n\r\n").status, 200);
}

TEST(HttpServer, HeaderValuesCannotEndTheirLine) {
  TestServer server([](Request) -> Task<Response> {
    Response response;
    response.headers.push_back({.name = "X-Note", .value = "a\r\nX-Forged: b"});
    co_return response;
  });
  RawClient client(server.port());
  RawResponse response = client.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(response.header("X-Note"), "a  X-Forged: b");
  EXPECT_EQ(response.header("X-Forged"), "");
}

TEST(HttpServer, ServesManyConnectionsAtOnce) {
  TestServer server(describe);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 200; ++i) {
    clients.push_back(std::make_unique<RawClient>(server.port()));
    clients.back()->send(cat("GET /", i, " HTTP/1.1\r\nHost: x\r\n"));
  }
  for (auto& client : clients) client->send("\r\n");
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(clients[static_cast<std::size_t>(i)]->receive_response().body, cat("GET /", i, "  "));
  }
  EXPECT_EQ(server.counts().connections, 200U);
}

TEST(HttpServer, AcceptsNoMoreThanItsLimitUntilOneCloses) {
  TestServer server(describe, {.connections_max = 2});
  RawClient first(server.port());
  RawClient second(server.port());
  RawClient third(server.port());
  third.send("GET /3 HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(first.ask("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n").body, "GET /1  ");
  EXPECT_EQ(second.ask("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n").body, "GET /2  ");
  EXPECT_EQ(server.counts().connections, 2U);
  EXPECT_EQ(server.counts().requests, 2U);
  first.close();
  EXPECT_EQ(third.receive_response().body, "GET /3  ");
}

TEST(HttpServer, SaysWhyItCannotListen) {
  TestServer server(describe);
  Loop loop;
  SystemClock clock;
  Log log(clock, 2, LogFormat::text);
  HttpServer second(loop.home(),
                    {.handler = describe, .render_error = render_test_error, .limits = {}}, log);
  auto taken = loop.call([&] { return second.listen("127.0.0.1", server.port()); });
  EXPECT_EQ(taken.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(taken.error().message(),
            cat("cannot listen on 127.0.0.1:", server.port(),
                ": address already in use (another process listens there); choose another port "
                "with --listen"));
  auto foreign = loop.call([&] { return second.listen("192.0.2.1", 1); });
  EXPECT_EQ(foreign.error().message(),
            "cannot listen on 192.0.2.1:1: this machine does not have that address; choose one of "
            "its own with --listen");
}

// Waits until the test lets it go.
struct Gate {
  explicit Gate(Executor home) : bell(std::move(home)) {}
  Wakeup bell;
  std::promise<void> entered;
  std::promise<void> left;
};

Task<Response> wait_at(std::shared_ptr<Gate> gate) {
  gate->entered.set_value();
  co_await gate->bell.wait();
  Response response;
  response.body = "done";
  co_return response;
}

// Answers once its client has left.
Task<Response> wait_for_leaving(Request request, std::shared_ptr<Gate> gate) {
  Response response;
  response.body = "not watched";
  if (!request.when_left) co_return response;
  request.when_left([gate] { gate->bell.notify(); });
  gate->entered.set_value();
  co_await gate->bell.wait();
  gate->left.set_value();
  response.body = "left";
  co_return response;
}

class HttpServerLeaving : public testing::Test {
 protected:
  std::shared_ptr<Gate> gate_;
  TestServer server_{
      [this](Request request) { return wait_for_leaving(std::move(request), gate_); }};

  void SetUp() override {
    gate_ = server_.loop().call(
        [this] { return std::make_shared<Gate>(server_.loop().home().executor()); });
  }
  void TearDown() override {
    server_.loop().call([this] { gate_.reset(); });
  }
};

TEST_F(HttpServerLeaving, IsToldToTheHandlerThatWaits) {
  RawClient client(server_.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_->entered.get_future().wait();
  client.close();
  gate_->left.get_future().wait();
  server_.wait_for([](const auto& counts) { return counts.connections == 0; });
}

TEST_F(HttpServerLeaving, AClientThatOnlySendsNoMoreGetsItsAnswer) {
  RawClient client(server_.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_->entered.get_future().wait();
  client.finish_sending();
  EXPECT_EQ(client.receive_response().body, "left");
}

TEST_F(HttpServerLeaving, IsNotWatchedForWhenTheNextRequestIsThere) {
  RawClient client(server_.port());
  const std::string request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  client.send(request + request);
  EXPECT_EQ(client.receive_response().body, "not watched");
  gate_->entered.get_future().wait();
  client.close();
}

class HttpServerStop : public testing::Test {
 protected:
  std::shared_ptr<Gate> gate_;
  TestServer server_{[this](Request) { return wait_at(gate_); }};

  void SetUp() override {
    gate_ = server_.loop().call(
        [this] { return std::make_shared<Gate>(server_.loop().home().executor()); });
  }
  void TearDown() override {
    server_.loop().call([this] { gate_.reset(); });
  }
  void open_gate() {
    server_.loop().call([this] { gate_->bell.notify(); });
  }
};

TEST_F(HttpServerStop, LetsARequestThatIsBeingAnsweredFinish) {
  RawClient client(server_.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_->entered.get_future().wait();
  RawClient idle(server_.port());
  server_.wait_for([](const auto& counts) { return counts.connections == 2; });
  auto stopped = server_.stop_async(soon());
  EXPECT_EQ(idle.receive_all(), "");
  EXPECT_EQ(idle.end(), End::reset);
  open_gate();
  RawResponse response = client.receive_response();
  EXPECT_EQ(response.body, "done");
  EXPECT_EQ(response.header("Connection"), "close");
  stopped.get();
}

TEST_F(HttpServerStop, ResetsARequestThatOutlastsTheDeadline) {
  RawClient client(server_.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_->entered.get_future().wait();
  server_.stop(std::chrono::steady_clock::now() + milliseconds(20));
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(client.end(), End::reset);
}

TEST_F(HttpServerStop, ResetsIdleConnectionsAtOnce) {
  RawClient client(server_.port());
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  gate_->entered.get_future().wait();
  open_gate();
  EXPECT_EQ(client.receive_response().body, "done");
  server_.stop(soon());
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(client.end(), End::reset);
  EXPECT_EQ(server_.counts().connections, 0U);
}

}  // namespace
}  // namespace errand::net::test::http_server_test
