#include "tool/tool_caller.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <stdexcept>
#include <string>

#include "base/clock.hpp"
#include "support/run_task.hpp"

namespace errand::tool_caller_test {
namespace {

// Does what its argument "do" says: answer, report, throw, abort or hang.
class Odd final : public Tool {
 public:
  const ToolDecl& decl() const override { return decl_; }

  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    const json::Value& what = call.arguments["do"];
    if (what == "report" && context.progress) context.progress->report({.message = "half"});
    if (what == "throw") throw std::runtime_error("a secret of the tool");
    if (what == "abort") throw boost::system::system_error(asio::error::operation_aborted);
    if (what == "hang") {
      Running running(*this);
      SteadyTimer never(co_await asio::this_coro::executor, SteadyTime::max());
      co_await never.async_wait(as_result);
    }
    co_return text_outcome("done");
  }

  bool is_instant() const override { return instant; }

  int running = 0;
  bool instant = false;

 private:
  struct Running {
    explicit Running(Odd& of) : odd(of) { ++odd.running; }
    ~Running() { --odd.running; }
    Odd& odd;
  };
  ToolDecl decl_{.name = "odd", .description = "Odd."};
};

class Reports final : public ProgressSink {
 public:
  void report(ProgressReport report) override { said += report.message; }
  std::string said;
};

class ToolCallerTest : public testing::Test {
 protected:
  ~ToolCallerTest() override {
    run_task(io_, caller_.stop());
    ::close(null_);
  }

  std::string call(std::string_view what, ToolContext context = {}) {
    ToolCall made{.run = *RunId::parse("run_1"),
                  .id = *ToolUseId::parse("tu_1"),
                  .arguments = {{"do", what}}};
    return text_of(run_task(io_, caller_.call(odd_, std::move(made), context, &interrupt_)));
  }

  asio::io_context io_{1};
  SystemClock clock_;
  int null_ = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  Log log_{clock_, null_, LogFormat::text};
  std::shared_ptr<Odd> odd_ = std::make_shared<Odd>();
  Interrupt interrupt_;
  ToolCaller caller_{io_.get_executor(), log_};
};

TEST_F(ToolCallerTest, ACallGivesItsOutcomeAndItsProgress) {
  Reports reports;
  EXPECT_EQ(call("report", {.progress = &reports}), "done");
  EXPECT_EQ(reports.said, "half");
}

// Whether the loop does something else during a call.
Task<bool> gives_way(ToolCaller* caller, ToolPtr tool) {
  auto has_run = std::make_shared<bool>(false);
  asio::post(co_await asio::this_coro::executor, [has_run] { *has_run = true; });
  ToolCall call{.run = *RunId::parse("run_1"), .id = *ToolUseId::parse("tu_1")};
  call.arguments["do"] = "answer";
  ToolOutcome outcome = co_await caller->call(std::move(tool), std::move(call), {}, nullptr);
  EXPECT_EQ(text_of(outcome), "done");
  co_return *has_run;
}

TEST_F(ToolCallerTest, OnlyAToolThatIsNotInstantHasATaskOfItsOwn) {
  EXPECT_TRUE(run_task(io_, gives_way(&caller_, odd_)));
  odd_->instant = true;
  EXPECT_FALSE(run_task(io_, gives_way(&caller_, odd_)));
}

TEST_F(ToolCallerTest, WhatAToolThrowsFailsItsCallAndIsNotTold) {
  EXPECT_EQ(call("throw"),
            "The tool failed because of an internal error. It may or may not have taken effect.");
}

TEST_F(ToolCallerTest, AToolThatCancelsAnOperationOfItsOwnFailsItsCall) {
  EXPECT_EQ(call("abort", {.deadline = std::chrono::steady_clock::now() + seconds(2)}),
            "The tool failed because of an internal error. It may or may not have taken effect.");
}

TEST_F(ToolCallerTest, ACallThatOverrunsItsDeadlineIsCutOff) {
  std::string said = call("hang", {.deadline = std::chrono::steady_clock::now()});
  EXPECT_EQ(said,
            "The call took longer than 0 ms and was cut off. It may or may not have taken effect.");
  run_until(io_, [this] { return odd_->running == 0; });
}

TEST_F(ToolCallerTest, AnInterruptThatCameBeforeCutsTheCallOff) {
  interrupt_.raise();
  EXPECT_EQ(call("hang"), "The call was cancelled.");
  run_until(io_, [this] { return odd_->running == 0; });
}

TEST_F(ToolCallerTest, AnInterruptCutsTheCallOff) {
  // Once the call is under way.
  asio::post(io_, [this] { asio::post(io_, [this] { interrupt_.raise(); }); });
  EXPECT_EQ(call("hang"), "The call was cancelled.");
  run_until(io_, [this] { return odd_->running == 0; });
}

TEST_F(ToolCallerTest, NoCallBeginsAfterTheEnd) {
  run_task(io_, caller_.stop());
  EXPECT_EQ(call("answer"), "The server is shutting down.");
}

}  // namespace
}  // namespace errand::tool_caller_test
