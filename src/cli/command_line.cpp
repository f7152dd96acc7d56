// Long because it declares every command, in the order of the help.
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/agent_command_line.hpp"
#include "cli/command_info.hpp"
#include "cli/command_parts.hpp"
#include "cli/commands/known_values.hpp"
#include "cli/commands/login_command.hpp"
#include "cli/commands/workspace_commands.hpp"
#include "cli/completion.hpp"
#include "cli/doctor/doctor.hpp"
#include "cli/man_page.hpp"
#include "cli/operate/backup_command.hpp"
#include "cli/operate/check_command.hpp"
#include "cli/operate/config_commands.hpp"
#include "cli/operate/fake_model.hpp"
#include "cli/operate/serve.hpp"
#include "cli/record_command_line.hpp"
#include "cli/runs_command_line.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "cli/usage_error.hpp"
#include "host/config_schema.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kHelpColumn = 24;

void add_serve(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "serve", "Run the server until Ctrl-C or SIGTERM.",
                                  "errand serve --listen 127.0.0.1:7300 --data ./.errand");
  auto options = std::make_shared<ServeOptions>();
  auto drain_seconds = std::make_shared<double>(5);
  auto format = std::make_shared<std::string>("text");
  add(command, "--listen", options->listen, "HOST:PORT",
      "Address (default 127.0.0.1:7300; port 0: any free port)");
  add(command, "--data", options->data, "DIR", "Data directory (default ./.errand)");
  add(command, "--config", options->config, "FILE", "Configuration file (JSON with comments)");
  add(command, "--store", options->store, "URL",
      "Database, as sqlite:PATH (default: DIR/errand.db)");
  add(command, "--public-url", options->public_url, "URL",
      "URL at which clients reach this server");
  command->add_flag("--behind-proxy", options->behind_proxy,
                    "A proxy in front of the server handles TLS");
  add(command, "--drain", *drain_seconds, "TIME", "Time limit for a shutdown (default 5s)")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"s", 1.0}, {"ms", 0.001}, {"m", 60.0}},
          CLI::AsNumberWithUnit::UNIT_OPTIONAL));
  add(command, "--log-format", *format, "FORMAT", "Log format: text (default) or json")
      ->check(CLI::IsMember({"text", "json"}));
  auto level = std::make_shared<std::string>();
  add(command, "--log-level", *level, "LEVEL",
      "Lowest level: info, warning (on a terminal) or error")
      ->check(CLI::IsMember({"info", "warning", "error"}));
  command->callback([options, drain_seconds, format, level, exit_code] {
    if (*level == "info") options->log_level = LogLevel::info;
    if (*level == "warning") options->log_level = LogLevel::warning;
    if (*level == "error") options->log_level = LogLevel::error;
    options->drain = milliseconds(static_cast<std::int64_t>(*drain_seconds * 1000));
    options->log_format = *format == "json" ? LogFormat::json : LogFormat::text;
    *exit_code = serve(*options);
  });
}

void add_key_flags(CLI::App* command, NewKeyOptions& key) {
  add(command, "--name", key.name, "NAME", "Name that says what the key is for");
  add(command, "--scope", key.scopes, "SCOPE", "What the key may do (repeatable; default: all)")
      ->allow_extra_args(false);
  add(command, "--agent", key.agents, "AGENT", "Agent that it may run (repeatable; default: all)")
      ->allow_extra_args(false);
  add(command, "--expires", key.expires_seconds, "TIME", "Time until it expires, such as 30d or 8h")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}},
          CLI::AsNumberWithUnit::UNIT_OPTIONAL))
      ->check(CLI::PositiveNumber);
}

void add_oauth(CLI::App& app, ExitCode exit_code) {
  CLI::App* oauth =
      add_command(app, "oauth", "Create, list or delete OAuth clients.", "errand oauth list");
  oauth->require_subcommand(1);
  auto client = std::make_shared<NewKeyOptions>();
  add_question(
      *oauth, "create", "Create an OAuth client and print its secrets once.",
      "errand oauth create --name portal --scope runs:read --scope runs:write",
      [=](const AnswerOptions& options) { *exit_code = create_oauth_client(options, *client); },
      [=](CLI::App* command) {
        add(command, "--name", client->name, "NAME", "Name that says what the client is");
        add(command, "--scope", client->scopes, "SCOPE", "What its tokens may do (repeatable)")
            ->allow_extra_args(false)
            ->required();
        add(command, "--agent", client->agents, "AGENT",
            "Agent that it may run (repeatable; default: all)")
            ->allow_extra_args(false);
      });
  add_question(*oauth, "list", "List the OAuth clients of the workspace.", "errand oauth list",
               [=](const AnswerOptions& options) { *exit_code = list_oauth_clients(options); });
  auto id = std::make_shared<std::string>();
  add_question(
      *oauth, "delete", "Delete an OAuth client and revoke all of its tokens.",
      "errand oauth delete mantyx_oa_0123abcd",
      [=](const AnswerOptions& options) { *exit_code = delete_oauth_client(options, *id); },
      [=](CLI::App* command) { add_argument(command, "CLIENT", *id, "Client id"); });
}

