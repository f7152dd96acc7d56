#include "sdk/client/serving.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sdk/test_calls.hpp"
#include "support/run_task.hpp"

namespace errand::sdk::serving_test {
namespace {

// Offers the calls of a test, once.
class OfferingApi final : public RecordingApi {
 public:
  Task<Result<std::vector<OpenCall>>> pending_calls(CallQuery) override {
    if (auto calls = std::exchange(offered, {}); !calls.empty()) co_return calls;
    Wakeup never(co_await asio::this_coro::executor);
    co_await never.wait();
    co_return std::vector<OpenCall>();
  }

  std::vector<OpenCall> offered;
};

class ServingTest : public testing::Test {
 protected:
  using Texts = std::vector<std::string>;

  ~ServingTest() override {
    if (serving_) run_task(io_, serving_->stop());
  }

  // A worker with one tool, to which the calls are offered.
  void serve(ToolAnnotations annotations, std::set<std::string> ids, milliseconds left = {}) {
    tool_ = std::make_shared<HeldTool>("tool", annotations);
    for (const std::string& id : ids) {
      OpenCall call{.run = *RunId::parse("run_1"),
                    .call = {.id = *ToolUseId::parse(id), .name = "tool", .args = "{}"}};
      if (left.count() > 0) call.over = server_now_ + left;
      api_.offered.push_back(std::move(call));
    }
    api_.now = server_now_;
    serving_ = std::make_unique<Serving>(Serving::Params{
        .api = api_,
        .timers = timers_,
        .home = io_.get_executor(),
        .tell = [](std::string_view) {},
        .tools = {tool_},
        .calls_max = 16,
        .on_error = [this](const v1::Error& error) { told_.push_back(error.describe()); }});
    serving_->start();
    run_ready(io_);
  }
  void advance(milliseconds by) {
    timers_.advance(by);
    run_ready(io_);
  }

  static std::set<std::string> numbered(int count) {
    std::set<std::string> ids;
    for (int i = 0; i < count; ++i) ids.insert(cat("tu_", i));
    return ids;
  }
  void pass_seconds(int count) {
    for (int i = 0; i < 8 * count; ++i) advance(HeldCalls::kExtendGap);
  }

  const WallTime server_now_ = from_millis(1'000'000);
  Texts told_;
  asio::io_context io_{1};
  ManualTimers timers_;
  OfferingApi api_;
  std::shared_ptr<HeldTool> tool_;
  std::unique_ptr<Serving> serving_;
};

TEST_F(ServingTest, AClaimThatIsUnderWayWhenTheWorkEndsIsGivenBack) {
  Wakeup held(io_.get_executor());
  api_.held = &held;
  serve({}, {"tu_1"});
  asio::co_spawn(io_, serving_->finish(), asio::detached);
  run_ready(io_);
  held.notify();
  run_ready(io_);
  EXPECT_EQ(api_.extended, (Texts{"claim of tu_1 for 1 ms"}));
  EXPECT_EQ(api_.taken, std::set<std::string>());
}

TEST_F(ServingTest, ACallThatIsCutOffIsAnswered) {
  serve({}, {"tu_1"});
  run_task(io_, serving_->stop());
  EXPECT_EQ(api_.posted, (Texts{"tu_1 error: The client was closed while this call ran. The call "
                                "may or may not have taken effect."}));
  EXPECT_EQ(api_.claims_used, (Texts{"claim of tu_1"}));
}

TEST_F(ServingTest, ACallThatIsCutOffAndMayBeMadeAgainIsGivenBack) {
  serve({.idempotent = true}, {"tu_1"});
  run_task(io_, serving_->stop());
  EXPECT_EQ(api_.posted, Texts());
  EXPECT_EQ(api_.extended, (Texts{"claim of tu_1 for 1 ms"}));
}

TEST_F(ServingTest, AnAnswerThatIsUnderWayIsPostedByAStop) {
  serve({}, {"tu_1"});
  api_.refusal = Error(ErrorCode::unavailable, "no server");
  tool_->running.at("tu_1")->notify();
  run_ready(io_);
  asio::co_spawn(io_, serving_->stop(), asio::detached);
  run_ready(io_);
  api_.refusal.reset();
  advance(HeldCalls::kPauseFirst);
  EXPECT_EQ(api_.posted, (Texts{"tu_1 result: done", "tu_1 result: done"}));
  EXPECT_EQ(api_.extended, Texts());
}

TEST_F(ServingTest, AClaimThatTheServerRefusesEndsTheWork) {
  api_.claim_refusal = Error(ErrorCode::forbidden, "no scope for that");
  serve({}, {"tu_1"});
  EXPECT_EQ(serving_->error()->describe(), "no scope for that");
  EXPECT_EQ(told_, (Texts{"no scope for that"}));
}

TEST_F(ServingTest, AHandlerHasTheTimeThatIsLeftOfItsCall) {
  serve({}, {"tu_1"}, milliseconds(10'000));
  EXPECT_EQ(tool_->deadlines.at("tu_1"), timers_.now() + milliseconds(10'000));
}

TEST_F(ServingTest, ACallThatIsOverIsNoticedWithinASecond) {
  serve({}, {"tu_1"});
  api_.extend_refusal = Error(ErrorCode::not_found, "the call is not pending");
  advance(HeldCalls::kNoticeMax - milliseconds(1));
  EXPECT_EQ(tool_->running.size(), 1U);
  advance(milliseconds(1));
  EXPECT_EQ(tool_->running.size(), 0U);
  EXPECT_EQ(api_.posted, Texts());
}

TEST_F(ServingTest, ClaimsOfManyCallsAreExtendedLessOften) {
  serve({}, numbered(16));
  pass_seconds(10);
  EXPECT_LE(api_.extended.size(), 80U);
  EXPECT_GE(api_.extended.size(), 64U);
}

}  // namespace
}  // namespace errand::sdk::serving_test
