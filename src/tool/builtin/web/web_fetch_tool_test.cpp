#include "tool/builtin/web/web_fetch_tool.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "net/client/test_peer.hpp"
#include "tool/builtin/web/web_page.hpp"

namespace errand::web_fetch_tool_test {
namespace {

using net::test::answers;
using net::test::Loop;
using net::test::Peer;
using net::test::PeerConnection;

std::string answer(std::string_view type, std::string_view body, std::string_view status = "200 OK",
                   std::string_view headers = "") {
  return cat("HTTP/1.1 ", status, "\r\nContent-Type: ", type, "\r\nContent-Length: ", body.size(),
             "\r\n", headers, "\r\n", body);
}
std::string redirect(std::string_view location) {
  return cat("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close\r\nLocation: ", location,
             "\r\n\r\n");
}

class WebFetchToolTest : public testing::Test {
 protected:
  explicit WebFetchToolTest(std::vector<std::string> allowed = {"127.0.0.0/8"},
                            WebFetchLimits limits = {}) {
    net::ClientOptions options{.addresses = net::AddressRules::parse(allowed).value()};
    tool_ = std::make_unique<WebFetchTool>(std::move(options), pool_, limits);
  }
  ~WebFetchToolTest() override {
    loop_.call([this] { tool_.reset(); });
  }

  // "ok: text" or "failed: text".
  std::string fetch(json::Object arguments) {
    ToolCall call{.run = *RunId::parse("run_1"),
                  .id = *ToolUseId::parse("tu_1"),
                  .arguments = std::move(arguments)};
    ToolOutcome result = loop_.run(tool_->invoke(std::move(call), {}));
    return cat(result.ok() ? "ok: " : "failed: ", text_of(result));
  }
  std::string fetch(const std::string& url) { return fetch({{"url", url}}); }

