#include "cli/record_command_line.hpp"

#include <memory>

#include "cli/commands/record_commands.hpp"
#include "cli/commands/room_commands.hpp"
#include "cli/commands/room_participant.hpp"
#include "cli/operate/secret_key_command.hpp"

namespace errand::cli {

void add_agents(CLI::App& app, ExitCode exit_code) {
  CLI::App* agents =
      add_command(app, "agents", "Store, list, show or delete agents.", "errand agents list");
  agents->require_subcommand(1);
  auto file = std::make_shared<std::string>();
  add_question(
      *agents, "apply", "Create an agent from a file, or replace it.",
      "errand agents apply --file support.json",
      [=](const AnswerOptions& options) { *exit_code = apply_record(options, "agents", *file); },
      [=](CLI::App* command) {
        add(command, "-f,--file", *file, "FILE", "JSON file with the agent; - reads stdin")
            ->required();
      });
  add_question(*agents, "list", "List the agents of the workspace.", "errand agents list",
               [=](const AnswerOptions& options) { *exit_code = list_agents(options); });
  auto name = std::make_shared<std::string>();
  auto version = std::make_shared<int>(0);
  add_question(
      *agents, "show", "Show an agent; --json prints all of it.", "errand agents show support",
      [=](const AnswerOptions& options) { *exit_code = show_agent(options, *name, *version); },
      [=](CLI::App* command) {
        add_argument(command, "AGENT", *name, "Name or id of the agent");
        add(command, "--version", *version, "N", "An earlier version instead of the latest")
            ->check(CLI::PositiveNumber);
      });
  add_question(
      *agents, "delete", "Delete an agent; its runs continue.", "errand agents delete support",
      [=](const AnswerOptions& options) { *exit_code = delete_record(options, "agents", *name); },
      [=](CLI::App* command) { add_argument(command, "AGENT", *name, "Name or id of the agent"); });
}

void add_tools(CLI::App& app, ExitCode exit_code) {
  CLI::App* tools = add_command(app, "tools", "List tools; store, test or delete HTTP tools.",
                                "errand tools list");
  tools->require_subcommand(1);
  auto file = std::make_shared<std::string>();
  add_question(
      *tools, "apply", "Create an HTTP tool from a file, or replace it.",
      "errand tools apply --file find_order.json",
      [=](const AnswerOptions& options) { *exit_code = apply_record(options, "tools", *file); },
      [=](CLI::App* command) {
        add(command, "-f,--file", *file, "FILE", "JSON file with the tool; - reads stdin")
            ->required();
      });
  add_question(*tools, "list", "List the workspace's tools, and where they come from.",
               "errand tools list",
               [=](const AnswerOptions& options) { *exit_code = list_tools(options); });
  auto name = std::make_shared<std::string>();
  auto arguments = std::make_shared<std::string>("{}");
  add_question(
      *tools, "test", "Call a stored or built-in tool and show its result.",
      "errand tools test calculator --args '{\"expression\":\"2+3*4\"}'",
      [=](const AnswerOptions& options) { *exit_code = test_tool(options, *name, *arguments); },
      [=](CLI::App* command) {
        add_argument(command, "TOOL", *name, "Name or id of the tool");
        add(command, "--args", *arguments, "JSON", "Arguments of the call (default {})");
      });
  add_question(
      *tools, "delete", "Delete a stored tool; runs cannot call it any more.",
      "errand tools delete find_order",
      [=](const AnswerOptions& options) { *exit_code = delete_record(options, "tools", *name); },
      [=](CLI::App* command) { add_argument(command, "TOOL", *name, "Name or id of the tool"); });
}

void add_secrets(CLI::App& app, ExitCode exit_code) {
  CLI::App* secrets =
      add_command(app, "secrets", "Set, list or delete secrets for tools.", "errand secrets list");
  secrets->require_subcommand(1);
  auto name = std::make_shared<std::string>();
  auto add_name = [=](CLI::App* command) {
    add_argument(command, "NAME", *name, "Name of the secret");
  };
  add_question(
      *secrets, "set", "Set a secret to the value on stdin, or ask for it.",
      "errand secrets set CRM_TOKEN < token.txt",
      [=](const AnswerOptions& options) { *exit_code = set_secret(options, *name); }, add_name);
  add_question(*secrets, "list", "List the names of the secrets.", "errand secrets list",
               [=](const AnswerOptions& options) { *exit_code = list_secrets(options); });
  add_question(
      *secrets, "delete", "Delete a secret.", "errand secrets delete CRM_TOKEN",
      [=](const AnswerOptions& options) { *exit_code = delete_record(options, "secrets", *name); },
      add_name);
}

void add_rooms(CLI::App& app, ExitCode exit_code) {
  CLI::App* rooms = add_command(app, "rooms", "Create, list, show or delete rooms; create tokens.",
                                "errand rooms list");
  rooms->require_subcommand(1);
  auto name = std::make_shared<std::string>();
  auto add_name = [=](CLI::App* command) {
    add_argument(command, "ROOM", *name, "Name of the room");
  };
  add_question(
      *rooms, "create", "Create a room.", "errand rooms create support",
      [=](const AnswerOptions& options) { *exit_code = create_room(options, *name); }, add_name);
  add_question(*rooms, "list", "List the rooms of the workspace.", "errand rooms list",
               [=](const AnswerOptions& options) { *exit_code = list_rooms(options); });
  add_question(
      *rooms, "show", "Show a room and who is in it.", "errand rooms show support",
      [=](const AnswerOptions& options) { *exit_code = show_room(options, *name); }, add_name);
  auto token = std::make_shared<RoomTokenOptions>();
  add_question(
      *rooms, "token", "Create a token for joining a room.",
      "errand rooms token support --name clerk",
      [=](const AnswerOptions& options) { *exit_code = make_room_token(options, *token); },
      [=](CLI::App* command) {
        add_argument(command, "ROOM", token->room, "Name of the room");
        add(command, "--name", token->name, "NAME", "Name of the participant")->required();
        add(command, "--role", token->role, "ROLE", "user, agent or tool (default user)")
            ->check(CLI::IsMember({"user", "agent", "tool"}));
        add(command, "--api", token->api, "JSON", "What it may do (default: everything)");
        add(command, "--hours", token->hours, "N",
            "Lifetime of the token in hours (default: no limit)")
            ->check(CLI::PositiveNumber);
      });
  add_question(
      *rooms, "tail", "Show what happens in a room until Ctrl-C.", "errand rooms tail support",
      [=](const AnswerOptions& options) { *exit_code = tail_room(options, *name); }, add_name);
  add_question(
      *rooms, "delete", "Delete a room and disconnect its participants.",
      "errand rooms delete support",
      [=](const AnswerOptions& options) { *exit_code = delete_record(options, "rooms", *name); },
      add_name);
}

namespace {

void add_room_host(CLI::App& room, ExitCode exit_code) {
  CLI::App* command =
      add_command(room, "host", "Lend files or an MCP server to a room until Ctrl-C.",
                  "errand room host support --files docs");
  auto options = std::make_shared<RoomHostOptions>();
  add_argument(command, "ROOM", options->room, "Name of the room, or its URL");
  CLI::Option* files = add(command, "--files", options->files, "DIR", "Files that others may read");
  add(command, "--mcp", options->mcp, "SERVER", "MCP server to lend: a URL or a command")
      ->excludes(files);
  add(command, "--name", options->name, "NAME", "Name of the toolkit (default: files or mcp)");
  add_server(command, options->server);
  command->callback([=] { *exit_code = host_in_room(*options); });
}

}  // namespace

void add_room(CLI::App& app, ExitCode exit_code) {
  CLI::App* room = add_command(app, "room", "Call tools of a room, or lend tools to it.",
                               "errand room call support files read_file '{\"path\":\"plan.md\"}'");
  room->require_subcommand(1);
  CLI::App* command =
      add_command(*room, "call", "Call a tool of a room and print its answer.",
                  "errand room call support files read_file '{\"path\":\"plan.md\"}'");
  auto options = std::make_shared<RoomCallOptions>();
  add_argument(command, "ROOM", options->room, "Name of the room, or its URL");
  add_argument(command, "TOOLKIT", options->toolkit, "Name of the toolkit");
  add_argument(command, "TOOL", options->tool, "Name of the tool");
  add_argument(command, "JSON", options->arguments, "Arguments (default {})")->required(false);
  add_form(command, options->form, "Print each content as one line of JSON");
  add_server(command, options->server);
  command->callback([=] { *exit_code = call_in_room(*options); });
  add_room_host(*room, exit_code);
}

void add_rotate_secret(CLI::App& keys, ExitCode exit_code) {
  CLI::App* command =
      add_command(keys, "rotate-secret", "Seal the secrets with a new key; stop the server first.",
                  "errand keys rotate-secret --data copy");
  auto options = std::make_shared<RotateOptions>();
  add(command, "--data", options->data, "DIR", "Data directory (default ./.errand)");
  add(command, "--store", options->store, "URL",
      "Database, as sqlite:PATH (default: DIR/errand.db)");
  command->add_flag("--lost", options->lost,
                    "The old key is lost: give up all secrets that are stored");
  command->callback([=] { *exit_code = rotate_secret_key(*options); });
}

}  // namespace errand::cli
