#include "net/client/http_client.hpp"

#include <gtest/gtest.h>

#include <string>

#include "net/client/test_peer.hpp"
#include "net/url.hpp"

namespace errand::net::test::http_client_test {
namespace {

class HttpClientTest : public ClientTest {
 protected:
  // What comes of an answer with these bytes, after which the server closes.
  std::string answer_to(const std::string& bytes, Method method = Method::get) {
    Peer peer(answers(bytes));
    return shown(send({.method = method, .url = peer.url()}));
  }
};

TEST_F(HttpClientTest, SendsTheRequest) {
  std::string received;
  std::string url;
  {
    Peer peer([&](PeerConnection& connection) {
      received = connection.receive_through("body");
      connection.send("HTTP/1.1 201 Created\r\nX-A: b\r\nContent-Length: 2\r\n\r\nhi");
    });
    url = peer.url("");
    auto response = send({.method = Method::post,
                          .url = peer.url("/p?q=1#fragment"),
                          .headers = {{.name = "X-Key", .value = "v"}},
                          .body = "body"});
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, "hi");
    EXPECT_EQ(find_header(response->headers, "x-a"), "b");
  }
  EXPECT_EQ(received,
            cat("POST /p?q=1 HTTP/1.1\r\nHost: ", url.substr(7),
                "\r\nAccept-Encoding: gzip, deflate\r\nX-Key: v\r\nContent-Length: 4\r\n\r\nbody"));
}

TEST_F(HttpClientTest, ReadsEveryFramingOfABody) {
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"), "200 abc");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), "200 ");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
            "200 abcde");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\n\r\nuntil the end"), "200 until the end");
  EXPECT_EQ(answer_to("HTTP/1.0 200 OK\r\n\r\n"), "200 ");
  EXPECT_EQ(answer_to("HTTP/1.1 204 No Content\r\n\r\n"), "204 ");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", Method::head), "200 ");
}

TEST_F(HttpClientTest, ReadsOverInterimAnswers) {
  EXPECT_EQ(answer_to("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"
                      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            "200 ok");
}

TEST_F(HttpClientTest, AnAnswerThatIsCutAnywhereIsUnavailable) {
  for (std::string_view whole :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabcde",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"}) {
    for (std::size_t count = 0; count < whole.size(); ++count) {
      ASSERT_EQ(answer_to(std::string(whole.substr(0, count))), "unavailable")
          << whole.substr(0, count);
    }
    EXPECT_EQ(answer_to(std::string(whole)).substr(0, 4), "200 ");
  }
}

TEST_F(HttpClientTest, SaysWhoseAnswerWasCut) {
  Peer peer(answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"));
  auto response = get(peer.url());
  EXPECT_EQ(shown_error(response.error()), cat("unavailable bad_answer: 127.0.0.1:", peer.port(),
                                               ": the connection ended within the answer"));
}

TEST_F(HttpClientTest, AnAnswerThatIsNotHttpIsUnavailable) {
  EXPECT_EQ(answer_to("SSH-2.0-OpenSSH\r\n\r\n"), "unavailable");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            "unavailable");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
            "unavailable");
}

TEST_F(HttpClientTest, AFloodOfHeadersIsUnavailable) {
  auto floods = [](std::string begin, std::string again) {
    return [=](PeerConnection& peer) {
      peer.receive_head();
      peer.send(begin);
      while (peer.send(again)) {
      }
    };
  };
  Peer endless_line(floods("HTTP/1.1 200 OK\r\nX: ", std::string(1000, 'a')));
  EXPECT_EQ(shown(get(endless_line.url())), "unavailable");
  Peer endless_lines(floods("HTTP/1.1 200 OK\r\n", "X-Name: value\r\n"));
  EXPECT_EQ(shown(get(endless_lines.url())), "unavailable");
  Peer endless_interim(floods("", "HTTP/1.1 102 Processing\r\n\r\n"));
  EXPECT_EQ(shown(get(endless_interim.url())), "unavailable");
}

