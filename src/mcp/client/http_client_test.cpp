#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "json/member_text.hpp"
#include "mcp/client/test_fake_server.hpp"
#include "net/server/test_support.hpp"
#include "net/url.hpp"
#include "support/kept_span_notes.hpp"

namespace errand::mcp::test::http_client_test {
namespace {

using net::Request;
using net::Response;

// Frames that are all there at once; then the stream ends.
class FixedFeed final : public net::EventFeed {
 public:
  explicit FixedFeed(std::string frames) : frames_(std::move(frames)) {}
  Task<Chunk> read(SteadyTime) override {
    co_return Chunk{.state = State::ended, .frames = std::move(frames_)};
  }
  void interrupt() override {}

 private:
  std::string frames_;
};

Response json_answer(std::string_view id, std::string_view result) {
  return {.body = cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":)", result, "}")};
}

Response stream_answer(std::string frames) {
  Response response;
  response.content_type = "text/event-stream";
  response.events = std::make_unique<FixedFeed>(std::move(frames));
  return response;
}

Response status(int number, std::string body = "") {
  return {.status = number, .body = std::move(body)};
}

std::string method_of(const Request& request) {
  std::string_view quoted = json::member_text(request.body, "method");
  return quoted.size() < 2 ? "" : std::string(quoted.substr(1, quoted.size() - 2));
}
std::string id_of(const Request& request) {
  return std::string(json::member_text(request.body, "id"));
}

constexpr std::string_view kInitialized =
    R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"h"}})";
constexpr std::string_view kResult = R"({"content":[{"type":"text","text":"hi"}]})";

// A server on a thread of its own that answers as `replies_` says, by the method of the message or
// "GET".
class HttpClientTest : public ClientTest {
 protected:
  using Reply = std::function<Response(const Request&)>;

  HttpClientTest() : web_([this](Request request) { return answer(std::move(request)); }) {
    on("server/discover", [](const Request&) { return status(400, "no session"); });
    on("initialize", [](const Request& request) {
      Response response = json_answer(id_of(request), kInitialized);
      response.headers.push_back({"MCP-Session-Id", "s1"});
      return response;
    });
    on("notifications/initialized", [](const Request&) { return status(202); });
    on("GET", [](const Request&) { return status(405); });
    on("tools/call", [](const Request& request) { return json_answer(id_of(request), kResult); });
  }

  ServerAddress address() override {
    return HttpServer{.url = cat("http://127.0.0.1:", web_.port(), "/mcp"),
                      .headers = {{"Authorization", "Bearer k"}}};
  }
  void on(std::string method, Reply reply) {
    std::lock_guard lock(mutex_);
    replies_[std::move(method)] = std::move(reply);
  }
  // Requests of this method are not answered.
  void hang_on(std::string method) {
    std::lock_guard lock(mutex_);
    hanging_ = std::move(method);
  }
  // "method session version last-event-id" of each request.
  std::vector<std::string> seen() {
    std::lock_guard lock(mutex_);
    return seen_;
  }
  std::ptrdiff_t calls() {
    auto all = seen();
    return std::count_if(all.begin(), all.end(),
                         [](const std::string& one) { return one.starts_with("tools/call"); });
  }

 private:
  Task<Response> answer(Request request) {
    std::string method(request.method == net::Method::post ? method_of(request)
                                                           : net::to_string(request.method));
    Reply reply;
    bool hangs = false;
    {
      std::lock_guard lock(mutex_);
      std::string line = method;
      for (const char* name : {"MCP-Session-Id", "MCP-Protocol-Version", "Last-Event-ID"}) {
        if (!request.header(name).empty()) append(line, " ", request.header(name));
      }
      seen_.push_back(line);
      reply = replies_[method];
      hangs = method == hanging_;
    }
    if (hangs) {
      SteadyTimer never(co_await asio::this_coro::executor, SteadyTime::max());
      co_await never.async_wait(as_result);
    }
    EXPECT_EQ(request.header("Authorization"), "Bearer k");
    co_return reply ? reply(request) : status(404);
  }

  std::mutex mutex_;
  std::map<std::string, Reply> replies_;
  std::vector<std::string> seen_;
  std::string hanging_;
  net::test::TestServer web_;
};

TEST_F(HttpClientTest, ASessionAndItsVersionAreNamedAfterTheHandshake) {
  EXPECT_EQ(shown(call()), "ok: hi");
  auto requests = seen();
  std::erase(requests, "GET s1 2025-06-18");  // comes at any time
  EXPECT_EQ(requests,
            (Names{"server/discover 2026-07-28", "initialize",
                   "notifications/initialized s1 2025-06-18", "tools/call s1 2025-06-18"}));
}

