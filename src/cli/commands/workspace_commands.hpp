#pragma once

#include <string>

#include "cli/show/event_printer.hpp"
#include "sdk/credentials.hpp"

namespace errand::cli {

// `errand keys ...` and `errand models`. Each returns the exit code.

struct AnswerOptions {
  Form form = Form::text;
  sdk::ServerFlags server;
};
// Prints the key alone on stdout: it is never shown again.
int create_key(const AnswerOptions& options, const std::string& name);
int list_keys(const AnswerOptions& options);
int revoke_key(const AnswerOptions& options, const std::string& id);
int list_models(const AnswerOptions& options);

}  // namespace errand::cli