TEST_F(HttpClientTest, RedirectsAreNotFollowed) {
  std::string seen;
  {
    Peer elsewhere([&](PeerConnection& peer) { seen = peer.receive_head(); });
    Peer peer(answers(cat("HTTP/1.1 307 Temporary Redirect\r\nLocation: ",
                          elsewhere.url("/secret?token=1"), "\r\nContent-Length: 0\r\n\r\n")));
    auto response = get(peer.url());
    EXPECT_EQ(shown_error(response.error()), cat("unsupported redirect: 127.0.0.1:", peer.port(),
                                                 " sends the request on to 127.0.0.1:",
                                                 elsewhere.port(), ", which is not followed"));
  }
  EXPECT_EQ(seen, "");
  EXPECT_EQ(answer_to("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"),
            "unsupported");
  EXPECT_EQ(answer_to("HTTP/1.1 304 Not Modified\r\n\r\n"), "304 ");
}

TEST_F(HttpClientTest, SaysThatNobodyListens) {
  std::uint16_t closed = Peer(std::vector<Peer::Script>()).port();
  auto response = get(cat("http://127.0.0.1:", closed, "/"));
  EXPECT_EQ(shown_error(response.error()), cat("unavailable connect_failed: cannot connect to ",
                                               "127.0.0.1:", closed, ": Connection refused"));
}

TEST_F(HttpClientTest, SaysThatAHostHasNoAddress) {
  auto response = get("http://no-such-host.invalid/");
  EXPECT_EQ(response.error().reason(), "lookup_failed");
  EXPECT_TRUE(response.error().message().starts_with("cannot look up no-such-host.invalid: "));
}

TEST_F(HttpClientTest, GetsTheAnswerOfAServerThatRefusesEarly) {
  TestServer server([](Request) -> Task<Response> { co_return Response(); },
                    {.body_bytes_max = 10});
  auto response = send({.method = Method::post,
                        .url = cat("http://127.0.0.1:", server.port(), "/"),
                        .body = std::string(5'000'000, 'x')});
  EXPECT_EQ(response->status, 413);
}

TEST_F(HttpClientTest, LooksHostNamesUpAndTriesEveryAddress) {
  Peer peer(answers(kOk));  // localhost may be ::1 first, where nobody listens
  EXPECT_EQ(shown(get(cat("http://localhost:", peer.port(), "/"))), "200 ok");
}

TEST_F(HttpClientTest, RefusesHeadersThatWouldForgeOthers) {
  for (Header bad :
       {Header{.name = "X-A", .value = "b\r\nX-C: d"}, Header{.name = "a b"},
        Header{.name = "content-length", .value = "0"}, Header{.name = "Host", .value = "other"}}) {
    auto response = send({.url = "http://127.0.0.1:1/", .headers = {bad}});
    EXPECT_EQ(response.error().code(), ErrorCode::invalid_argument) << bad.name;
  }
}

TEST_F(HttpClientTest, ReadsAStreamAsItComes) {
  std::promise<void> first_read;
  Peer peer([&](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    first_read.get_future().wait();
    connection.send("3\r\ntwo\r\n0\r\n\r\n");
  });
  auto opened = open(peer.url());
  ClientStream& stream = *opened.value();
  EXPECT_EQ(stream.status(), 200);
  EXPECT_EQ(loop_.run(stream.read()).value(), "one");
  first_read.set_value();
  EXPECT_EQ(loop_.run(stream.read()).value(), "two");
  EXPECT_EQ(loop_.run(stream.read()).value(), "");
  EXPECT_EQ(loop_.run(stream.read()).value(), "");
  drop(opened);
}

TEST_F(HttpClientTest, AnInterruptEndsTheWaitForAnAnswerAndClosesTheConnection) {
  Interrupt interrupt;
  Peer peer([&](PeerConnection& connection) {
    connection.receive_head();
    loop_.call([&] { interrupt.raise(); });
    connection.wait_for_close();
  });
  auto response = send({.url = peer.url(), .interrupt = &interrupt});
  EXPECT_EQ(shown(response), "cancelled");
  // It stays raised: nothing is asked any more.
  EXPECT_EQ(shown(send({.url = peer.url(), .interrupt = &interrupt})), "cancelled");
  EXPECT_EQ(peer.accepted(), 1);
}

