#include <errand/testing.hpp>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand::v1 {

AnswerSink::~AnswerSink() = default;
Model::~Model() = default;

ScriptedModel::ScriptedModel(std::vector<ScriptedTurn> turns) : turns_(std::move(turns)) {}
ScriptedModel::~ScriptedModel() = default;

void ScriptedModel::ask(const Question& question, AnswerSink& sink) {
  {
    std::lock_guard lock(mutex_);
    questions_.push_back(question);
  }
  auto number = static_cast<std::size_t>(std::ranges::count_if(
      question.messages, [](const QuestionMessage& one) { return one.role == Role::assistant; }));
  if (number >= turns_.size()) {
    throw Error(
        ErrorCode::invalid_argument,
        cat("the script has ", turns_.size(), " turns, but turn ", number + 1, " was asked for"));
  }
  const ScriptedTurn& turn = turns_[number];
  if (turn.error) throw *turn.error;
  if (!turn.thinking.empty()) sink.thinking(turn.thinking);
  if (!turn.text.empty()) sink.text(turn.text);
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    sink.call(turn.calls[i].tool, turn.calls[i].arguments, cat("call_", number, "_", i));
  }
  sink.usage(turn.usage);
}

std::vector<Question> ScriptedModel::questions() const {
  std::lock_guard lock(mutex_);
  return questions_;
}

std::shared_ptr<ScriptedModel> scripted(std::vector<ScriptedTurn> turns) {
  return std::make_shared<ScriptedModel>(std::move(turns));
}

}  // namespace errand::v1