void add_workspaces(CLI::App& app, ExitCode exit_code) {
  CLI::App* workspaces =
      add_command(app, "workspaces", "Create or list workspaces.", "errand workspaces list");
  workspaces->require_subcommand(1);
  auto slug = std::make_shared<std::string>();
  auto name = std::make_shared<std::string>();
  add_question(
      *workspaces, "create", "Create a workspace and print its first key once.",
      "errand workspaces create acme --name \"Acme Inc.\"",
      [=](const AnswerOptions& options) { *exit_code = create_workspace(options, *slug, *name); },
      [=](CLI::App* command) {
        add_argument(command, "SLUG", *slug, "Name in URLs");
        add(command, "--name", *name, "NAME", "Display name");
      });
  add_question(*workspaces, "list", "List the workspaces of the server.", "errand workspaces list",
               [=](const AnswerOptions& options) { *exit_code = list_workspaces(options); });
}

void add_keys(CLI::App& app, ExitCode exit_code) {
  CLI::App* keys = add_command(app, "keys", "Create, list or revoke API keys.", "errand keys list");
  keys->require_subcommand(1);
  auto key = std::make_shared<NewKeyOptions>();
  add_question(
      *keys, "create", "Create an API key and print it once.",
      "export ERRAND_API_KEY=$(errand keys create --name laptop)",
      [=](const AnswerOptions& options) { *exit_code = create_key(options, *key); },
      [=](CLI::App* command) { add_key_flags(command, *key); });
  add_question(*keys, "list", "List the API keys of the workspace.", "errand keys list",
               [=](const AnswerOptions& options) { *exit_code = list_keys(options); });
  auto id = std::make_shared<std::string>();
  add_question(
      *keys, "revoke", "Revoke an API key.", "errand keys revoke key_0123abcd",
      [=](const AnswerOptions& options) { *exit_code = revoke_key(options, *id); },
      [=](CLI::App* command) { add_argument(command, "KEY", *id, "Key id"); });
  add_rotate_secret(*keys, exit_code);
}

struct CopyWords {
  const char* name;
  const char* description;
  const char* example;
  const char* file;
};

void add_copy_command(CLI::App& app, ExitCode exit_code, const CopyWords& words,
                      int (*command_of)(const CopyOptions&)) {
  CLI::App* command = add_command(app, words.name, words.description, words.example);
  auto options = std::make_shared<CopyOptions>();
  add_argument(command, "FILE", options->file, words.file);
  add(command, "--data", options->data, "DIR", "Data directory (default ./.errand)");
  command->add_flag("--force", options->force, "Replace an existing file or database");
  command->callback([=] { *exit_code = command_of(*options); });
}

void add_copies(CLI::App& app, ExitCode exit_code) {
  add_copy_command(app, exit_code,
                   {.name = "backup",
                    .description = "Back up all data to a file, even while a server runs.",
                    .example = "errand backup errand-backup.db",
                    .file = "Backup file to write"},
                   back_up_data);
  add_copy_command(app, exit_code,
                   {.name = "restore",
                    .description = "Restore a backup. Stop the server first.",
                    .example = "errand restore errand-backup.db --data restored",
                    .file = "File written by 'errand backup'"},
                   restore_data);
}

void add_check_data(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "check-data", "Check the stored data against the run logs.",
                                  "errand check-data --data restored");
  auto options = std::make_shared<CheckOptions>();
  add(command, "--data", options->data, "DIR", "Data directory (default ./.errand)");
  add(command, "--store", options->store, "URL",
      "Database, as sqlite:PATH (default: DIR/errand.db)");
  command->callback([options, exit_code] { *exit_code = check_data(*options); });
}

void add_fake_model(CLI::App& app, ExitCode exit_code) {
  CLI::App* command =
      add_command(app, "fake-model", "Serve fake OpenAI, Anthropic and Gemini APIs for tests.",
                  "errand fake-model --script turns.json --listen 127.0.0.1:9001");
  auto options = std::make_shared<FakeModelOptions>();
  auto format = std::make_shared<std::string>("text");
  add(command, "--script", options->script, "FILE", "Script to play, as for the scripted model");
  add(command, "--listen", options->listen, "HOST:PORT",
      "Address (default 127.0.0.1:0; port 0: any free port)");
  add(command, "--key", options->key, "KEY", "Accept only this API key (default: any)");
  add(command, "--log-format", *format, "FORMAT", "Log format: text (default) or json")
      ->check(CLI::IsMember({"text", "json"}));
  command->callback([options, format, exit_code] {
    options->log_format = *format == "json" ? LogFormat::json : LogFormat::text;
    *exit_code = fake_model(*options);
  });
}

