#pragma once

#include <optional>
#include <string>

#include "base/clock.hpp"
#include "cli/show/answer_text.hpp"

namespace errand::cli {

// `errand calls list|answer`: tool calls that wait for a client, for people. Each returns the exit
// code.

// `wait`: for the first call.
int list_calls(const AnswerOptions& options, seconds wait);

struct CallAnswerOptions {
  std::string call;                   // an id, the beginning of exactly one id, or "latest"
  std::optional<std::string> result;  // neither result nor error: the result is on stdin
  std::optional<std::string> error;
};
int answer_call(const AnswerOptions& options, const CallAnswerOptions& answer);

}  // namespace errand::cli
