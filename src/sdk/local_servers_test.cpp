#include "sdk/local_servers.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "rpc/memory_connection.hpp"
#include "support/run_task.hpp"

namespace errand::sdk::local_servers_test {
namespace {

// A server that takes connections and never says anything.
class SilentServer final {
 public:
  explicit SilentServer(Executor home) : home_(std::move(home)) {}

  McpPlace place() {
    return {.where = "silent", .address = mcp::CustomServer{.connect = [this] {
                                 auto [ours, theirs] = rpc::make_connection_pair(home_);
                                 kept_.push_back(std::move(theirs));
                                 return Result<std::unique_ptr<rpc::Connection>>(std::move(ours));
                               }}};
  }
  std::size_t connections() const { return kept_.size(); }

 private:
  const Executor home_;
  std::vector<std::unique_ptr<rpc::Connection>> kept_;
};

class LocalServersTest : public testing::Test {
 protected:
  ~LocalServersTest() override { run_task(io_, servers_.stop()); }

  // Until everybody waits for the server. A client begins to connect when its timer says so.
  void connect() {
    run_ready(io_);
    timers_.advance(milliseconds(0));
    run_until(io_, [this] { return silent_.connections() == 1; });
    run_ready(io_);
  }

  asio::io_context io_{1};
  ManualTimers timers_;
  SilentServer silent_{io_.get_executor()};
  LocalServers servers_{io_.get_executor(), timers_,
                        [](std::string_view line) { ADD_FAILURE() << line; }};
};

Task<void> learn(LocalServers* servers, std::vector<McpPlace> places,
                 std::optional<ServerTools>* out) {
  out->emplace(co_await servers->learn(std::move(places), {}));
}

TEST_F(LocalServersTest, AServerThatNeverAnswersHoldsUpARunForALimitedTime) {
  std::optional<ServerTools> learned;
  TaskGroup tasks(io_.get_executor(),
                  [](const char*, const std::string& what) { ADD_FAILURE() << what; });
  tasks.spawn("learn", learn(&servers_, {silent_.place()}, &learned));
  connect();
  timers_.advance(LocalServers::kLearnMax - milliseconds(1));
  run_ready(io_);
  EXPECT_FALSE(learned);
  timers_.advance(milliseconds(1));
  run_until(io_, [&] { return tasks.size() == 0; });
  ASSERT_TRUE(learned);
  ASSERT_EQ(learned->failures.size(), 1U);
  EXPECT_EQ(learned->failures[0].message(), "silent: no answer within 30 seconds");
  ASSERT_EQ(learned->tools.size(), 1U);
  EXPECT_EQ(learned->tools[0]->decl().name, "silent_unavailable");
  EXPECT_TRUE(learned->refs.empty());
}

// The next run finds the attempt of the first one under way, and makes no second connection.
TEST_F(LocalServersTest, ALateServerIsStillBeingConnectedToForTheNextRun) {
  std::optional<ServerTools> first;
  std::optional<ServerTools> second;
  TaskGroup tasks(io_.get_executor(),
                  [](const char*, const std::string& what) { ADD_FAILURE() << what; });
  for (std::optional<ServerTools>* learned : {&first, &second}) {
    tasks.spawn("learn", learn(&servers_, {silent_.place()}, learned));
    connect();
    timers_.advance(LocalServers::kLearnMax);
    run_until(io_, [&] { return tasks.size() == 0; });
    EXPECT_EQ(learned->value().failures.size(), 1U);
  }
  EXPECT_EQ(silent_.connections(), 1U);
}

}  // namespace
}  // namespace errand::sdk::local_servers_test
