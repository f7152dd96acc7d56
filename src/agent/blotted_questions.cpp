#include "agent/blotted_questions.hpp"

#include <utility>

#include "tool/blot_decls.hpp"

namespace errand::agent {
namespace {

class BlottedQuestions final : public CallQuestions {
 public:
  BlottedQuestions(std::unique_ptr<CallQuestions> questions, const CallSecrets& secrets)
      : questions_(std::move(questions)), secrets_(secrets) {}

  AnswerPtr<ModelAnswer> ask_model(ModelQuestion question) override {
    question.system_prompt = secrets_.blot_out(std::move(question.system_prompt));
    for (Message& message : question.messages) {
      message.text = secrets_.blot_out(std::move(message.text));
    }
    return questions_->ask_model(std::move(question));
  }

  AnswerPtr<ToolAnswer> ask_client(ClientQuestion question) override {
    question.args = without_secrets(question.args, secrets_).value_or(json::Object());
    return questions_->ask_client(std::move(question));
  }

 private:
  const std::unique_ptr<CallQuestions> questions_;
  const CallSecrets& secrets_;
};

}  // namespace

std::unique_ptr<CallQuestions> blotted(std::unique_ptr<CallQuestions> questions,
                                       const CallSecrets& secrets) {
  if (!questions) return nullptr;
  return std::make_unique<BlottedQuestions>(std::move(questions), secrets);
}

}  // namespace errand::agent