TEST_F(HttpClientTest, TheSpanOfACallIsToldOfTheServerButNotOfTheSession) {
  KeptSpanNotes span;
  EXPECT_EQ(shown(call({.span = &span})), "ok: hi");
  const auto server = net::parse_url(std::get<HttpServer>(address()).url).value();
  const std::map<std::string, std::string> wanted{{"mcp.method.name", "tools/call"},
                                                  {"mcp.protocol.version", "2025-06-18"},
                                                  {"network.transport", "tcp"},
                                                  {"server.address", server.host},
                                                  {"server.port", std::to_string(server.port)}};
  EXPECT_EQ(span.notes, wanted);
}

TEST_F(HttpClientTest, ANoticeThatTheServerHangsOverHoldsUpNoCallForEver) {
  start({.answer_time = milliseconds(300)});
  hang_on("notifications/initialized");
  EXPECT_EQ(shown(call()), "ok: hi");
}

// A server that says it tells of changes, and has no open stream to do so.
class UnheardChangesTest : public HttpClientTest {
 protected:
  UnheardChangesTest() {
    on("initialize", [](const Request& request) {
      return json_answer(id_of(request), R"({"protocolVersion":"2025-06-18",)"
                                         R"("capabilities":{"tools":{"listChanged":true}}})");
    });
    offer("one");
    start({.unwatched_time = milliseconds(0)});
  }
  void offer(std::string name) {
    on("tools/list", [name = std::move(name)](const Request& request) {
      return json_answer(id_of(request),
                         cat(R"({"tools":[{"name":")", name, R"(","inputSchema":{}}]})"));
    });
  }
  void expect_fresh_tools() {
    EXPECT_EQ(tools(), Names{"one"});
    offer("two");
    run_ready(io_);
    EXPECT_EQ(tools(), Names{"two"});
  }
};

TEST_F(UnheardChangesTest, AStreamThatIsRefusedTellsOfNoChanges) {
  expect_fresh_tools();
}

TEST_F(UnheardChangesTest, AStreamThatHasEndedTellsOfNoChanges) {
  on("GET", [](const Request&) { return stream_answer("retry: 60000\n\n"); });
  EXPECT_TRUE(run_task(io_, client().connect()));
  run_until(io_, [this] {
    auto all = seen();
    return std::any_of(all.begin(), all.end(),
                       [](const std::string& one) { return one.starts_with("GET"); });
  });
  expect_fresh_tools();
}

TEST_F(HttpClientTest, ASessionThatTheServerHasEndedIsBegunAnew) {
  on("tools/call", [](const Request& request) {
    if (request.header("MCP-Session-Id") == "s1") return status(404);
    return json_answer(id_of(request), kResult);
  });
  EXPECT_TRUE(run_task(io_, client().connect()));
  on("initialize", [](const Request& request) {
    Response response = json_answer(id_of(request), kInitialized);
    response.headers.push_back({"MCP-Session-Id", "s2"});
    return response;
  });
  EXPECT_EQ(shown(call()), "ok: hi");
  EXPECT_EQ(seen().back(), "tools/call s2 2025-06-18");
  EXPECT_EQ(calls(), 2);
}

TEST_F(HttpClientTest, ASessionIsEndedWithItsClient) {
  EXPECT_EQ(shown(call()), "ok: hi");
  run_task(io_, client_->stop());
  EXPECT_EQ(seen().back(), "DELETE s1 2025-06-18");
  run_task(io_, client_->stop());
  auto all = seen();
  EXPECT_EQ(std::count(all.begin(), all.end(), "DELETE s1 2025-06-18"), 1);
}

TEST_F(HttpClientTest, AServerThatHangsOverTheEndOfASessionHoldsUpNobodyForEver) {
  EXPECT_EQ(shown(call()), "ok: hi");
  hang_on("DELETE");
  run_task(io_, client_->stop());
}

TEST_F(HttpClientTest, AStreamThatEndsBeforeTheAnswerIsResumed) {
  on("tools/call", [](const Request&) { return stream_answer("id: e7\nretry: 1\ndata: \n\n"); });
  EXPECT_TRUE(run_task(io_, client().connect()));
  on("GET", [](const Request& request) {
    if (request.header("Last-Event-ID") != "e7") return status(405);
    return stream_answer(cat(R"(data: {"jsonrpc":"2.0","id":3,"result":)", kResult, "}\n\n"));
  });
  EXPECT_EQ(shown(call()), "ok: hi");
  EXPECT_EQ(seen().back(), "GET s1 2025-06-18 e7");
  EXPECT_EQ(calls(), 1);
}

TEST_F(HttpClientTest, AStreamThatCannotBeResumedLeavesTheOutcomeUnknown) {
  on("tools/call", [](const Request&) { return stream_answer(": nothing\n\n"); });
  EXPECT_EQ(shown(call()),
            "outcome_unknown: no answer came: the MCP server ended its stream without an answer");
  EXPECT_EQ(calls(), 1);
}

