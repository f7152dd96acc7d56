// What the server does with clients that are too slow, too large or malformed. A second client is
// served in the middle of each case: one connection's failure stays its own.

#include <gtest/gtest.h>

#include <string>

#include "net/server/http_server.hpp"
#include "net/server/test_support.hpp"

namespace errand::net::test::http_limits_test {
namespace {

Task<Response> echo(Request request) {
  Response response;
  response.body = request.body;
  co_return response;
}

Task<Response> answer_much(Request) {
  Response response;
  response.body.assign(64U * 1024 * 1024, 'x');
  co_return response;
}

ServerLimits small_limits() {
  return {.body_bytes_max = 100, .head_bytes_max = 1000, .bodies_bytes_max = 150};
}

struct Refusal {
  int status = 0;
  std::string body;
  std::string connection;
  End end = End::open;

  friend bool operator==(const Refusal&, const Refusal&) = default;
  friend void PrintTo(const Refusal& r, std::ostream* out) {
    *out << r.status << " " << r.body << " " << r.connection << " end " << static_cast<int>(r.end);
  }
};

Refusal refusal(int status, std::string body) {
  return {.status = status, .body = std::move(body), .connection = "close", .end = End::closed};
}

// The answer, and that the connection ends cleanly after it.
Refusal receive_refusal(RawClient& client) {
  RawResponse response = client.receive_response();
  std::string rest = client.receive_all();
  return {.status = response.status,
          .body = response.body + rest,
          .connection = response.header("Connection"),
          .end = client.end()};
}

Refusal refused(TestServer& server, std::string_view request) {
  RawClient client(server.port());
  client.send(request);
  RawClient other(server.port());
  EXPECT_EQ(other.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok").body, "ok");
  return receive_refusal(client);
}

TEST(HttpLimits, RefusesADeclaredBodyThatIsTooLargeWithoutReadingIt) {
  TestServer server(echo, small_limits());
  EXPECT_EQ(refused(server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n"),
            refusal(413, "body_too_large bodyBytes=100"));
  EXPECT_EQ(refused(server,
                    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n"
                    "Expect: 100-continue\r\n\r\n"),
            refusal(413, "body_too_large bodyBytes=100"));
  EXPECT_EQ(server.counts().requests, 2U);
}

TEST(HttpLimits, ARefusedClientThatStillSendsGetsItsAnswer) {
  TestServer server(echo, small_limits());
  RawClient client(server.port());
  std::string body(8'000'000, 'x');
  client.send(cat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ", body.size(), "\r\n\r\n"));
  EXPECT_TRUE(client.send(body));
  EXPECT_EQ(client.receive_response().status, 413);
}

TEST(HttpLimits, CountsChunkedBodiesAsTheyCome) {
  TestServer server(echo, small_limits());
  EXPECT_EQ(
      refused(server, cat("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
                          "40\r\n", std::string(64, 'a'), "\r\n40\r\n", std::string(64, 'b'))),
      refusal(413, "body_too_large bodyBytes=100"));
}

TEST(HttpLimits, RefusesHeadersThatAreTooLong) {
  TestServer server(echo, small_limits());
  std::string longer(1000, 'h');
  EXPECT_EQ(refused(server, cat("GET / HTTP/1.1\r\nHost: x\r\nX-Long: ", longer)),
            refusal(431, "headers_too_large headerBytes=1000"));
  EXPECT_EQ(refused(server, cat("GET / HTTP/1.1\r\nHost: x\r\nX-Long: ", longer, "\r\n\r\n")),
            refusal(431, "headers_too_large headerBytes=1000"));
  EXPECT_EQ(refused(server, cat("GET /", longer)),
            refusal(431, "headers_too_large headerBytes=1000"));
}

TEST(HttpLimits, RefusesBodiesWhenAllTogetherAreTooMany) {
  TestServer server(echo, small_limits());
  std::string body(90, 'b');
  RawClient first(server.port());
  first.send(cat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 91\r\n\r\n", body));
  server.wait_for([](const HttpServer::Counts& counts) { return counts.body_bytes == 90; });
  std::string other(61, 'a');
  EXPECT_EQ(refused(server, cat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 61\r\n\r\n", other)),
            refusal(503, "overloaded"));
  EXPECT_EQ(refused(server, cat("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
                                "3d\r\n", other, "\r\n")),
            refusal(503, "overloaded"));
  EXPECT_EQ(first.ask("b").body, body + "b");
  // What was counted is given back.
  RawClient last(server.port());
  EXPECT_EQ(last.ask(cat("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90\r\n\r\n", body)).body,
            body);
}

TEST(HttpLimits, AnnouncingABodyTakesNothingFromOthers) {
  TestServer server(echo, small_limits());
  RawClient first(server.port());
  RawClient second(server.port());
  first.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n");
  second.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(first.receive_through("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(second.receive_through("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST(HttpLimits, RefusesWhatIsNotHttp) {
  TestServer server(echo);
  Refusal bad = refusal(400, "bad_request");
  EXPECT_EQ(refused(server, "\x16\x03\x01\x02"), bad);
  EXPECT_EQ(refused(server, "GET / HTTP/2.0\r\nHost: x\r\n\r\n"), bad);
  EXPECT_EQ(refused(server, "GET / HTTP/1.1\r\nHost x\r\n\r\n"), bad);
  EXPECT_EQ(refused(server, "GET / HTTP/1.1\r\n\r\n"), bad);
  EXPECT_EQ(refused(server, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"), bad);
  EXPECT_EQ(refused(server, "GET relative HTTP/1.1\r\nHost: x\r\n\r\n"), bad);
}

TEST(HttpLimits, RefusesAmbiguousFraming) {
  TestServer server(echo);
  Refusal bad = refusal(400, "bad_request");
  EXPECT_EQ(refused(server,
                    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
            bad);
  EXPECT_EQ(refused(server,
                    "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                    "Content-Length: 3\r\n\r\n0\r\n\r\n"),
            bad);
  EXPECT_EQ(refused(server,
                    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                    "Content-Length: 4\r\n\r\nabcd"),
            bad);
  EXPECT_EQ(refused(server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -3\r\n\r\n"), bad);
  EXPECT_EQ(
      refused(server, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"),
      bad);
  EXPECT_EQ(refused(server, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), bad);
}

TEST(HttpLimits, RefusesEncodingsAndExpectationsItDoesNotKnow) {
  TestServer server(echo);
  EXPECT_EQ(
      refused(server, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
      refusal(501, "transfer_encoding_unsupported"));
  EXPECT_EQ(refused(server, "POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\n\r\n"),
            refusal(417, "expectation_failed"));
}

TEST(HttpLimits, AnswersASlowHead) {
  TestServer server(echo, {.head_timeout = milliseconds(30)});
  EXPECT_EQ(refused(server, "GET / HTTP/1.1\r\nHost:"), refusal(408, "request_timeout"));
}

TEST(HttpLimits, AnswersASlowBody) {
  TestServer server(echo, {.body_timeout = milliseconds(30)});
  EXPECT_EQ(refused(server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabc"),
            refusal(408, "request_timeout"));
  EXPECT_EQ(
      refused(server, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"),
      refusal(408, "request_timeout"));
}

TEST(HttpLimits, ABodyThatTricklesHasALimitToo) {
  TestServer server(echo, {.request_timeout = milliseconds(50)});
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n\r\n");
  std::atomic<bool> answered = false;
  std::thread trickle([&] {
    while (!answered && client.send("x")) std::this_thread::yield();
  });
  EXPECT_EQ(client.receive_response().status, 408);
  answered = true;
  trickle.join();
}

TEST(HttpLimits, ABodyHasALeastRate) {
  TestServer server(echo,
                    {.body_timeout = milliseconds(50), .body_bytes_per_second_min = 10'000'000});
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 30000000\r\n\r\n");
  std::atomic<bool> answered = false;
  std::thread trickle([&] {
    while (!answered && client.send("x")) std::this_thread::yield();
  });
  EXPECT_EQ(client.receive_response().status, 408);
  answered = true;
  trickle.join();
}

std::shared_ptr<Response> come_back_later() {
  auto response = std::make_shared<Response>();
  response->status = 429;
  response->headers.push_back({.name = "Retry-After", .value = "7"});
  return response;
}

// "k1" and "k2" are known, and hold at most 60 bytes each.
HttpServer::Options keyed_options() {
  return {.handler = echo,
          .limits = {.holder_bodies_bytes_max = 60},
          .admit = [](const Request& head) -> Result<BodyTerms> {
            std::string key(head.header("x-key"));
            if (key == "k1" || key == "k2") return BodyTerms{.holder = key};
            if (key == "none") return BodyTerms{.bytes_max = 100};
            if (key == "later") return BodyTerms{.refusal = come_back_later()};
            return Error(ErrorCode::invalid_argument, "who?").reason("no_key");
          },
          .behind_proxy = true};
}

std::string keyed_post(std::string_view key, std::string_view rest) {
  return cat("POST / HTTP/1.1\r\nHost: x\r\nX-Key: ", key, "\r\nContent-Length: 100\r\n", rest);
}

TEST(HttpAdmission, WhoIsRefusedIsNeitherAskedForABodyNorHasOneRead) {
  TestServer server(keyed_options());
  EXPECT_EQ(refused(server, keyed_post("k3", "Expect: 100-continue\r\n\r\n")),
            refusal(400, "no_key"));
  EXPECT_EQ(refused(server, keyed_post("k3", cat("\r\n", std::string(50, 'x')))),
            refusal(400, "no_key"));
  RawClient known(server.port());
  known.send(keyed_post("k1", "Expect: 100-continue\r\n\r\n"));
  EXPECT_EQ(known.receive_through("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
}

TEST(HttpAdmission, ARefusalMayBeAWholeAnswer) {
  TestServer server(keyed_options());
  RawClient client(server.port());
  client.send(keyed_post("later", "Expect: 100-continue\r\n\r\n"));
  RawResponse response = client.receive_response();
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.header("Retry-After"), "7");
}

TEST(HttpAdmission, OneKeyCannotTakeTheRoomOfAnother) {
  TestServer server(keyed_options());
  RawClient first(server.port());
  first.send(keyed_post("k1", cat("\r\n", std::string(50, 'x'))));
  server.wait_for([](const HttpServer::Counts& counts) { return counts.body_bytes == 50; });
  RawClient second(server.port());
  second.send(keyed_post("k1", "\r\n"));
  second.send(std::string(50, 'x'));
  EXPECT_EQ(receive_refusal(second), refusal(503, "overloaded"));
  RawClient other(server.port());
  other.send(keyed_post("k2", cat("\r\n", std::string(50, 'x'))));
  server.wait_for([](const HttpServer::Counts& counts) { return counts.body_bytes == 100; });
}

TEST(HttpAdmission, ClientsOfWhomNothingIsKnownShareOneRoom) {
  TestServer server(keyed_options());
  RawClient first(server.port());
  first.send(keyed_post("none", cat("\r\n", std::string(50, 'x'))));
  server.wait_for([](const HttpServer::Counts& counts) { return counts.body_bytes == 50; });
  RawClient second(server.port());
  second.send(keyed_post("none", "\r\n"));
  second.send(std::string(50, 'x'));
  EXPECT_EQ(receive_refusal(second), refusal(503, "overloaded"));
  RawClient known(server.port());
  known.send(keyed_post("k1", cat("\r\n", std::string(50, 'x'))));
  server.wait_for([](const HttpServer::Counts& counts) { return counts.body_bytes == 100; });
}

TEST(HttpAdmission, TermsLowerTheLimitOfABody) {
  TestServer server(keyed_options());
  EXPECT_EQ(refused(server,
                    "POST / HTTP/1.1\r\nHost: x\r\nX-Key: none\r\nContent-Length: 101\r\n"
                    "Expect: 100-continue\r\n\r\n"),
            refusal(413, "body_too_large bodyBytes=100"));
  RawClient chunked(server.port());
  chunked.send("POST / HTTP/1.1\r\nHost: x\r\nX-Key: none\r\nTransfer-Encoding: chunked\r\n\r\n");
  chunked.send(cat("65\r\n", std::string(101, 'x'), "\r\n"));
  EXPECT_EQ(receive_refusal(chunked), refusal(413, "body_too_large bodyBytes=100"));
}

TEST(HttpAdmission, OneAddressHasAShareOfItsOwn) {
  HttpServer::Options options = keyed_options();
  options.behind_proxy = false;
  TestServer server(std::move(options));
  RawClient first(server.port());
  first.send(keyed_post("k1", cat("\r\n", std::string(50, 'x'))));
  server.wait_for([](const HttpServer::Counts& counts) { return counts.body_bytes == 50; });
  RawClient second(server.port());
  second.send(keyed_post("k2", "\r\n"));
  second.send(std::string(50, 'x'));
  EXPECT_EQ(receive_refusal(second), refusal(503, "overloaded"));
}

TEST(HttpLimits, ClosesAnIdleConnectionQuietly) {
  TestServer server(echo, {.idle_timeout = milliseconds(30)});
  RawClient client(server.port());
  EXPECT_EQ(client.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi").body, "hi");
  EXPECT_EQ(client.receive_all(), "");
  EXPECT_EQ(client.end(), End::closed);
}

TEST(HttpLimits, ResetsAReaderThatTakesNothing) {
  TestServer server(answer_much, {.write_timeout = milliseconds(50)});
  RawClient client(server.port(), 4096);
  client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  server.wait_for([](const auto& counts) { return counts.requests == 1; });
  server.wait_for([](const auto& counts) { return counts.connections == 0; });
  client.receive_all();
  EXPECT_EQ(client.end(), End::reset);
}

TEST(HttpLimits, ABodyThatIsCutOffEndsItsConnectionOnly) {
  TestServer server(echo);
  RawClient client(server.port());
  client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab");
  client.finish_sending();
  EXPECT_EQ(client.receive_all(), "");
  RawClient other(server.port());
  EXPECT_EQ(other.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok").body, "ok");
  EXPECT_EQ(server.counts().requests, 1U);
}

TEST(HttpLimits, AFloodOfPipelinedRequestsDoesNotStarveOthers) {
  TestServer server(echo);
  RawClient flood(server.port());
  std::string requests;
  for (int i = 0; i < 20000; ++i) requests += "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  std::thread sender([&] { flood.send(requests); });
  RawClient other(server.port());
  EXPECT_EQ(other.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nok").body, "ok");
  for (int i = 0; i < 20000; ++i) ASSERT_EQ(flood.receive_response().status, 200);
  sender.join();
}

}  // namespace
}  // namespace errand::net::test::http_limits_test
