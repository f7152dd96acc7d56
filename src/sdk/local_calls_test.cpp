#include "sdk/local_calls.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "async/home.hpp"
#include "base/text.hpp"
#include "sdk/test_calls.hpp"
#include "sdk/toolbox.hpp"
#include "support/run_task.hpp"

namespace errand::sdk::local_calls_test {
namespace {

class LocalCallsTest : public testing::Test {
 protected:
  LocalCallsTest() {
    std::vector<ToolPtr> tools;
    for (bool is_parallel : {true, false}) {
      auto tool = std::make_shared<HeldTool>(is_parallel ? "free" : "alone",
                                             ToolAnnotations{.parallel_safe = is_parallel});
      (is_parallel ? free_ : alone_) = tool.get();
      tools.push_back(std::move(tool));
    }
    tools_ = std::make_unique<FixedTools>(std::move(tools));
    calls_ =
        std::make_unique<LocalCalls>(api_, timers_, io_.get_executor(), *tools_,
                                     [this](std::string_view note) { told_.emplace_back(note); });
  }
  ~LocalCallsTest() override { run_task(io_, calls_->stop()); }

  void start(std::string id, std::string name, std::string args = "{}") {
    LocalToolCall call{.id = *ToolUseId::parse(id), .name = name, .args = args};
    calls_->start(*RunId::parse("run_1"), call);
    run_ready(io_);
  }
  std::set<std::string> running() const {
    std::set<std::string> ids;
    for (const HeldTool* tool : {free_, alone_}) {
      for (const auto& [id, bell] : tool->running) ids.insert(id);
    }
    return ids;
  }
  void let_go(HeldTool* tool, const std::string& id) {
    tool->running.at(id)->notify();
    run_ready(io_);
  }