TEST_F(HttpClientTest, ProgressComesBeforeTheAnswerOnTheSameStream) {
  on("tools/call", [](const Request& request) {
    return stream_answer(cat(
        R"(data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":)",
        id_of(request), R"(,"progress":1}})", "\n\n", R"(data: {"jsonrpc":"2.0","id":)",
        id_of(request), R"(,"result":)", kResult, "}\n\n"));
  });
  int progress = 0;
  EXPECT_EQ(shown(call({.on_progress = [&](const rpc::Progress&) { ++progress; }})), "ok: hi");
  EXPECT_EQ(progress, 1);
}

TEST_F(HttpClientTest, AModernCallRepeatsItselfInHeaders) {
  std::string headers;
  on("server/discover", [](const Request& request) {
    return json_answer(id_of(request),
                       R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  });
  on("tools/list", [](const Request& request) {
    return json_answer(id_of(request), R"({"tools":[{"name":"one","inputSchema":{"type":"object",
        "properties":{"x":{"type":"integer","x-mcp-header":"X"}}}}],"ttlMs":1000000})");
  });
  on("tools/call", [&headers](const Request& request) {
    headers = cat(request.header("Mcp-Method"), " ", request.header("Mcp-Name"), " ",
                  request.header("Mcp-Param-X"), " ", request.header("MCP-Protocol-Version"));
    return json_answer(id_of(request), kResult);
  });
  EXPECT_EQ(tools(), Names{"one"});
  EXPECT_EQ(shown(call()), "ok: hi");
  EXPECT_EQ(headers, "tools/call one 1 2026-07-28");
}

TEST_F(HttpClientTest, ACallTellsItsPlaceInTheTraceInAHeaderToo) {
  std::string header;
  on("server/discover", [](const Request& request) {
    return json_answer(id_of(request),
                       R"({"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}})");
  });
  on("tools/call", [&header](const Request& request) {
    header = request.header("traceparent");
    return json_answer(id_of(request), kResult);
  });
  EXPECT_EQ(shown(call()), "ok: hi");
  EXPECT_EQ(header, "");
  auto answer = run_task(
      io_,
      client().call_tool({.name = "one", .arguments = {}, .meta = {{"traceparent", "00-a-b-01"}}}));
  EXPECT_TRUE(answer);
  EXPECT_EQ(header, "00-a-b-01");
}

TEST_F(HttpClientTest, ACredentialThatIsMissingIsSaid) {
  on("server/discover", [](const Request&) { return status(401); });
  auto error = run_task(io_, client().connect()).error();
  EXPECT_EQ(error.code(), ErrorCode::unauthorized);
  EXPECT_EQ(seen(), Names{"server/discover 2026-07-28"});
}

TEST_F(HttpClientTest, AnAnswerThatIsTooLargeIsNotKept) {
  on("tools/call", [](const Request& request) {
    return json_answer(id_of(request), cat("\"", std::string(20'000'000, 'x'), "\""));
  });
  EXPECT_EQ(shown(call()), "too_large: the answer is too large: more than 16777216 bytes");
}

TEST_F(HttpClientTest, AnAnswerThatIsNoAnswerIsAnError) {
  on("tools/call", [](const Request&) { return Response{.body = "<html>"}; });
  EXPECT_EQ(shown(call()), "unsupported: the MCP server's answer is not one to the request");
}

TEST_F(HttpClientTest, AFloodOfEventsDoesNotStopTheAnswer) {
  on("tools/call", [](const Request& request) {
    std::string frames;
    for (int i = 0; i < 20'000; ++i) frames += "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n";
    append(frames, R"(data: {"jsonrpc":"2.0","id":)", id_of(request), R"(,"result":)", kResult,
           "}\n\n");
    return stream_answer(std::move(frames));
  });
  EXPECT_EQ(shown(call()), "ok: hi");
}

TEST_F(HttpClientTest, AnErrorStatusOfACallIsNotTakenForItsOutcome) {
  on("tools/call", [](const Request&) { return status(502); });
  EXPECT_TRUE(shown(call()).starts_with("outcome_unknown: "));
  EXPECT_EQ(calls(), 1);
}

TEST_F(HttpClientTest, AServerThatIsNotThereIsAnError) {
  on("server/discover", [](const Request&) { return status(404); });
  on("initialize", [](const Request&) { return status(404); });
  auto error = run_task(io_, client().connect()).error();
  EXPECT_EQ(error.reason(), "http_404");
}

TEST_F(HttpClientTest, OldStreamsMayNotLeadToAnotherOrigin) {
  on("server/discover", [](const Request&) { return status(404); });
  on("initialize", [](const Request&) { return status(404); });
  on("GET", [](const Request&) {
    return stream_answer("event: endpoint\ndata: http://example.com/messages\n\n");
  });
  auto error = run_task(io_, client().connect()).error();
  EXPECT_EQ(error.reason(), "http_404");  // the first failure
  EXPECT_EQ(seen(), (Names{"server/discover 2026-07-28", "initialize", "GET"}));
}

}  // namespace
}  // namespace errand::mcp::test::http_client_test
