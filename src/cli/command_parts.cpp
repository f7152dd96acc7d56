#include "cli/command_parts.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::cli {

CLI::App* add_command(CLI::App& parent, const char* name, const char* description,
                      const char* example) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->footer(cat("Example:\n  ", example));
  command->group("Commands");
  return command;
}

CLI::Option* add_argument(CLI::App* command, const char* name, std::string& value,
                          const char* description) {
  return command->add_option(name, value, description)->required()->option_text(" ");
}

void add_form(CLI::App* command, Form& form, const char* description) {
  command->add_flag_callback("--json", [&form] { form = Form::json; }, description);
}

void add_server(CLI::App* command, sdk::ServerFlags& flags) {
  add(command, "--server", flags.server, "URL", "Server URL (default: the one in DIR/credentials)");
  add(command, "--key", flags.key, "KEY", "API key (default: ERRAND_API_KEY, or DIR/credentials)");
  add(command, "--workspace", flags.workspace, "SLUG", "Workspace that the key belongs to");
  add(command, "--data", flags.data, "DIR", "Data directory of the server (default ./.errand)");
}

void add_question(CLI::App& parent, const char* name, const char* description, const char* example,
                  std::function<void(const AnswerOptions&)> work,
                  std::function<void(CLI::App*)> add_more) {
  CLI::App* command = add_command(parent, name, description, example);
  auto options = std::make_shared<AnswerOptions>();
  if (add_more) add_more(command);
  add_form(command, options->form, "Print the server's JSON response");
  add_server(command, options->server);
  command->callback([options, work = std::move(work)] { work(*options); });
}

}  // namespace errand::cli
