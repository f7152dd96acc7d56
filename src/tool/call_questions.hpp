#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "async/pending_answer.hpp"
#include "json/value.hpp"
#include "run/log/mail.hpp"
#include "run/message.hpp"

namespace errand {

// What the server of a tool asks a model in the middle of a call.
struct ModelQuestion {
  std::string system_prompt = {};
  std::vector<Message> messages = {};  // their files have bytes
  std::optional<std::int64_t> output_tokens_max = {};
};

struct ModelAnswer {
  std::string text;
  std::string model;          // the vendor's name of it
  std::string finish_reason;  // as in TurnEndEntry
};

// What it asks the client of the run: pending like a call of a client's tool of this name.
struct ClientQuestion {
  std::string name;
  json::Object args;
};

// What a call may ask of the run that makes it. While an answer is pending, the time of the call
// stands still. An answer comes at the latest when the call is over: cancelled.
class CallQuestions {
 public:
  virtual ~CallQuestions() = default;
  // Asks the run's model, within the limits of the run; the tokens are the run's.
  // rate_limited: the run has no turns left. too_large: kModelQuestionBytesMax. unavailable: the
  // model failed.
  virtual AnswerPtr<ModelAnswer> ask_model(ModelQuestion question) = 0;
  // Nobody's answer within the run's time for client tools is a failed one that has timed out.
  // rate_limited: kClientQuestionsMax. too_large: kClientQuestionBytesMax.
  virtual AnswerPtr<ToolAnswer> ask_client(ClientQuestion question) = 0;
};

constexpr std::size_t kModelQuestionBytesMax = 1024UL * 1024;  // of text
constexpr std::size_t kModelAnswerBytesMax = 1024UL * 1024;
constexpr int kClientQuestionsMax = 16;  // of one call
constexpr std::size_t kClientQuestionBytesMax = 64UL * 1024;

}  // namespace errand
