// Long because it declares every command, in the order of the help.
#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/agent/run_command.hpp"
#include "cli/chat/chat_command.hpp"
#include "cli/command_info.hpp"
#include "cli/command_parts.hpp"
#include "cli/commands/backup_command.hpp"
#include "cli/commands/check_command.hpp"
#include "cli/commands/fake_model.hpp"
#include "cli/commands/history_commands.hpp"
#include "cli/commands/mcp_command.hpp"
#include "cli/commands/runs_commands.hpp"
#include "cli/commands/serve.hpp"
#include "cli/commands/session_commands.hpp"
#include "cli/commands/workspace_commands.hpp"
#include "cli/completion.hpp"
#include "cli/doctor/doctor.hpp"
#include "cli/record_command_line.hpp"
#include "cli/terminal/console.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "cli/usage_error.hpp"
#include "host/config_schema.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kHelpColumn = 24;
constexpr int kTurnsMax = 1000;
constexpr int kRunsMax = 10'000;

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
  command->callback([options, drain_seconds, format, exit_code] {
    options->drain = milliseconds(static_cast<std::int64_t>(*drain_seconds * 1000));
    options->log_format = *format == "json" ? LogFormat::json : LogFormat::text;
    *exit_code = serve(*options);
  });
}

// Leaves a flag out of the help, because the line of another flag names it and the help has to fit
// one screen.
void hide(CLI::Option* option) {
  option->group("");
}

// The flags of `run` and `chat` that describe the agent.
void add_agent(CLI::App* command, AgentOptions& options) {
  add(command, "--agent", options.agent, "NAME", "Stored agent to run (see 'errand agents')");
  add(command, "--model", options.model, "ID", "Model to use instead of the default");
  add(command, "--system", options.system, "TEXT", "System prompt");
  add(command, "--files", options.files, "DIR", "Let the model read the files in DIR");
  command->add_flag("--shell", options.shell,
                    "Let the model run commands you approve (--yes: all)");
  hide(command->add_flag("--yes", options.yes, "Run the commands of --shell without asking"));
  command->add_flag("--web-fetch", options.web_fetch,
                    "Let the model read web pages (--web-search: search)");
  hide(command->add_flag("--web-search", options.web_search, "Let the model search the web"));
  add(command, "--mcp", options.mcp, "SERVER",
      "Use an MCP server: a URL or a command (--a2a: an agent)")
      ->allow_extra_args(false);
  hide(add(command, "--a2a", options.a2a, "URL", "Lend an A2A agent, by the URL of its card")
           ->allow_extra_args(false));
  hide(add(command, "--allow-network", options.allow_networks, "CIDR",
           "Network that --web-fetch may reach besides public ones")
           ->allow_extra_args(false));
  add(command, "--reasoning", options.reasoning, "LEVEL",
      "Reasoning: off, low, medium, high, or 0 to 100");
  hide(
      add(command, "--max-turns", options.max_turns, "N", "Maximum number of turns with tool calls")
          ->check(CLI::Range(0, kTurnsMax)));
}

// The flags of `run` and `chat` that say where the agent runs.
void add_place(CLI::App* command, AgentOptions& options) {
  command->add_flag("--embedded", options.embedded, "Run without a server (models: --config FILE)");
  hide(add(command, "--config", options.config, "FILE",
           "Configuration file for a run without a server"));
  add(command, "--data", options.server.data, "DIR",
      "Data directory of the server, or of embedded runs");
  add(command, "--server", options.server.server, "URL",
      "Server to use, with --key KEY and --workspace SLUG");
  hide(add(command, "--key", options.server.key, "KEY", "API key"));
  hide(add(command, "--workspace", options.server.workspace, "SLUG",
           "Workspace that the key belongs to"));
}

void add_run(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "run", "Run a prompt and show its progress.",
                                  "errand run --files . \"What is in README.md?\"");
  auto options = std::make_shared<RunOptions>();
  add_argument(command, "PROMPT", options->prompt, "What to do; - reads the prompt from stdin");
  add_agent(command, options->agent);
  add(command, "--output-schema", options->output_schema, "FILE",
      "JSON Schema that the answer must match");
  add_form(command, options->form, "Print each event as one line of JSON");
  add_place(command, options->agent);
  command->callback([options, exit_code] { *exit_code = run_command(*options); });
}

void add_chat(CLI::App& app, ExitCode exit_code) {
  CLI::App* command =
      add_command(app, "chat", "Chat with a model in the terminal.", "errand chat --files .");
  auto options = std::make_shared<ChatOptions>();
  auto chat = std::make_shared<std::string>();
  CLI::Option* resume = add(command, "--resume", *chat, "[CHAT]",
                            "Continue the latest chat, or the chat with this id")
                            ->expected(0, 1);
  command->add_flag("--list", options->list, "List chats, the last used first")->excludes(resume);
  add_agent(command, options->agent);
  add_place(command, options->agent);
  command->callback([=] {
    if (resume->count() > 0) options->resume = *chat;
    *exit_code = chat_command(*options);
  });
}

