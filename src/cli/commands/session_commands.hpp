#pragma once

#include <string>

#include "cli/show/answer_text.hpp"

namespace errand::cli {

// `errand sessions ...`. Each returns the exit code.

struct SessionListOptions {
  std::string status;  // "active" or "ended"; empty: both
  std::string agent;   // its id or name; empty: all
  int limit = 50;
};

int list_sessions(const AnswerOptions& options, const SessionListOptions& which);
// The session and what was said in it.
int show_session(const AnswerOptions& options, const std::string& id);
int end_session(const AnswerOptions& options, const std::string& id);
// An ended one, with its runs.
int remove_session(const AnswerOptions& options, const std::string& id);

}  // namespace errand::cli
