#include "sdk/local_servers.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>

#include "json/parse.hpp"
#include "json/write.hpp"
#include "mcp/client/offered_features.hpp"
#include "mcp/client/test_fake_server.hpp"
#include "support/run_task.hpp"

namespace errand::sdk::local_servers_test {
namespace {

using mcp::test::FakeServer;

class LocalServersTest : public testing::Test {
 protected:
  LocalServersTest() {
    for (FakeServer* server : {&silent_, &good_}) server->offer({"one"});
    silent_.hang_on("initialize");
  }
  ~LocalServersTest() override {
    for (LocalServers* servers : {&of_engine_, &of_client_}) run_task(io_, servers->stop());
    for (FakeServer* server : {&silent_, &good_}) run_task(io_, server->stop());
    run_task(io_, tasks_.stop(CancelReason::shutdown));
  }

  static McpPlace place(std::string name, FakeServer& server) {
    return {.where = name, .address = server.address(), .name = name};
  }
  // Begins to learn, and goes on until nothing happens without time.
  void begin(LocalServers& servers, std::vector<McpPlace> places) {
    tasks_.spawn("learn", learn(&servers, std::move(places), &learned_));
    run_ready(io_);
    timers_.advance(milliseconds(0));  // the pause before the first attempt has no length
    run_ready(io_);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const ToolPtr& tool : learned_->tools) out.push_back(tool->decl().name);
    return out;
  }
  // What the server was told that its client can do.
  static std::string offered_to(const FakeServer& server) {
    for (const std::string& message : server.sent) {
      const json::Value sent = json::parse(message).value();
      if (sent.at("method") != "initialize") continue;
      return json::write(sent.at("params").at("capabilities"));
    }
    return "never initialized";
  }

  using Names = std::vector<std::string>;

  asio::io_context io_{1};
  ManualTimers timers_;
  FakeServer silent_{io_.get_executor(), mcp::Era::legacy};
  FakeServer good_{io_.get_executor(), mcp::Era::legacy};
  LocalServers of_engine_{io_.get_executor(), timers_, fail, RunsAt::engine};
  LocalServers of_client_{io_.get_executor(), timers_, fail, RunsAt::server};
  std::optional<ServerTools> learned_;
  TaskGroup tasks_{io_.get_executor(), mcp::test::report_bug};

 private:
  static Task<void> learn(LocalServers* servers, std::vector<McpPlace> places,
                          std::optional<ServerTools>* out) {
    out->emplace(co_await servers->learn(std::move(places), {}));
  }
  static void fail(std::string_view line) { ADD_FAILURE() << line; }
};

TEST_F(LocalServersTest, AServerThatNeverAnswersHoldsUpARunForALimitedTime) {
  begin(of_engine_, {place("silent", silent_), place("good", good_)});
  timers_.advance(LocalServers::kLearnMax - milliseconds(1));
  run_ready(io_);
  EXPECT_FALSE(learned_);
  timers_.advance(milliseconds(1));
  run_until(io_, [this] { return learned_.has_value(); });
  EXPECT_EQ(names(), (Names{"silent_unavailable", "good_one"}));
  ASSERT_EQ(learned_->failures.size(), 1U);
  EXPECT_EQ(learned_->failures[0].message(), "silent: no answer within 30 seconds");
}

// The next run finds the attempt of the first one under way, and makes no second connection.
TEST_F(LocalServersTest, ALateServerIsStillBeingConnectedToForTheNextRun) {
  for (int run = 0; run < 2; ++run) {
    learned_.reset();
    begin(of_engine_, {place("silent", silent_)});
    timers_.advance(LocalServers::kLearnMax);
    run_until(io_, [this] { return learned_.has_value(); });
    EXPECT_EQ(learned_->failures.size(), 1U);
    EXPECT_TRUE(learned_->refs.empty());
  }
  EXPECT_EQ(silent_.connections, 1);
}

TEST_F(LocalServersTest, AnEngineInThisProcessAnswersSamplingToo) {
  begin(of_engine_, {place("good", good_)});
  EXPECT_EQ(offered_to(good_), R"({"sampling":{},"elicitation":{"form":{},"url":{}}})");
}

TEST_F(LocalServersTest, AClientOffersItsUserAndItsFoldersAlone) {
  McpPlace there = place("good", good_);
  there.roots = {mcp::root_of("/tmp/notes/")};
  begin(of_client_, {there});
  EXPECT_EQ(offered_to(good_), R"({"roots":{},"elicitation":{"form":{},"url":{}}})");
}

}  // namespace
}  // namespace errand::sdk::local_servers_test