void add_doctor(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "doctor", "Check the installation and suggest fixes.",
                                  "errand doctor --data ./.errand");
  auto options = std::make_shared<DoctorOptions>();
  add(command, "--data", options->server.data, "DIR", "Data directory (default ./.errand)");
  add(command, "--config", options->config, "FILE", "Configuration file to check, with its models");
  add(command, "--server", options->server.server, "URL",
      "Server to check (default: the one in DIR/credentials)");
  add(command, "--key", options->server.key, "KEY",
      "API key (default: ERRAND_API_KEY, or DIR/credentials)");
  add(command, "--workspace", options->server.workspace, "SLUG",
      "Workspace that the key belongs to");
  add_form(command, options->form, "Print the results as JSON");
  command->callback([options, exit_code] { *exit_code = doctor(*options); });
}

void add_models(CLI::App& app, ExitCode exit_code) {
  auto config = std::make_shared<std::string>();
  add_question(
      app, "models", "List the models and whether each can be reached.", "errand models",
      [=](const AnswerOptions& options) { *exit_code = list_models(options, *config); },
      [=](CLI::App* command) {
        add(command, "--config", *config, "FILE", "Configuration file, if there is no server");
      });
}

void add_login(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "login", "Store a server and a key for all your commands.",
                                  "errand login http://127.0.0.1:7300 < key.txt");
  auto options = std::make_shared<LoginOptions>();
  add_argument(command, "URL", options->server, "Server URL");
  add(command, "--workspace", options->workspace, "SLUG", "Workspace that the key belongs to");
  command->callback([=] { *exit_code = login(*options); });
  CLI::App* forget =
      add_command(app, "logout", "Remove what 'errand login' has stored.", "errand logout");
  forget->callback([=] { *exit_code = logout(); });
}

void add_config(CLI::App& app, ExitCode exit_code) {
  CLI::App* config = add_command(app, "config", "Write, check or describe the configuration file.",
                                 "errand config init");
  config->require_subcommand(1);
  auto init = std::make_shared<ConfigInitOptions>();
  CLI::App* write = add_command(*config, "init", "Write a configuration file to start from.",
                                "errand config init errand.json");
  write->add_option("FILE", init->file, "File to write (default: errand.json)")->option_text(" ");
  write->add_flag("--force", init->force, "Replace an existing file");
  write->callback([=] { *exit_code = init_config(*init); });
  auto file = std::make_shared<std::string>();
  CLI::App* check = add_command(*config, "check", "Check a configuration file.",
                                "errand config check errand.json");
  add_argument(check, "FILE", *file, "Configuration file");
  check->callback([=] { *exit_code = check_config(*file); });
  CLI::App* command =
      add_command(*config, "schema", "Print the JSON Schema of the configuration file.",
                  "errand config schema > errand.schema.json");
  command->callback([exit_code] { *exit_code = print_json(host::config_schema()); });
}

void add_completion(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "completion", "Print a shell completion script.",
                                  "source <(errand completion bash)");
  auto shell = std::make_shared<std::string>();
  auto kind = std::make_shared<std::string>();
  auto server = std::make_shared<sdk::ServerFlags>();
  CLI::Option* script = add_argument(command, "SHELL", *shell, "bash, zsh or fish")
                            ->required(false)
                            ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  std::vector<std::string> kinds(value_kinds().begin(), value_kinds().end());
  CLI::Option* values =
      add(command, "--values", *kind, "KIND", "Print the values of a kind, as the scripts ask")
          ->check(CLI::IsMember(kinds))
          ->excludes(script);
  add_server(command, *server);
  command->callback([=] {
    if (values->count() > 0) {
      *exit_code = print_known_values(*server, *kind);
    } else if (script->count() > 0) {
      *exit_code = print(completion_script(*shell, describe_commands()));
    } else {
      *exit_code =
          fail_usage(Error(ErrorCode::invalid_argument, "SHELL is required: bash, zsh or fish"));
    }
  });
}

void add_man(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "man", "Print the manual page.", "errand man > errand.1");
  command->callback([exit_code] { *exit_code = print(man_page(describe_commands())); });
}

int print_version() {
  return print(cat("errand ", version(), "\n"));
}

void add_version(CLI::App& app, ExitCode exit_code) {
  // The help lists the command "version" instead of this flag.
  app.set_version_flag("--version", std::string(version()), "Print the version")->group("");
  CLI::App* command = add_command(app, "version", "Print the version.", "errand version");
  command->callback([exit_code] { *exit_code = print_version(); });
}

