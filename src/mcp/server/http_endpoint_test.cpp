#include "mcp/server/http_endpoint.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>

#include "base/text.hpp"
#include "json/write.hpp"
#include "mcp/codec.hpp"
#include "support/run_task.hpp"

namespace errand::mcp::http_endpoint_test {
namespace {

void report_bug(const char* task, const std::string& what) {
  ADD_FAILURE() << task << ": " << what;
}

// One tool that answers at once, one that reports first, one that never ends, one that waits
// until it is cancelled, and one that asks.
class Slow final : public ServerFeatures {
 public:
  ServerOffer offer() const override {
    return {.server = {.name = "s", .version = "1"}, .tools = true};
  }
  Task<Result<std::vector<Tool>>> tools() override {
    co_return std::vector<Tool>{{.name = "quick", .input_schema = {{"type", "object"}}}};
  }
  Task<Result<CallOutcome>> call_tool(ServeToolParams params, ServedCall* call) override {
    if (params.name == "report") call->report({.progress = 1});
    if (params.name == "hang") {
      ++running;
      Ended ended(*this);
      SteadyTimer never(co_await asio::this_coro::executor, SteadyTime::max());
      co_await never.async_wait(as_result);
    }
    if (params.name == "wait") {
      Wakeup over(co_await asio::this_coro::executor);
      Interrupt::Scope waiting(&call->interrupt(), [&over] { over.notify(); });
      while (!call->interrupt().is_raised()) co_await over.wait();
    }
    if (params.name == "ask") {
      auto roots = co_await call->ask("roots/list", {});
      co_return text(roots ? json::write(*roots) : roots.error().message());
    }
    co_return text("done");
  }

  int running = 0;

 private:
  struct Ended {
    explicit Ended(Slow& of) : slow(of) {}
    ~Ended() { --slow.running; }
    Slow& slow;
  };
  static CallOutcome text(std::string value) {
    return CallToolResult{.content = {TextContent{std::move(value)}}};
  }
};

constexpr std::string_view kInitialize =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}})";

struct Seen {
  int status = 0;
  std::string body;
  std::string session;
  std::unique_ptr<net::EventFeed> events;
};

class HttpEndpointTest : public testing::Test {
 protected:
  ~HttpEndpointTest() override { run_task(io_, endpoint_.stop()); }

  Seen send(net::Request request, std::string owner = "a") {
    net::Response response = run_task(
        io_, endpoint_.handle(std::move(request), {.owner = std::move(owner), .features = slow_}));
    return {.status = response.status,
            .body = response.body,
            .session = std::string(net::find_header(response.headers, "MCP-Session-Id")),
            .events = std::move(response.events)};
  }
  static net::Request post(std::string body, std::vector<net::Header> headers = {}) {
    net::Request request{.method = net::Method::post, .headers = std::move(headers)};
    request.body = std::move(body);
    if (request.header("Content-Type").empty()) {
      request.headers.push_back({"Content-Type", "application/json"});
    }
    if (request.header("Accept").empty()) {
      request.headers.push_back({"Accept", "application/json, text/event-stream"});
    }
    return request;
  }
  static net::Request modern(std::string method, json::Object params = {}) {
    params["_meta"] = modern_meta({.name = "c", .version = "1"}, {});
    std::vector<net::Header> headers{{"MCP-Protocol-Version", std::string(kModernVersion)},
                                     {"Mcp-Method", method}};
    if (params.contains("name")) {
      headers.push_back({"Mcp-Name", std::string(json::view(params["name"].as_string()))});
    }
    rpc::Request request{.id = 7, .method = std::move(method), .params = std::move(params)};
    return post(rpc::write(request), std::move(headers));
  }
  Seen call_modern(std::string tool) {
    return send(modern("tools/call", {{"name", tool}, {"arguments", json::Object()}}));
  }
  static net::Request in_session(const std::string& session, std::string body) {
    return post(std::move(body), {{"MCP-Session-Id", session}});
  }
  static std::string call_text(int id, std::string_view tool) {
    return cat(R"({"jsonrpc":"2.0","id":)", id, R"(,"method":"tools/call","params":{"name":")",
               tool, R"(","arguments":{}}})");
  }
  std::string initialize(std::string owner = "a") {
    return send(post(std::string(kInitialize)), std::move(owner)).session;
  }
  net::EventFeed::Chunk read(net::EventFeed& feed) {
    return run_task(io_, feed.read(SteadyTime::max()));
  }

  asio::io_context io_{1};
  std::shared_ptr<Slow> slow_ = std::make_shared<Slow>();
  HttpEndpoint endpoint_{io_.get_executor(), {.names = {"errand.example"}}, report_bug};
};