void add_runs_list(CLI::App& runs, ExitCode exit_code) {
  CLI::App* command =
      add_command(runs, "list", "List runs, newest first.", "errand runs list --status running");
  auto options = std::make_shared<RunsListOptions>();
  add(command, "--status", options->status, "STATUS",
      "Only queued, running, succeeded, failed or cancelled");
  add(command, "--limit", options->limit, "N", "Maximum number of runs (default 20)")
      ->check(CLI::Range(1, kRunsMax));
  add_form(command, options->form, "Print the server's JSON response");
  add_server(command, options->server);
  command->callback([options, exit_code] { *exit_code = list_runs(*options); });
}

void add_run_command(CLI::App& runs, ExitCode exit_code, const char* name, const char* description,
                     int (*command_of)(const RunChoice&)) {
  CLI::App* command =
      add_command(runs, name, description, cat("errand runs ", name, " run_0123abcd").c_str());
  auto options = std::make_shared<RunChoice>();
  add_argument(command, "RUN", options->run, "Run id");
  add_form(command, options->form, "Print the server's JSON response");
  add_server(command, options->server);
  command->callback([=] { *exit_code = command_of(*options); });
}

void add_runs_tail(CLI::App& runs, ExitCode exit_code) {
  CLI::App* command =
      add_command(runs, "tail", "Follow a run until it ends; Ctrl-C only stops watching.",
                  "errand runs tail run_0123abcd --after 12");
  auto options = std::make_shared<RunChoice>();
  auto after = std::make_shared<EventSeq>(0);
  add_argument(command, "RUN", options->run, "Run id");
  add(command, "--after", *after, "SEQ", "Start after the event with this number")
      ->check(CLI::NonNegativeNumber);
  add_form(command, options->form, "Print each event as one line of JSON");
  add_server(command, options->server);
  command->callback([=] { *exit_code = tail_run(*options, *after); });
}

void add_runs_fork(CLI::App& runs, ExitCode exit_code) {
  CLI::App* command =
      add_command(runs, "fork", "Start a new run from a finished turn and print its id.",
                  "errand runs fork run_0123abcd --prompt \"And in docs/plan.md?\"");
  auto options = std::make_shared<ForkOptions>();
  add_argument(command, "RUN", options->run, "Run id");
  add(command, "--from-seq", options->from_seq, "SEQ",
      "Keep the turns finished by this event (default: all)")
      ->check(CLI::NonNegativeNumber);
  add(command, "--prompt", options->prompt, "TEXT", "Next user message");
  add(command, "--model", options->model, "ID", "Model to use instead of the original run's");
  add_form(command, options->form, "Print the server's JSON response");
  add_server(command, options->server);
  command->callback([=] { *exit_code = fork_run(*options); });
}

void add_runs_export(CLI::App& runs, ExitCode exit_code) {
  CLI::App* command = add_command(runs, "export", "Export everything about a run as one JSON file.",
                                  "errand runs export run_0123abcd --output run.json");
  auto options = std::make_shared<ExportOptions>();
  add_argument(command, "RUN", options->run, "Run id");
  add(command, "--output", options->output, "FILE", "File to write (default: stdout)");
  add_server(command, options->server);
  command->callback([=] { *exit_code = export_run(*options); });
}

void add_runs_replay(CLI::App& runs, ExitCode exit_code) {
  CLI::App* command =
      add_command(runs, "replay", "Replay an exported run offline and compare the events.",
                  "errand runs replay run.json");
  auto file = std::make_shared<std::string>();
  add_argument(command, "FILE", *file, "File written by 'errand runs export'");
  command->callback([=] { *exit_code = replay_run(*file); });
}

