#pragma once

#include <string>

#include "cli/show/answer_text.hpp"

namespace errand::cli {

// `errand agents ...`, `errand tools ...` and `errand secrets ...`. Each returns the exit code.

// Creates or replaces the record that the JSON in the file names. `noun` is that of its routes.
int apply_record(const AnswerOptions& options, const std::string& noun, const std::string& file);
int delete_record(const AnswerOptions& options, const std::string& noun, const std::string& name);

int list_agents(const AnswerOptions& options);
// `version` 0: the latest.
int show_agent(const AnswerOptions& options, const std::string& name, int version);

int list_tools(const AnswerOptions& options);
// Exit code 1 if the call fails.
int test_tool(const AnswerOptions& options, const std::string& name, const std::string& arguments);

// Reads the value from stdin, so that it is neither in the history of a shell nor in the list of
// processes. On a terminal, asks for it and does not show what is typed.
int set_secret(const AnswerOptions& options, const std::string& name);
int list_secrets(const AnswerOptions& options);

}  // namespace errand::cli
