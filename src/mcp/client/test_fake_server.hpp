#pragma once

// An MCP server in this process for the tests of the client. A test says what it answers.

#include <gtest/gtest.h>

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "mcp/client/client.hpp"
#include "rpc/memory_connection.hpp"
#include "support/run_task.hpp"

namespace errand::mcp::test {

inline void report_bug(const char* task, const std::string& what) {
  ADD_FAILURE() << task << ": " << what;
}

inline rpc::Answer unknown_method() {
  return rpc::RpcError{.code = rpc::code::kMethodNotFound, .message = "unknown method"};
}

// Keeps what a client sends.
class RecordingConnection final : public rpc::Connection {
 public:
  RecordingConnection(std::unique_ptr<rpc::Connection> inner, std::vector<std::string>& sent)
      : inner_(std::move(inner)), sent_(sent) {}

  Result<void> send(rpc::Outgoing message) override {
    sent_.push_back(message.text);
    return inner_->send(std::move(message));
  }
  Task<Result<std::optional<rpc::Received>>> receive() override { return inner_->receive(); }
  void close() override { inner_->close(); }
  Task<void> join() override { return inner_->join(); }

 private:
  std::unique_ptr<rpc::Connection> inner_;
  std::vector<std::string>& sent_;
};

class FakeServer final : public rpc::Handler {
 public:
  using Reply = std::function<rpc::Answer(const rpc::Request&)>;

  FakeServer(Executor home, Era era) : home_(std::move(home)), bell_(home_) {
    json::Object capabilities{{"tools", json::Object{{"listChanged", true}}}};
    if (era == Era::modern) {
      on("server/discover", json::Object{{"supportedVersions", json::Array{"2026-07-28"}},
                                         {"capabilities", capabilities},
                                         {"resultType", "complete"}});
    } else {
      on("initialize", json::Object{{"protocolVersion", "2025-11-25"},
                                    {"capabilities", capabilities},
                                    {"serverInfo", json::Object{{"name", "fake"}}},
                                    {"instructions", "Be kind."}});
    }
  }

  void on(std::string method, Reply reply) { replies_[std::move(method)] = std::move(reply); }
  void on(std::string method, json::Object result) {
    on(std::move(method), [result = std::move(result)](const rpc::Request&) -> rpc::Answer {
      return json::Value(result);
    });
  }
  void on_call(json::Object result) { on("tools/call", std::move(result)); }
  void offer(std::vector<std::string> tools) {
    json::Array list;
    for (const std::string& name : tools) list.push_back(tool(name));
    on("tools/list", json::Object{{"tools", std::move(list)}, {"ttlMs", 0}});
  }
  static json::Object tool(std::string_view name) {
    return {{"name", name}, {"inputSchema", json::Object{{"type", "object"}}}};
  }

  // For ClientOptions::server.
  CustomServer address() {
    return {.connect = [this] { return connect(); }};
  }

  // Requests of this method wait until the client gives up.
  void hang_on(std::string method) { hanging_ = std::move(method); }
  void refuse_connections(int count) { refused_ = count; }
  // Ends the connection, as a crash does.
  void cut() { peers_.back()->theirs->close(); }
  void tell(std::string method) { (void)peers_.back()->peer.notify(std::move(method), {}); }
  Task<Result<rpc::Answer>> ask(std::string method, json::Object params) {
    return peers_.back()->peer.call(std::move(method), std::move(params));
  }
  Task<void> stop() {
    for (auto& one : peers_) co_await one->peer.stop();
  }

  Task<rpc::Answer> handle(rpc::Request request, rpc::ServedRequest* served) override {
    methods.push_back(request.method);
    if (request.method == hanging_) {
      Wakeup bell(home_);
      Interrupt::Scope waiting(&served->interrupt(), [&bell] { bell.notify(); });
      co_await bell.wait();
      ++cancelled;
    }
    served->report({.progress = 1, .total = 2, .message = "half"});
    auto found = replies_.find(request.method);
    if (found == replies_.end()) co_return unknown_method();
    co_return found->second(request);
  }
  void notice(rpc::Notification notification) override { methods.push_back(notification.method); }

  int connections = 0;
  int cancelled = 0;
  std::vector<std::string> methods;  // that the client has used
  std::vector<std::string> sent;     // whole messages of the client