// The last command that the parser recognised.
const CLI::App* innermost(const CLI::App& app) {
  const CLI::App* found = &app;
  while (!found->get_subcommands().empty()) found = found->get_subcommands().front();
  return found;
}

std::string help_of(const CLI::App* command) {
  const CLI::App* parent = command->get_parent();
  std::string text = command->help(parent ? full_name(parent) : "");
  // Hidden flags leave an empty line.
  std::size_t gap = text.find("\n\n\n");
  return gap == std::string::npos ? text : text.erase(gap, 1);
}

// CLI11 says how many values of which kind are missing; a person needs to know only that one is.
std::string in_plain_words(std::string_view problem) {
  const std::size_t value = problem.find(": 1 required ");
  if (value == std::string_view::npos) return std::string(problem);
  return cat(problem.substr(0, value), " needs a value");
}

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = innermost(app);
  if (error.get_name() == "CallForVersion") return print_version();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return print(help_of(command));
  }
  // A required word may be missing because an unknown one stands in its place.
  for (const CLI::App* one = command; one; one = one->get_parent()) {
    std::vector<std::string> rest = one->remaining();
    if (!rest.empty()) return fail_usage(unknown_words(describe(one), rest));
  }
  if (command->get_require_subcommand_min() > 0) {
    print(help_of(command));
    return kExitUsage;
  }
  return fail_usage(usage_error(describe(command), in_plain_words(error.what())));
}

// `errand help runs list` shows what `errand runs list --help` shows.
int show_help(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  for (const std::string& word : words) {
    auto below =
        command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (below.empty()) return fail_usage(unknown_words(describe(command), {word}));
    command = below.front();
  }
  return print(help_of(command));
}

void add_help(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "help", "Show the help of a command.", "errand help runs");
  auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *words, "Words of the command")->option_text(" ");
  command->callback([&app, words, exit_code] { *exit_code = show_help(app, *words); });
}

// Commands that are rarely typed share two lines, because the list has to fit one screen.
constexpr auto kRareCommands = std::to_array<const char*>(
    {"backup", "check-data", "completion", "fake-model", "help", "logout", "man", "mcp", "oauth",
     "restore", "version", "workspaces"});

std::string rare_commands() {
  constexpr std::size_t kColumnsMax = 80;
  constexpr std::string_view kIndent = "\n      ";
  std::string out = "Also: ";
  std::size_t line = 0;  // the start of the last line
  for (std::string_view name : kRareCommands) {
    if (name != kRareCommands.front()) append(out, ",");
    const bool fits = out.size() - line + name.size() + 2 <= kColumnsMax;
    if (!fits) line = out.size() + 1;
    if (name != kRareCommands.front()) append(out, fits ? " " : kIndent);
    append(out, name);
  }
  return out;
}

void add_commands(CLI::App& app, ExitCode exit_code) {
  app.name("errand");
  app.description("Errand runs agents, calls their tools wherever they live, and loses no event.");
  app.get_formatter()->column_width(kHelpColumn);
  app.get_formatter()->label("Positionals", "Arguments");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.footer(cat(rare_commands(), "\nExample: errand run --files . \"What is in README.md?\""));
  app.require_subcommand(1);
  add_serve(app, exit_code);
  add_run(app, exit_code);
  add_chat(app, exit_code);
  add_runs(app, exit_code);
  add_calls(app, exit_code);
  add_sessions(app, exit_code);
  add_agents(app, exit_code);
  add_tools(app, exit_code);
  add_secrets(app, exit_code);
  add_rooms(app, exit_code);
  add_room(app, exit_code);
  add_keys(app, exit_code);
  add_oauth(app, exit_code);
  add_workspaces(app, exit_code);
  add_models(app, exit_code);
  add_login(app, exit_code);
  add_mcp(app, exit_code);
  add_copies(app, exit_code);
  add_check_data(app, exit_code);
  add_fake_model(app, exit_code);
  add_doctor(app, exit_code);
  add_config(app, exit_code);
  add_completion(app, exit_code);
  add_man(app, exit_code);
  add_help(app, exit_code);
  add_version(app, exit_code);
  for (const char* name : kRareCommands) app.get_subcommand(name)->group("");
  // The program's own help does not list --help, which its reader has found. Hidden last, because
  // commands would inherit this.
  app.get_help_ptr()->group("");
}

}  // namespace

int run_command_line(int argc, char** argv) {
  keep_standard_streams();
  CLI::App app;
  auto exit_code = std::make_shared<int>(kExitOk);
  add_commands(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_parse_error(app, error);
  }
  return *exit_code;
}

CommandInfo describe_commands() {
  CLI::App app;
  add_commands(app, std::make_shared<int>(kExitOk));
  return describe(&app);
}

}  // namespace errand::cli
