#pragma once

#include <string>

#include "cli/show/answer_text.hpp"

namespace errand::cli {

// `errand keys ...` and `errand models`. Each returns the exit code.

// Prints the key alone on stdout: it is never shown again.
int create_key(const AnswerOptions& options, const std::string& name);
int list_keys(const AnswerOptions& options);
int revoke_key(const AnswerOptions& options, const std::string& id);
int list_models(const AnswerOptions& options);

}  // namespace errand::cli