 private:
  struct Side {
    Side(const Executor& home, std::unique_ptr<rpc::Connection> connection, rpc::Handler& handler)
        : theirs(std::move(connection)), peer(home, *theirs, handler, report_bug) {}

    std::unique_ptr<rpc::Connection> theirs;
    rpc::Peer peer;
  };

  Result<std::unique_ptr<rpc::Connection>> connect() {
    ++connections;
    if (refused_ > 0) {
      --refused_;
      return Error(ErrorCode::unavailable, "nobody is there");
    }
    auto [ours, theirs] = rpc::make_connection_pair(home_);
    peers_.push_back(std::make_unique<Side>(home_, std::move(theirs), *this));
    peers_.back()->peer.start();
    return std::unique_ptr<rpc::Connection>(
        std::make_unique<RecordingConnection>(std::move(ours), sent));
  }

  const Executor home_;
  Wakeup bell_;
  std::map<std::string, Reply> replies_;
  std::string hanging_;
  int refused_ = 0;
  std::list<std::unique_ptr<Side>> peers_;
};

// A client of a fake server, on a loop of its own.
class ClientTest : public testing::Test {
 protected:
  explicit ClientTest(Era era = Era::legacy) : server_(io_.get_executor(), era) {
    server_.offer({"one", "two"});
  }
  ~ClientTest() override {
    if (client_) run_task(io_, client_->stop());
    run_task(io_, server_.stop());
    run_task(io_, calls_.stop(CancelReason::shutdown));
    io_.restart();
    io_.run();
  }

  Client& client() {
    if (!client_) start({});
    return *client_;
  }
  void start(ClientLimits limits, ClientFeatures* features = nullptr) {
    limits.first_pause = milliseconds(1);
    client_ = std::make_unique<Client>(
        ClientDeps{
            .home = io_.get_executor(), .http = http_, .timers = timers_, .on_bug = report_bug},
        ClientOptions{.server = address(), .features = features, .limits = limits});
  }
  // A client that is connected and whose pauses are those of `timers`, which outlive it.
  void connect_with(ManualTimers& timers) {
    client_ = std::make_unique<Client>(
        ClientDeps{
            .home = io_.get_executor(), .http = http_, .timers = timers, .on_bug = report_bug},
        ClientOptions{.server = address()});
    calls_.spawn("connect", connect(client_.get()));
    run_ready(io_);
    timers.advance(milliseconds(0));  // the pause before the first attempt, which has no length
    run_until(io_, [this] { return calls_.size() == 0; });
  }
  static Task<void> connect(Client* client) {
    auto info = co_await client->connect();
    EXPECT_TRUE(info);
  }
  void start_anew(ClientLimits limits) {
    run_task(io_, client_->stop());
    start(limits);
  }
  virtual ServerAddress address() { return server_.address(); }

  Result<CallToolResult> call(CallToolOptions options = {}, json::Object arguments = {{"x", 1}}) {
    return run_task(io_, client().call_tool({.name = "one", .arguments = std::move(arguments)},
                                            std::move(options)));
  }
  // The names of the tools, and the notes.
  std::vector<std::string> tools() {
    auto list = run_task(io_, client().tools());
    if (!list) return {list.error().describe()};
    std::vector<std::string> out;
    for (const Tool& tool : (*list)->tools) out.push_back(tool.name);
    for (const std::string& note : (*list)->notes) out.push_back(cat("note: ", note));
    return out;
  }
  static std::string shown(const Result<CallToolResult>& result) {
    if (!result) return cat(to_string(result.error().code()), ": ", result.error().message());
    std::string out = result->is_error ? "failed:" : "ok:";
    for (const Content& one : result->content) {
      const auto* text = std::get_if<TextContent>(&one);
      append(out, " ", text ? text->text : "(other)");
    }
    return out;
  }
  static json::Object text_result(std::string_view text) {
    return {{"content", json::Array{json::Object{{"type", "text"}, {"text", text}}}}};
  }

  using Names = std::vector<std::string>;

  asio::io_context io_{1};
  Home home_{io_};
  AsioTimers timers_{home_};
  net::HttpClient http_;
  FakeServer server_;
  std::unique_ptr<Client> client_;
  TaskGroup calls_{io_.get_executor(), report_bug};
};

}  // namespace errand::mcp::test
