#pragma once

#include <vector>

#include "async/task_group.hpp"
#include "run/ids.hpp"
#include "tool/call_questions.hpp"
#include "tool/tool_source.hpp"

namespace errand::sdk {

// What a call that this process makes for a run elsewhere may ask: the user, by the tool of this
// process that has the question's name. Without such a tool the answer is a failed one. The run's
// model is where the run is, and cannot be asked. Lives on one home, no longer than the call.
class LocalQuestions final : public CallQuestions {
 public:
  // The tools answer in tasks of the group. Both outlive the object.
  LocalQuestions(TaskGroup& tasks, const FixedTools& tools, RunId run, ToolUseId call)
      : tasks_(tasks), tools_(tools), run_(std::move(run)), call_(std::move(call)) {}
  ~LocalQuestions() override;
  LocalQuestions(const LocalQuestions&) = delete;
  LocalQuestions& operator=(const LocalQuestions&) = delete;

  AnswerPtr<ModelAnswer> ask_model(ModelQuestion question) override;
  AnswerPtr<ToolAnswer> ask_client(ClientQuestion question) override;

 private:
  struct Open {
    AnswerPtr<ToolAnswer> pending;
    TaskGroup::Ticket task;
  };

  TaskGroup& tasks_;
  const FixedTools& tools_;
  const RunId run_;
  const ToolUseId call_;
  std::vector<Open> asked_;
};

}  // namespace errand::sdk
