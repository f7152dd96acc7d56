#include "net/http_client.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>

#include "net/test_support.hpp"
#include "net/url.hpp"

namespace errand::net::test {
namespace {

// Takes one connection and lets the test answer on it, byte by byte.
class RawServer final {
 public:
  using Script = std::function<void(RawServer&)>;

  explicit RawServer(Script script) : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::listen(listener_, 1), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, script = std::move(script)] {
      peer_ = ::accept(listener_, nullptr, nullptr);
      script(*this);
      ::close(peer_);
    });
  }
  ~RawServer() {
    thread_.join();
    ::close(listener_);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::string url(std::string_view target) const { return cat("http://127.0.0.1:", port_, target); }

  // What the client sends, up to and including `pattern`.
  std::string receive_through(std::string_view pattern) {
    std::string received;
    char c = 0;
    while (received.find(pattern) == std::string::npos && ::recv(peer_, &c, 1, 0) == 1) {
      received.push_back(c);
    }
    return received;
  }
  void send(std::string_view bytes) {
    EXPECT_EQ(::send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Waits until the client has closed its side.
  void wait_for_close() { receive_through("never sent"); }

 private:
  int listener_;
  int peer_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

RawServer::Script answers(std::string bytes) {
  return [bytes = std::move(bytes)](RawServer& server) {
    server.receive_through("\r\n\r\n");
    server.send(bytes);
  };
}

class HttpClientTest : public testing::Test {
 protected:
  Result<ClientResponse> send(ClientRequest request, SteadyTime deadline = soon()) {
    return loop_.run(client_.send(std::move(request), deadline));
  }
  Result<ClientResponse> get(const std::string& url) {
    return send({.method = Method::get, .url = url, .headers = {}, .body = {}});
  }
  // "status body", or the code of the error.
  std::string answer_to(const std::string& bytes, Method method = Method::get) {
    RawServer server(answers(bytes));
    auto response = send({.method = method, .url = server.url("/"), .headers = {}, .body = {}});
    if (!response) return std::string(to_string(response.error().code()));
    return cat(response->status, " ", response->body);
  }

  Loop loop_;
  HttpClient client_{loop_.home().executor()};
};

TEST_F(HttpClientTest, SendsTheRequest) {
  std::string received;
  std::string url;
  {
    RawServer server([&](RawServer& peer) {
      received = peer.receive_through("body");
      peer.send("HTTP/1.1 201 Created\r\nX-A: b\r\nContent-Length: 2\r\n\r\nhi");
    });
    url = server.url("");
    auto response = send({.method = Method::post,
                          .url = server.url("/p?q=1#fragment"),
                          .headers = {{.name = "X-Key", .value = "v"}},
                          .body = "body"});
    EXPECT_EQ(response->status, 201);
    EXPECT_EQ(response->body, "hi");
    EXPECT_EQ(find_header(response->headers, "x-a"), "b");
  }
  EXPECT_EQ(received, cat("POST /p?q=1 HTTP/1.1\r\nHost: ", url.substr(7),
                          "\r\nConnection: close\r\nX-Key: v\r\nContent-Length: 4\r\n\r\nbody"));
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

TEST_F(HttpClientTest, DoesNotFollowRedirects) {
  EXPECT_EQ(answer_to("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"), "302 ");
}

TEST_F(HttpClientTest, AnAnswerThatIsCutOffIsUnavailable) {
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc"), "unavailable");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
            "unavailable");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nContent-"), "unavailable");
  EXPECT_EQ(answer_to(""), "unavailable");
}

TEST_F(HttpClientTest, AnAnswerThatIsNotHttpIsUnavailable) {
  EXPECT_EQ(answer_to("SSH-2.0-OpenSSH\r\n\r\n"), "unavailable");
  EXPECT_EQ(answer_to("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            "unavailable");
}

TEST_F(HttpClientTest, SaysThatNobodyListens) {
  auto closed = [] {
    RawServer server([](RawServer&) {});
    RawClient client(parse_url(server.url("/")).value().port);
    return server.url("/");
  }();
  auto response = get(closed);
  EXPECT_EQ(response.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(response.error().message(),
            cat("cannot connect to ", parse_url(closed).value().authority, ": Connection refused"));
}

TEST_F(HttpClientTest, GivesUpAtTheDeadline) {
  RawServer server([](RawServer& peer) { peer.wait_for_close(); });
  auto response = send({.method = Method::get, .url = server.url("/"), .headers = {}, .body = {}},
                       std::chrono::steady_clock::now() + milliseconds(30));
  EXPECT_EQ(response.error().code(), ErrorCode::timeout);
}

TEST_F(HttpClientTest, GetsTheAnswerOfAServerThatRefusesEarly) {
  TestServer server([](Request) -> Task<Response> { co_return Response(); },
                    {.body_bytes_max = 10});
  auto response = send({.method = Method::post,
                        .url = cat("http://127.0.0.1:", server.port(), "/"),
                        .headers = {},
                        .body = std::string(5'000'000, 'x')});
  EXPECT_EQ(response->status, 413);
}

TEST_F(HttpClientTest, LooksHostNamesUp) {
  RawServer server(answers("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"));
  auto port = parse_url(server.url("/")).value().port;
  EXPECT_EQ(get(cat("http://localhost:", port, "/"))->body, "ok");
}

TEST_F(HttpClientTest, RefusesHeadersThatWouldForgeOthers) {
  auto response = send({.method = Method::get,
                        .url = "http://127.0.0.1:1/",
                        .headers = {{.name = "X-A", .value = "b\r\nX-C: d"}},
                        .body = {}});
  EXPECT_EQ(response.error().code(), ErrorCode::invalid_argument);
}

TEST_F(HttpClientTest, ReadsAStreamAsItComes) {
  std::promise<void> first_read;
  RawServer server([&](RawServer& peer) {
    peer.receive_through("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    first_read.get_future().wait();
    peer.send("3\r\ntwo\r\n0\r\n\r\n");
  });
  auto opened = loop_.run(client_.open(
      {.method = Method::get, .url = server.url("/"), .headers = {}, .body = {}}, soon()));
  ClientStream& stream = *opened.value();
  EXPECT_EQ(stream.status(), 200);
  EXPECT_EQ(loop_.run(stream.read(soon())).value(), "one");
  auto too_early = loop_.run(stream.read(std::chrono::steady_clock::now() + milliseconds(10)));
  EXPECT_EQ(too_early.error().code(), ErrorCode::timeout);
  first_read.set_value();
  EXPECT_EQ(loop_.run(stream.read(soon())).value(), "two");
  EXPECT_EQ(loop_.run(stream.read(soon())).value(), "");
  loop_.call([&] { opened.value().reset(); });
}

TEST_F(HttpClientTest, DestroyingAStreamClosesTheConnection) {
  RawServer server([](RawServer& peer) {
    peer.receive_through("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    peer.wait_for_close();
  });
  auto opened = loop_.run(client_.open(
      {.method = Method::get, .url = server.url("/"), .headers = {}, .body = {}}, soon()));
  loop_.call([&] { opened.value().reset(); });
}

TEST(ParseUrl, TakesHttpUrlsApart) {
  EXPECT_EQ(parse_url("http://h").value(),
            (Url{.host = "h", .port = 80, .authority = "h", .target = "/"}));
  EXPECT_EQ(parse_url("HTTP://h:8080/p?q#f").value(),
            (Url{.host = "h", .port = 8080, .authority = "h:8080", .target = "/p?q"}));
  EXPECT_EQ(parse_url("http://[::1]:81?q").value(),
            (Url{.host = "::1", .port = 81, .authority = "[::1]:81", .target = "/?q"}));
}

TEST(ParseUrl, RefusesOthers) {
  EXPECT_EQ(parse_url("https://h/").error().code(), ErrorCode::unsupported);
  for (const char* url :
       {"", "h/p", "http://", "http:///p", "http://h:x/", "http://h:0/", "http://h:70000/",
        "http://[::1/", "http://u@h/", "http://h/a b", "http://h/\r\nX: y"}) {
    auto parsed = parse_url(url);
    ASSERT_FALSE(parsed) << url;
    EXPECT_EQ(parsed.error().code(), ErrorCode::invalid_argument) << url;
  }
}

}  // namespace
}  // namespace errand::net::test