  using Ids = std::set<std::string>;
  std::vector<std::string> told_;
  asio::io_context io_{1};
  AsioTimers timers_{Home(io_)};
  RecordingApi api_;
  HeldTool* free_ = nullptr;
  HeldTool* alone_ = nullptr;
  std::unique_ptr<FixedTools> tools_;
  std::unique_ptr<LocalCalls> calls_;
};

TEST_F(LocalCallsTest, EachCallIsAnsweredOnce) {
  start("tu_1", "free");
  start("tu_1", "free");
  EXPECT_EQ(running(), (Ids{"tu_1"}));
  let_go(free_, "tu_1");
  EXPECT_EQ(api_.posted, (std::vector<std::string>{"tu_1 result: done"}));
  EXPECT_TRUE(calls_->took(*ToolUseId::parse("tu_1")).has_value());
}

TEST_F(LocalCallsTest, ACallIsClaimedBeforeItIsMade) {
  start("tu_1", "free");
  EXPECT_EQ(api_.taken, (Ids{"tu_1"}));
  let_go(free_, "tu_1");
  EXPECT_EQ(api_.claims_used, (std::vector<std::string>{"claim of tu_1"}));
}

TEST_F(LocalCallsTest, ACallThatAnotherClientHasBegunIsNotMadeAgain) {
  api_.taken = {"tu_1"};
  start("tu_1", "alone");
  start("tu_2", "alone");
  EXPECT_EQ(running(), (Ids{"tu_2"}));
  EXPECT_EQ(api_.posted, std::vector<std::string>());
  EXPECT_EQ(told_, (std::vector<std::string>{
                       "another client has begun the tool call tu_1, or one that was killed; its "
                       "result is waited for, and the call is made here only if that client gives "
                       "it back"}));
}

TEST_F(LocalCallsTest, AClaimWhoseAnswerWasLostIsStillItsOwn) {
  api_.lost_answers = 1;
  start("tu_1", "free");
  while (running().empty()) io_.run_one();
  EXPECT_EQ(told_, std::vector<std::string>());
  let_go(free_, "tu_1");
  EXPECT_EQ(api_.claims_used, (std::vector<std::string>{"claim of tu_1"}));
}

TEST_F(LocalCallsTest, AClaimThatIsUnderWayWhenTheWorkStopsIsGivenBack) {
  Wakeup held(io_.get_executor());
  api_.held = &held;
  start("tu_1", "free");
  asio::co_spawn(io_, calls_->stop(), asio::detached);
  run_ready(io_);
  held.notify();
  run_ready(io_);
  EXPECT_EQ(api_.extended, (std::vector<std::string>{"claim of tu_1 for 1 ms"}));
  EXPECT_EQ(running(), Ids());
}

TEST_F(LocalCallsTest, AClaimedCallThatIsCutOffIsAnswered) {
  start("tu_1", "free");
  run_task(io_, calls_->stop());
  EXPECT_EQ(api_.posted, (std::vector<std::string>{
                             "tu_1 error: The client was closed while this call ran. The call may "
                             "or may not have taken effect."}));
  EXPECT_EQ(api_.claims_used, (std::vector<std::string>{"claim of tu_1"}));
}

TEST_F(LocalCallsTest, AnAnswerThatIsRefusedIsTold) {
  api_.refusal = Error(ErrorCode::forbidden, "no scope for that");
  start("tu_1", "free");
  let_go(free_, "tu_1");
  EXPECT_EQ(told_,
            (std::vector<std::string>{"the answer to a tool call was refused: no scope for that"}));
}

TEST_F(LocalCallsTest, AToolThatIsNotParallelSafeIsABarrier) {
  start("tu_1", "free");
  start("tu_2", "alone");
  start("tu_3", "free");
  EXPECT_EQ(running(), (Ids{"tu_1"}));
  let_go(free_, "tu_1");
  EXPECT_EQ(running(), (Ids{"tu_2"}));
  let_go(alone_, "tu_2");
  EXPECT_EQ(running(), (Ids{"tu_3"}));
}

TEST_F(LocalCallsTest, WhatCannotBeCalledIsAnsweredToo) {
  start("tu_1", "nobody");
  start("tu_2", "free", "7");
  EXPECT_EQ(api_.posted, (std::vector<std::string>{"tu_1 error: there is no tool \"nobody\" here",
                                                   "tu_2 error: the arguments must be an object"}));
}

TEST_F(LocalCallsTest, ALongFailureKeepsItsBeginningAndItsEnd) {
  std::string long_text = cat("first ", std::string(20'000, 'x'), "é last");
  free_->outcome = failed_outcome(long_text);
  start("tu_1", "free");
  let_go(free_, "tu_1");
  std::string answer = api_.posted.at(0);
  EXPECT_LE(answer.size(), kErrorBytesMax + std::string_view("tu_1 error: ").size());
  EXPECT_TRUE(answer.starts_with("tu_1 error: first xxx"));
  EXPECT_NE(answer.find("x\n[11881 bytes are left out]\nx"), std::string::npos);
  EXPECT_TRUE(answer.ends_with("xé last"));
}

TEST_F(LocalCallsTest, OnceGivenUpEveryCallIsAnsweredAndNoneStarts) {
  start("tu_1", "alone");
  start("tu_2", "alone");
  calls_->cut_off();
  run_ready(io_);
  EXPECT_EQ(api_.posted, std::vector<std::string>());
  calls_->give_up();
  run_ready(io_);
  EXPECT_EQ(api_.posted, (std::vector<std::string>{"tu_1 error: the user has stopped the run",
                                                   "tu_2 error: the user has stopped the run"}));
  EXPECT_EQ(running(), Ids());
}

TEST_F(LocalCallsTest, TheTimeOfACallThatIsGivenUpIsWhatItRan) {
  ManualTimers timers;
  LocalCalls calls(api_, timers, io_.get_executor(), *tools_, [](std::string_view) {});
  const ToolUseId first = *ToolUseId::parse("tu_1");
  const ToolUseId second = *ToolUseId::parse("tu_2");
  for (const ToolUseId& id : {first, second}) {
    calls.start(*RunId::parse("run_1"), {.id = id, .name = "alone", .args = "{}"});
    run_ready(io_);
  }
  timers.advance(milliseconds(1500));
  calls.cut_off();
  run_ready(io_);
  calls.give_up();
  EXPECT_EQ(calls.took(first), milliseconds(1500));
  EXPECT_EQ(calls.took(second), milliseconds(0)) << "it never began";
  run_task(io_, calls.stop());
}

}  // namespace
}  // namespace errand::sdk::local_calls_test
