#include "sdk/local_questions.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/held_calls.hpp"

namespace errand::sdk {
namespace {

template <class T>
AnswerPtr<T> settled(Result<T> answer) {
  auto pending = std::make_shared<PendingAnswer<T>>();
  pending->settle(std::move(answer));
  return pending;
}

Task<void> answer(ToolPtr tool, ToolCall question, AnswerPtr<ToolAnswer> pending) {
  ToolOutcome outcome = co_await tool->invoke(std::move(question), ToolContext{});
  pending->settle(answer_of(std::move(outcome)));
}

}  // namespace

LocalQuestions::~LocalQuestions() {
  for (const Open& one : asked_) {
    tasks_.cancel_one(one.task);
    one.pending->settle(Error(ErrorCode::cancelled, "the call is over"));
  }
}

AnswerPtr<ModelAnswer> LocalQuestions::ask_model(ModelQuestion /*question*/) {
  return settled<ModelAnswer>(
      Error(ErrorCode::unsupported, "the model of the run cannot be asked from here"));
}

AnswerPtr<ToolAnswer> LocalQuestions::ask_client(ClientQuestion question) {
  if (asked_.size() >= kClientQuestionsMax) {
    return settled<ToolAnswer>(Error(ErrorCode::rate_limited, "the call asks too often")
                                   .limit("questions", kClientQuestionsMax));
  }
  if (json::write(question.args).size() > kClientQuestionBytesMax) {
    return settled<ToolAnswer>(Error(ErrorCode::too_large, "the question is too long")
                                   .limit("bytes", kClientQuestionBytesMax));
  }
  ToolPtr tool = tools_.find(question.name);
  if (!tool) {
    return settled<ToolAnswer>(
        ToolAnswer{.ok = false, .text = cat("nobody here answers ", question.name)});
  }
  auto pending = std::make_shared<PendingAnswer<ToolAnswer>>();
  ToolCall asked{.run = run_, .id = call_, .arguments = std::move(question.args)};
  asked_.push_back(
      {.pending = pending,
       .task = tasks_.spawn("tool question", answer(std::move(tool), std::move(asked), pending))});
  return pending;
}

}  // namespace errand::sdk