void add_runs(CLI::App& app, ExitCode exit_code) {
  CLI::App* runs = add_command(
      app, "runs", "List, show, follow, cancel, fork, replay or remove runs.", "errand runs list");
  runs->require_subcommand(1);
  add_runs_list(*runs, exit_code);
  add_run_command(*runs, exit_code, "show", "Show a run and its result.", show_run);
  add_runs_tail(*runs, exit_code);
  add_run_command(*runs, exit_code, "cancel", "Cancel a run.", cancel_run);
  add_runs_fork(*runs, exit_code);
  add_runs_export(*runs, exit_code);
  add_runs_replay(*runs, exit_code);
  add_run_command(*runs, exit_code, "rm", "Remove an ended run for good.", remove_run);
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
        add_argument(command, "SLUG", *slug, "Its name in paths");
        add(command, "--name", *name, "NAME", "Its name for people");
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

void add_sessions(CLI::App& app, ExitCode exit_code) {
  CLI::App* sessions =
      add_command(app, "sessions", "List, show, end or remove sessions.", "errand sessions list");
  sessions->require_subcommand(1);
  auto which = std::make_shared<SessionListOptions>();
  add_question(
      *sessions, "list", "List sessions, the last used first.",
      "errand sessions list --status active",
      [=](const AnswerOptions& options) { *exit_code = list_sessions(options, *which); },
      [=](CLI::App* command) {
        add(command, "--status", which->status, "STATUS", "Only active or ended")
            ->check(CLI::IsMember({"active", "ended"}));
        add(command, "--limit", which->limit, "N", "Maximum number of sessions (default 50)")
            ->check(CLI::Range(1, kRunsMax));
      });
  auto id = std::make_shared<std::string>();
  auto add_id = [=](CLI::App* command) { add_argument(command, "SESSION", *id, "Session id"); };
  add_question(
      *sessions, "show", "Show a session and what was said in it.",
      "errand sessions show sess_0123abcd",
      [=](const AnswerOptions& options) { *exit_code = show_session(options, *id); }, add_id);
  add_question(
      *sessions, "end", "End a session and cancel its runs.", "errand sessions end sess_0123abcd",
      [=](const AnswerOptions& options) { *exit_code = end_session(options, *id); }, add_id);
  add_question(
      *sessions, "rm", "Remove an ended session and its runs for good.",
      "errand sessions rm sess_0123abcd",
      [=](const AnswerOptions& options) { *exit_code = remove_session(options, *id); }, add_id);
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

void add_mcp(CLI::App& app, ExitCode exit_code) {
  CLI::App* command =
      add_command(app, "mcp", "Serve the workspace's tools over MCP on stdin/stdout.",
                  "errand mcp --data ./.errand");
  auto options = std::make_shared<AgentOptions>();
  add_place(command, *options);
  command->callback([options, exit_code] { *exit_code = mcp_command(*options); });
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

void add_config(CLI::App& app, ExitCode exit_code) {
  CLI::App* config = add_command(app, "config", "Describe the configuration file.",
                                 "errand config schema > errand.schema.json");
  config->require_subcommand(1);
  CLI::App* command =
      add_command(*config, "schema", "Print the JSON Schema of the configuration file.",
                  "errand config schema > errand.schema.json");
  command->callback([exit_code] { *exit_code = print_json(host::config_schema()); });
}

void add_completion(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "completion", "Print a shell completion script.",
                                  "source <(errand completion bash)");
  auto shell = std::make_shared<std::string>();
  add_argument(command, "SHELL", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback(
      [&app, shell, exit_code] { *exit_code = print(completion_script(*shell, describe(&app))); });
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

int report_parse_error(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = innermost(app);
  if (error.get_name() == "CallForVersion") return print_version();
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
    return print(help_of(command));
  }
  // An unknown word may be the reason why a required one is missing.
  for (const CLI::App* one = command; one; one = one->get_parent()) {
    std::vector<std::string> rest = one->remaining();
    if (!rest.empty()) return fail_usage(unknown_words(describe(one), rest));
  }
  if (command->get_require_subcommand_min() > 0) {
    print(help_of(command));
    return kExitUsage;
  }
  return fail_usage(usage_error(describe(command), error.what()));
}

void add_commands(CLI::App& app, ExitCode exit_code) {
  app.name("errand");
  app.description("Errand runs agents, calls their tools wherever they live, and loses no event.");
  app.get_formatter()->column_width(kHelpColumn);
  app.get_formatter()->label("Positionals", "Arguments");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  // In one line, because the list of commands has to fit one screen.
  app.footer("Example: errand run --files . \"What is in README.md?\"");
  app.require_subcommand(1);
  add_serve(app, exit_code);
  add_run(app, exit_code);
  add_chat(app, exit_code);
  add_runs(app, exit_code);
  add_sessions(app, exit_code);
  add_agents(app, exit_code);
  add_tools(app, exit_code);
  add_secrets(app, exit_code);
  add_rooms(app, exit_code);
  add_keys(app, exit_code);
  add_oauth(app, exit_code);
  add_workspaces(app, exit_code);
  add_question(app, "models", "List the models and whether each can be reached.", "errand models",
               [=](const AnswerOptions& options) { *exit_code = list_models(options); });
  add_mcp(app, exit_code);
  add_copies(app, exit_code);
  add_check_data(app, exit_code);
  add_fake_model(app, exit_code);
  add_doctor(app, exit_code);
  add_config(app, exit_code);
  add_completion(app, exit_code);
  add_version(app, exit_code);
  // The list has to fit one screen: the guide names what is rarely typed.
  for (const char* rare : {"check-data", "completion", "fake-model", "version"}) {
    app.get_subcommand(rare)->group("");
  }
  // Whoever reads the list of commands has found the flag. Commands would inherit this.
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
