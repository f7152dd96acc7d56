#include "sdk/client/runner_core.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "sdk/test_api.hpp"

namespace errand::sdk::runner_core_test {
namespace {

// A server that loses the first request after a session was made.
class ForgetfulApi final : public NoApi {
 public:
  explicit ForgetfulApi(std::atomic<int>& asked) : asked_(asked) {}

  Task<Result<SessionId>> create_session(engine::SessionParams, std::string, BodyPtr) override {
    co_return *SessionId::parse("ses_1");
  }
  Task<Result<RunId>> say(SessionId, engine::SessionMessage, std::string, BodyPtr) override {
    if (asked_++ == 0) co_return unreachable();
    co_return *RunId::parse("run_1");
  }
  Task<Result<RunInfo>> get(RunId run) override {
    if (asked_++ == 0) co_return unreachable();
    co_return RunInfo{.id = run};
  }

 private:
  static Error unreachable() {
    return Error(ErrorCode::unavailable, "no answer").reason(RunApi::kUnreachable);
  }

  std::atomic<int>& asked_;
};

class ForgetfulBackend final : public Backend {
 public:
  explicit ForgetfulBackend(std::atomic<int>& asked) : api_(asked) {}
  RunApi& api() override { return api_; }
  CalledBy called_by() const override { return CalledBy::client; }
  LentTools lend(const std::vector<ToolPtr>&, const std::vector<ToolRef>&) override { return {}; }
  Task<void> stop() override { co_return; }

 private:
  ForgetfulApi api_;
};

class RunnerCoreTest : public testing::Test {
 protected:
  RunnerCoreTest() {
    EXPECT_TRUE(core_->open([this](const RunnerCore::Surroundings&) {
      return Result<std::unique_ptr<Backend>>(std::make_unique<ForgetfulBackend>(asked_));
    }));
  }
  ~RunnerCoreTest() override { core_->close(); }

  Result<RunInfo> get() {
    return core_->wait<RunInfo>([this] {
      return core_->persist<RunInfo>([this] { return core_->api().get(*RunId::parse("run_1")); });
    });
  }

  std::atomic<int> asked_ = 0;
  std::shared_ptr<RunnerCore> core_ = std::make_shared<RunnerCore>(RunnerCore::Options{});
};

TEST_F(RunnerCoreTest, AServerThatMadeASessionIsAskedAgain) {
  auto session = core_->make_session({}, WhenBusy::queue);
  ASSERT_TRUE(session);
  EXPECT_TRUE(core_->say(*session, {.prompt = "Go."}, EventQueue::Keep::end_only));
  EXPECT_EQ(asked_, 2);
}

TEST_F(RunnerCoreTest, ARequestThatChangesNothingIsRepeated) {
  ASSERT_TRUE(core_->make_session({}, WhenBusy::queue));
  EXPECT_TRUE(get());
  EXPECT_EQ(asked_, 2);
}

TEST_F(RunnerCoreTest, AServerThatWasNeverHeardOfIsNotWaitedFor) {
  EXPECT_FALSE(get());
  EXPECT_EQ(asked_, 1);
}

}  // namespace
}  // namespace errand::sdk::runner_core_test