// Sends one piece of an answer and no more.
void begin_an_answer(PeerConnection& connection) {
  connection.receive_head();
  connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
  connection.wait_for_close();
}

TEST_F(HttpClientTest, AnInterruptEndsTheWaitForMoreOfAnAnswer) {
  Interrupt interrupt;
  Peer peer(begin_an_answer);
  auto opened = loop_.run(client_->open({.url = peer.url(), .interrupt = &interrupt}));
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "one");
  std::thread other([&] { loop_.call([&] { interrupt.raise(); }); });
  EXPECT_EQ(loop_.run(opened.value()->read()).error().code(), ErrorCode::cancelled);
  other.join();
  drop(opened);
}

TEST_F(HttpClientTest, AnInterruptWhileNobodyReadsEndsTheNextRead) {
  Interrupt interrupt;
  Peer peer(begin_an_answer);
  auto opened = loop_.run(client_->open({.url = peer.url(), .interrupt = &interrupt}));
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "one");
  loop_.call([&] { interrupt.raise(); });
  EXPECT_EQ(loop_.run(opened.value()->read()).error().code(), ErrorCode::cancelled);
  drop(opened);
}

TEST_F(HttpClientTest, AStreamThatFailedStaysFailed) {
  Peer peer(answers("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"));
  auto opened = open(peer.url());
  EXPECT_EQ(loop_.run(opened.value()->read()).value(), "abc");
  EXPECT_EQ(loop_.run(opened.value()->read()).error().code(), ErrorCode::unavailable);
  EXPECT_EQ(loop_.run(opened.value()->read()).error().code(), ErrorCode::unavailable);
  drop(opened);
}

TEST_F(HttpClientTest, ALargeBodyComesInSmallPieces) {
  constexpr std::size_t kBytes = 10'000'000;
  Peer peer([kBytes](PeerConnection& connection) {
    connection.receive_head();
    connection.send(cat("HTTP/1.1 200 OK\r\nContent-Length: ", kBytes, "\r\n\r\n"));
    connection.send(std::string(kBytes, 'x'));
  });
  auto opened = open(peer.url());
  std::size_t total = 0;
  std::size_t largest = 0;
  for (;;) {
    std::string piece = loop_.run(opened.value()->read()).value();
    if (piece.empty()) break;
    total += piece.size();
    largest = std::max(largest, piece.size());
  }
  EXPECT_EQ(total, kBytes);
  EXPECT_LE(largest, 16U * 1024);
  drop(opened);
}

TEST(ParseUrl, TakesUrlsApart) {
  EXPECT_EQ(parse_url("http://h").value(),
            (Url{.host = "h", .port = 80, .authority = "h", .target = "/"}));
  EXPECT_EQ(parse_url("HTTP://h:8080/p?q#f").value(),
            (Url{.host = "h", .port = 8080, .authority = "h:8080", .target = "/p?q"}));
  EXPECT_EQ(parse_url("http://[::1]:81?q").value(),
            (Url{.host = "::1", .port = 81, .authority = "[::1]:81", .target = "/?q"}));
  EXPECT_EQ(
      parse_url("https://h/").value(),
      (Url{.scheme = Scheme::https, .host = "h", .port = 443, .authority = "h", .target = "/"}));
  EXPECT_EQ(parse_url("https://h:8443").value().endpoint(), "h:8443");
  EXPECT_EQ(parse_url("https://[::1]").value().endpoint(), "[::1]:443");
}

TEST(ParseUrl, RefusesOthers) {
  EXPECT_EQ(parse_url("ftp://h/").error().code(), ErrorCode::unsupported);
  for (const char* url :
       {"", "h/p", "http://", "http:///p", "http://h:x/", "http://h:0/", "http://h:70000/",
        "http://[::1/", "http://u@h/", "http://h/a b", "http://h/\r\nX: y"}) {
    auto parsed = parse_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code(), ErrorCode::invalid_argument) << url;
  }
}

}  // namespace
}  // namespace errand::net::test::http_client_test
