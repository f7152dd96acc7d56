#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

#include "cli/show/answer_text.hpp"
#include "sdk/credentials.hpp"

namespace errand::cli {

// What commands are put together from.

// Receives the exit code of the command.
using ExitCode = std::shared_ptr<int>;

CLI::App* add_command(CLI::App& parent, const char* name, const char* description,
                      const char* example);

template <class T>
CLI::Option* add(CLI::App* command, const char* flag, T& value, const char* kind,
                 const char* description) {
  return command->add_option(flag, value, description)->option_text(kind);
}

// A required positional argument.
CLI::Option* add_argument(CLI::App* command, const char* name, std::string& value,
                          const char* description);

void add_form(CLI::App* command, Form& form, const char* description);
void add_server(CLI::App* command, sdk::ServerFlags& flags);

// A command that sends one request and shows the response. `add_more` adds its own flags.
void add_question(CLI::App& parent, const char* name, const char* description, const char* example,
                  std::function<void(const AnswerOptions&)> work,
                  std::function<void(CLI::App*)> add_more = nullptr);

}  // namespace errand::cli
