#pragma once

// Participants of one room of this process, without sockets.

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "room/client/local_connection.hpp"
#include "room/client/room_client.hpp"
#include "room/client/tools_host.hpp"
#include "support/run_task.hpp"

namespace errand::room::test {

inline void report_client_bug(const char* task, const std::string& what) {
  ADD_FAILURE() << task << ": " << what;
}

// Joins a room under a name, and keeps the connection so that a test can break it.
class TestConnector final : public Connector {
 public:
  TestConnector(Executor home, std::shared_ptr<Room> room, std::string name)
      : home_(std::move(home)), room_(std::move(room)), name_(std::move(name)) {}

  Task<Result<std::shared_ptr<Connection>>> connect(Interrupt*) override {
    ++attempts;
    if (refusal) co_return *refusal;
    ApiScope scope =
        parse_api_scope(json::parse(R"({"agents":{},"messaging":{}})").value()).value();
    auto joined = join_locally(home_, room_,
                               {.identity = {.project = "", .key_id = "k", .name = name_},
                                .role = Role::agent,
                                .room = "lab",
                                .scope = std::move(scope)},
                               "ws://x/rooms/lab");
    if (joined) last = *joined;
    co_return joined;
  }

  int attempts = 0;
  std::optional<Error> refusal;
  std::weak_ptr<Connection> last;

 private:
  const Executor home_;
  const std::shared_ptr<Room> room_;
  const std::string name_;
};

// A tool that is a function.
class TestTool final : public errand::Tool {
 public:
  using Work = std::function<Task<ToolOutcome>(ToolCall, ToolContext)>;
  TestTool(std::string name, Work work) : work_(std::move(work)) {
    decl_.name = std::move(name);
    decl_.input_schema = share_schema({{"type", "object"}});
  }
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    return work_(std::move(call), context);
  }
  ToolDecl& change() { return decl_; }

 private:
  ToolDecl decl_;
  const Work work_;
};

inline Task<ToolOutcome> echo(ToolCall call, ToolContext) {
  ToolOutcome outcome;
  outcome.structured = json::Value(std::move(call.arguments));
  co_return outcome;
}

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    room_ = std::make_shared<Room>(Room::Options{.home = home_,
                                                 .name = "lab",
                                                 .session_id = "s1",
                                                 .timers = timers_,
                                                 .clock = clock_,
                                                 .schemas = schemas_,
                                                 .make_id = [this] { return cat("id", ++ids_); }});
  }
  ~ClientTest() override {
    for (auto& client : clients_) run_task(io_, client->stop());
  }

  RoomClient& add(std::string name, RoomClient::Options options = {}) {
    auto connector = std::make_shared<TestConnector>(home_.executor(), room_, std::move(name));
    connectors_.push_back(connector);
    options.connector = connector;
    options.limits.pause_first = milliseconds(1);
    clients_.push_back(std::make_unique<RoomClient>(
        RoomClient::Deps{.home = home_.executor(), .timers = timers_, .on_bug = report_client_bug},
        std::move(options)));
    clients_.back()->start();
    return *clients_.back();
  }
  RoomClient& join(std::string name, RoomClient::Options options = {}) {
    RoomClient& client = add(std::move(name), std::move(options));
    run_task(io_, client.joined(soon())).value();
    return client;
  }
  static SteadyTime soon() { return std::chrono::steady_clock::now() + seconds(20); }

  std::uint64_t host(RoomClient& client, std::vector<ToolPtr> tools, std::string name = "kit") {
    ToolkitOffer offer{.name = std::move(name), .tools = std::move(tools)};
    return run_task(io_, client.host(make_hosted_toolkit(client, std::move(offer)))).value();
  }
  std::string call(RoomClient& client, std::string tool, json::Object arguments) {
    auto answer = run_task(io_, client.call({.toolkit = "kit",
                                             .tool = std::move(tool),
                                             .arguments = json_content(std::move(arguments))}));
    return answer ? json::write(json::Value(answer->header)) : answer.error().message();
  }

  asio::io_context io_{1};
  Home home_{io_};
  AsioTimers timers_{home_};
  SystemClock clock_;
  json::SchemaCache schemas_;
  int ids_ = 0;
  std::shared_ptr<Room> room_;
  std::vector<std::shared_ptr<TestConnector>> connectors_;
  std::vector<std::unique_ptr<RoomClient>> clients_;
};

}  // namespace errand::room::test
