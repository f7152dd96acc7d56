#include "sdk/local_questions.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <string>

#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "json/write.hpp"
#include "support/run_task.hpp"

namespace errand::sdk::local_questions_test {
namespace {

// Answers with what it is asked, unless it hangs.
class EchoTool final : public Tool {
 public:
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext /*context*/) override {
    if (hangs) {
      Wakeup never(co_await asio::this_coro::executor);
      co_await never.wait();
    }
    co_return text_outcome(cat(call.id.view(), json::write(call.arguments)));
  }

  bool hangs = false;

 private:
  const ToolDecl decl_{.name = "who", .input_schema = share_schema({{"type", "object"}})};
};

class LocalQuestionsTest : public testing::Test {
 protected:
  ~LocalQuestionsTest() override { run_task(io_, tasks_.stop(CancelReason::shutdown)); }

  LocalQuestions make() { return {tasks_, tools_, RunId(), *ToolUseId::parse("tu_1")}; }
  std::string wait(AnswerPtr<ToolAnswer> pending) {
    auto answer = run_task(io_, PendingAnswer<ToolAnswer>::wait(std::move(pending)));
    if (!answer) return std::string(to_string(answer.error().code()));
    return cat(answer->ok ? "ok " : "failed ", answer->text);
  }

  asio::io_context io_{1};
  const std::shared_ptr<EchoTool> echo_ = std::make_shared<EchoTool>();
  const FixedTools tools_{{echo_}};
  TaskGroup tasks_{io_.get_executor(),
                   [](const char*, const std::string& what) { ADD_FAILURE() << what; }};
};

TEST_F(LocalQuestionsTest, AToolWithTheNameOfTheQuestionAnswers) {
  LocalQuestions questions = make();
  EXPECT_EQ(wait(questions.ask_client({.name = "who", .args = {{"q", 1}}})), R"(ok tu_1{"q":1})");
  EXPECT_EQ(wait(questions.ask_client({.name = "where", .args = {}})),
            "failed nobody here answers where");
}

TEST_F(LocalQuestionsTest, TheModelOfARunElsewhereCannotBeAsked) {
  LocalQuestions questions = make();
  auto pending = questions.ask_model({});
  EXPECT_EQ(run_task(io_, PendingAnswer<ModelAnswer>::wait(pending)).error().code(),
            ErrorCode::unsupported);
}

TEST_F(LocalQuestionsTest, WhatIsAskedIsBounded) {
  LocalQuestions questions = make();
  std::string large(kClientQuestionBytesMax, 'x');
  EXPECT_EQ(wait(questions.ask_client({.name = "who", .args = {{"q", large}}})), "too_large");
  for (int i = 0; i < kClientQuestionsMax; ++i) {
    EXPECT_EQ(wait(questions.ask_client({.name = "who", .args = {}})), "ok tu_1{}");
  }
  EXPECT_EQ(wait(questions.ask_client({.name = "who", .args = {}})), "rate_limited");
}

TEST_F(LocalQuestionsTest, AQuestionEndsWithItsCall) {
  echo_->hangs = true;
  AnswerPtr<ToolAnswer> pending;
  {
    LocalQuestions questions = make();
    pending = questions.ask_client({.name = "who", .args = {}});
    run_ready(io_);
    EXPECT_FALSE(pending->is_settled());
  }
  EXPECT_EQ(wait(pending), "cancelled");
  run_until(io_, [this] { return tasks_.size() == 0; });
}

}  // namespace
}  // namespace errand::sdk::local_questions_test