TEST_F(HttpEndpointTest, AQuickAnswerIsJson) {
  Seen seen = call_modern("quick");
  EXPECT_EQ(seen.status, 200);
  EXPECT_EQ(seen.events, nullptr);
  EXPECT_NE(seen.body.find(R"("text":"done")"), std::string::npos) << seen.body;
  EXPECT_EQ(seen.session, "");
}

TEST_F(HttpEndpointTest, AnAnswerWithNoticesIsAStream) {
  std::string body = call_text(3, "report");
  body.insert(body.rfind("}}"), R"(,"_meta":{"progressToken":1})");
  Seen seen = send(in_session(initialize(), body));
  ASSERT_NE(seen.events, nullptr);
  std::string frames = read(*seen.events).frames;
  if (frames.find("\"id\":3") == std::string::npos) frames += read(*seen.events).frames;
  std::size_t progress = frames.find("notifications/progress");
  std::size_t answer = frames.find("\"id\":3");
  EXPECT_LT(progress, answer);
  EXPECT_NE(answer, std::string::npos) << frames;
}

TEST_F(HttpEndpointTest, LeavingAStreamOfTheModernEraCancelsTheCall) {
  Seen seen = call_modern("hang");
  ASSERT_NE(seen.events, nullptr);
  EXPECT_EQ(slow_->running, 1);
  seen.events->interrupt();
  EXPECT_EQ(read(*seen.events).state, net::EventFeed::State::broken);
  seen.events.reset();
  run_until(io_, [this] { return slow_->running == 0; });
}