  BlockingPool pool_{1, 8};
  Loop loop_;
  std::unique_ptr<WebFetchTool> tool_;
};

TEST_F(WebFetchToolTest, APageComesAsMarkdown) {
  Peer peer(answers(answer("text/html; charset=iso-8859-1",
                           "<title>T</title><main><h1>Gr\xFC\xDF</h1><a href=x>y</a></main>")));
  EXPECT_EQ(fetch(peer.url("/p/")),
            cat("ok: URL: ", peer.url("/p/"), "\nTitle: T\n\n# Gr\xC3\xBC\xC3\x9F\n\n[y](",
                peer.url("/p/x"), ")\n"));
}

TEST_F(WebFetchToolTest, TextAndJsonComeAsTheyAre) {
  Peer json(answers(answer("application/json", "{\"a\": 1}")));
  EXPECT_EQ(fetch(json.url()), cat("ok: URL: ", json.url(), "\n\n{\"a\": 1}"));
  Peer text(answers(answer("text/plain", "<b>not a tag</b>\n")));
  EXPECT_EQ(fetch(text.url()), cat("ok: URL: ", text.url(), "\n\n<b>not a tag</b>\n"));
}

TEST_F(WebFetchToolTest, WithoutATypeTheBytesDecide) {
  Peer page(answers("HTTP/1.1 200 OK\r\n\r\n<!DOCTYPE html><p>hi"));
  EXPECT_EQ(fetch(page.url()), cat("ok: URL: ", page.url(), "\n\nhi\n"));
  Peer data(answers(cat("HTTP/1.1 200 OK\r\n\r\n", std::string(1, '\0'), "ELF")));
  EXPECT_EQ(fetch(data.url()),
            "failed: the page is of type unknown (4 bytes), which cannot be read as text");
}

TEST_F(WebFetchToolTest, OtherTypesAreNamedAndNotRead) {
  Peer peer([](PeerConnection& connection) {
    connection.receive_head();
    connection.send(
        "HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Length: 9000000\r\n\r\n");
    connection.wait_for_close();
  });
  EXPECT_EQ(
      fetch(peer.url()),
      "failed: the page is of type application/pdf (9000000 bytes), which cannot be read as text");
}

TEST_F(WebFetchToolTest, AStatusOfFailureIsAFailureWithItsText) {
  Peer peer(answers(answer("text/html", "<p>no such page", "404 Not Found")));
  EXPECT_EQ(fetch(peer.url()),
            cat("failed: URL: ", peer.url(), "\nHTTP status: 404\n\nno such page\n"));
}

TEST_F(WebFetchToolTest, ALongTextIsReadInParts) {
  Peer::Script script = answers(answer("text/plain; charset=utf-8",
                                       "0123\xC3\xA4"
                                       "5678"));
  Peer peer(std::vector<Peer::Script>{script, script, script});
  std::string head = cat("ok: URL: ", peer.url(), "\n\n");
  EXPECT_EQ(fetch({{"url", peer.url()}, {"maxChars", 5}}),
            head + "0123\xC3\xA4\n[characters 0 to 5 of 9; call again with start 5 to read on]");
  EXPECT_EQ(fetch({{"url", peer.url()}, {"maxChars", 5}, {"start", 5}}),
            head + "5678\n[characters 5 to 9 of 9]");
  EXPECT_EQ(fetch({{"url", peer.url()}, {"start", 9}}), head + "[the text has only 9 characters]");
}

TEST_F(WebFetchToolTest, RedirectsAreFollowed) {
  Peer there(answers(answer("text/plain", "there")));
  Peer peer(
      std::vector<Peer::Script>{answers(redirect("/next")), answers(redirect(there.url("/x")))});
  EXPECT_EQ(fetch(peer.url()), cat("ok: URL: ", there.url("/x"), "\n\nthere"));
}

TEST_F(WebFetchToolTest, ALoopOfRedirectsComesToAnEnd) {
  Peer peer(std::vector<Peer::Script>(6, answers(redirect("/"))));
  EXPECT_EQ(
      fetch(peer.url()),
      cat("failed: the page leads on to another more than 5 times; the last is ", peer.url()));
  EXPECT_EQ(peer.accepted(), 6);
}

TEST_F(WebFetchToolTest, ARedirectToAPrivateAddressIsRefused) {
  Peer peer(answers(redirect("http://10.0.0.1/secret")));
  EXPECT_EQ(fetch(peer.url()), "failed: 10.0.0.1:80 is at 10.0.0.1, which is not a public address");
}

TEST_F(WebFetchToolTest, ARedirectToAnotherSchemeIsRefused) {
  Peer peer(answers(redirect("file:///etc/passwd")));
  EXPECT_EQ(fetch(peer.url()),
            cat("failed: ", peer.url(),
                " leads on to file:///etc/passwd, which is not http:// or https://"));
}

TEST_F(WebFetchToolTest, OnlyUrlsOfTheWebAreTaken) {
  EXPECT_EQ(fetch("file:///etc/passwd"),
            "failed: URLs with file:// are not supported, only http:// and https://");
  EXPECT_EQ(fetch("example.com"), "failed: the URL must begin with http:// or https://");
  EXPECT_EQ(fetch("http://user:pw@example.com/"), "failed: the URL must not hold a user name");
  EXPECT_EQ(fetch(json::Object{}), "failed: \"url\" is missing: expected a string (at /url)");
  EXPECT_EQ(fetch("http://x/" + std::string(9'000, 'x')), "failed: the URL is too long (at /url)");
}

TEST_F(WebFetchToolTest, ABodyThatIsShorterThanItSaysIsAFailure) {
  Peer peer(
      answers("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\nshort"));
  EXPECT_EQ(fetch(peer.url()),
            cat("failed: 127.0.0.1:", peer.port(), ": the connection ended within the answer"));
}

TEST_F(WebFetchToolTest, APageWithoutTextSaysSo) {
  Peer peer(answers(answer("text/html", "<script>app()</script>")));
  EXPECT_EQ(fetch(peer.url()),
            cat("ok: URL: ", peer.url(),
                "\n\n[there is no text here; a page may need JavaScript to show any]"));
}

TEST_F(WebFetchToolTest, SaysThatItOnlyReads) {
  EXPECT_EQ(tool_->decl().annotations,
            (ToolAnnotations{.read_only = true, .idempotent = true, .parallel_safe = true}));
}

class StrictWebFetchTest : public WebFetchToolTest {
 protected:
  StrictWebFetchTest() : WebFetchToolTest({}) {}
};

TEST_F(StrictWebFetchTest, ThisMachineIsNotReachedUnlessItIsAllowed) {
  Peer peer(answers(answer("text/plain", "inside")));
  EXPECT_EQ(fetch(peer.url()), cat("failed: 127.0.0.1:", peer.port(),
                                   " is at 127.0.0.1, which is not a public address"));
  EXPECT_EQ(peer.accepted(), 0);
}

class SmallWebFetchTest : public WebFetchToolTest {
 protected:
  SmallWebFetchTest()
      : WebFetchToolTest({"127.0.0.0/8"}, {.time = milliseconds(50), .body_bytes = 1000}) {}
};

TEST_F(SmallWebFetchTest, ABodyThatDripsMeetsTheTimeLimit) {
  Peer peer([](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    connection.wait_for_close();
  });
  std::string outcome = fetch(peer.url());
  EXPECT_TRUE(outcome.starts_with("failed: the total timeout of ")) << outcome;
}

class CutWebFetchTest : public WebFetchToolTest {
 protected:
  CutWebFetchTest() : WebFetchToolTest({"127.0.0.0/8"}, {.body_bytes = 1000}) {}
};

TEST_F(CutWebFetchTest, ABodyWithoutEndIsCut) {
  Peer peer([](PeerConnection& connection) {
    connection.receive_head();
    connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    while (connection.send(std::string(500, 'x'))) {
    }
  });
  EXPECT_EQ(fetch(peer.url()), cat("ok: URL: ", peer.url(), "\n\n", std::string(1000, 'x'),
                                   "\n[the page is too large: its end is missing]"));
}

// 100,000 times "a" in 133 bytes of gzip.
std::string packed_a() {
  constexpr std::string_view kBegin(
      "\x1f\x8b\x08\0\0\0\0\0\x02\x03\xed\xc1\x31\x01\0\0\0\xc2\xa0\xac\xeb\x5f\xc2\x1a\x1e\x40"
      "\x01",
      27);
  constexpr std::string_view kEnd("\xaf\x06\x87\xfa\xe2\x1b\xa0\x86\x01\0", 10);
  return cat(kBegin, std::string(96, '\0'), kEnd);
}

TEST_F(CutWebFetchTest, WhatIsPackedCountsUnpacked) {
  Peer peer(answers(answer("text/plain", packed_a(), "200 OK", "Content-Encoding: gzip\r\n")));
  EXPECT_EQ(fetch(peer.url()), cat("ok: URL: ", peer.url(), "\n\n", std::string(1000, 'a'),
                                   "\n[the page is too large: its end is missing]"));
}

}  // namespace
}  // namespace errand::web_fetch_tool_test