TEST_F(HttpEndpointTest, LeavingAStreamOfTheLegacyEraDoesNotCancelTheCall) {
  std::string session = initialize();
  Seen seen = send(in_session(session, call_text(1, "hang")));
  ASSERT_NE(seen.events, nullptr);
  seen.events.reset();
  run_ready(io_);
  EXPECT_EQ(slow_->running, 1);
  Seen told = send(in_session(
      session, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"));
  EXPECT_EQ(told.status, 202);
}

TEST_F(HttpEndpointTest, ACancelledCallEndsItsStreamAndLeavesItsSessionIdle) {
  std::string first = initialize();
  Seen seen = send(in_session(first, call_text(1, "wait")));
  ASSERT_NE(seen.events, nullptr);
  send(in_session(
      first, R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"));
  run_ready(io_);
  auto chunk = run_task(io_, seen.events->read(SteadyTime::min()));
  EXPECT_EQ(chunk.state, net::EventFeed::State::ended);
  EXPECT_EQ(chunk.frames, "");
  for (std::size_t i = 1; i < HttpEndpoint::kSessionsMax; ++i) initialize();
  EXPECT_NE(initialize(), "");
  EXPECT_EQ(send(in_session(first, call_text(2, "quick"))).status, 404);
}

TEST_F(HttpEndpointTest, AServersQuestionIsAnsweredByAnotherPost) {
  std::string session = initialize();
  Seen seen = send(in_session(session, call_text(5, "ask")));
  ASSERT_NE(seen.events, nullptr);
  EXPECT_NE(read(*seen.events).frames.find("roots/list"), std::string::npos);
  Seen answered =
      send(in_session(session, R"({"jsonrpc":"2.0","id":1,"result":{"roots":["here"]}})"));
  EXPECT_EQ(answered.status, 202);
  auto last = read(*seen.events);
  EXPECT_EQ(last.state, net::EventFeed::State::ended);
  EXPECT_NE(last.frames.find("here"), std::string::npos) << last.frames;
}

TEST_F(HttpEndpointTest, ASessionBelongsToItsOwner) {
  std::string session = initialize("a");
  EXPECT_EQ(session.size(), 32U);
  EXPECT_EQ(send(in_session(session, call_text(1, "quick")), "a").status, 200);
  EXPECT_EQ(send(in_session(session, call_text(1, "quick")), "b").status, 404);
}

TEST_F(HttpEndpointTest, AnEndedSessionIsUnknown) {
  std::string session = initialize();
  net::Request end{.method = net::Method::delete_, .headers = {{"MCP-Session-Id", session}}};
  EXPECT_EQ(send(std::move(end)).status, 204);
  EXPECT_EQ(send(in_session(session, call_text(1, "quick"))).status, 404);
}

TEST_F(HttpEndpointTest, ASessionHasOneStream) {
  std::string session = initialize();
  auto get = [&session] {
    return net::Request{.method = net::Method::get,
                        .headers = {{"MCP-Session-Id", session}, {"Accept", "text/event-stream"}}};
  };
  Seen first = send(get());
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(send(get()).status, 409);
  endpoint_.announce_change(ListKind::tools, "");
  EXPECT_NE(read(*first.events).frames.find("tools/list_changed"), std::string::npos);
  first.events.reset();
  EXPECT_EQ(send(get()).status, 200);
}

TEST_F(HttpEndpointTest, AnIdThatIsInUseIsRefused) {
  std::string session = initialize();
  Seen hanging = send(in_session(session, call_text(1, "hang")));
  EXPECT_EQ(send(in_session(session, call_text(1, "quick"))).status, 400);
}

TEST_F(HttpEndpointTest, TheSessionThatWasIdleLongestMakesRoom) {
  std::string first = initialize();
  std::string second = initialize();
  for (std::size_t i = 2; i < HttpEndpoint::kSessionsMax; ++i) initialize();
  EXPECT_EQ(send(in_session(first, call_text(1, "quick"))).status, 200);
  EXPECT_NE(initialize(), "");
  EXPECT_EQ(send(in_session(first, call_text(2, "quick"))).status, 200);
  EXPECT_EQ(send(in_session(second, call_text(3, "quick"))).status, 404);
}

TEST_F(HttpEndpointTest, HeadersOfTheModernEraMustSayTheSameAsTheRequest) {
  for (std::string name : {"MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"}) {
    net::Request request = modern("tools/call", {{"name", "quick"}});
    for (net::Header& header : request.headers) {
      if (header.name == name) header.value = "other";
    }
    Seen seen = send(std::move(request));
    EXPECT_EQ(seen.status, 400) << name;
    EXPECT_NE(seen.body.find("-32020"), std::string::npos) << seen.body;
  }
}

TEST_F(HttpEndpointTest, AMethodThatIsNotThereIs404InTheModernEra) {
  EXPECT_EQ(send(modern("no/such")).status, 404);
  std::string session = initialize();
  Seen legacy = send(in_session(session, R"({"jsonrpc":"2.0","id":1,"method":"no/such"})"));
  EXPECT_EQ(legacy.status, 200);
}

TEST_F(HttpEndpointTest, WhatIsNoMessageIsRefused) {
  EXPECT_EQ(send(post("{")).status, 400);
  EXPECT_EQ(send(post("[]")).status, 400);
  EXPECT_EQ(send(post("{}", {{"Content-Type", "text/plain"}})).status, 415);
  EXPECT_EQ(send(post("{}", {{"Accept", "text/html"}})).status, 406);
  EXPECT_EQ(send(post(call_text(1, "quick"))).status, 400);
  EXPECT_EQ(send(in_session("made-up", call_text(1, "quick"))).status, 404);
  EXPECT_EQ(send({.method = net::Method::get}).status, 405);
  EXPECT_EQ(send({.method = net::Method::delete_}).status, 405);
}

TEST_F(HttpEndpointTest, OtherHostsAndOriginsAreRefused) {
  auto status = [this](std::string name, std::string value) {
    net::Request request = modern("server/discover");
    request.headers.push_back({std::move(name), std::move(value)});
    return send(std::move(request)).status;
  };
  EXPECT_EQ(status("Host", "localhost:7300"), 200);
  EXPECT_EQ(status("Host", "[::1]:7300"), 200);
  EXPECT_EQ(status("Host", "errand.example"), 200);
  EXPECT_EQ(status("Host", "evil.example:7300"), 403);
  EXPECT_EQ(status("Origin", "http://localhost:3000"), 200);
  EXPECT_EQ(status("Origin", "https://errand.example"), 200);
  EXPECT_EQ(status("Origin", "https://evil.example"), 403);
  EXPECT_EQ(status("Origin", "https://errand.example.evil.example"), 403);
  EXPECT_EQ(status("Origin", "null"), 403);
}

}  // namespace
}  // namespace errand::mcp::http_endpoint_test
