#include "cli/agent_command_line.hpp"

#include <memory>
#include <string>

#include "cli/agent/run_command.hpp"
#include "cli/chat/chat_command.hpp"
#include "cli/commands/mcp_command.hpp"

namespace errand::cli {
namespace {

constexpr int kTurnsMax = 1000;

// Flags of `run` and `chat` that describe the agent.
void add_agent(CLI::App* command, AgentOptions& options) {
  add(command, "--agent", options.agent, "AGENT", "Stored agent to run (see 'errand agents')");
  add(command, "--model", options.model, "MODEL", "Model to use instead of the default");
  add(command, "--system", options.system, "TEXT", "System prompt");
  add(command, "--files", options.files, "DIR", "Let the model read the files in DIR");
  command->add_flag("--shell", options.shell, "Let the model run commands that you approve");
  command->add_flag("--yes", options.yes, "Run the commands of --shell without asking");
  command->add_flag("--web-fetch", options.web_fetch, "Let the model read web pages");
  add(command, "--allow-network", options.allow_networks, "CIDR",
      "Another network that --web-fetch may reach (repeatable)")
      ->allow_extra_args(false);
  command->add_flag("--web-search", options.web_search, "Let the model search the web");
  add(command, "--mcp", options.mcp, "SERVER",
      "MCP server: a URL, a command, config:NAME (repeatable)")
      ->allow_extra_args(false);
  add(command, "--a2a", options.a2a, "URL", "Use an A2A agent, by the URL of its card (repeatable)")
      ->allow_extra_args(false);
  add(command, "--room", options.room, "ROOM", "Use the tools of a room: its name or its URL");
  add(command, "--require-toolkit", options.require_toolkits, "NAME",
      "Toolkit of --room that the run needs (repeatable)")
      ->allow_extra_args(false);
  add(command, "--reasoning", options.reasoning, "LEVEL",
      "Reasoning: off, low, medium, high, or 0 to 100");
  add(command, "--max-turns", options.max_turns, "N", "Maximum number of turns with tool calls")
      ->check(CLI::Range(0, kTurnsMax));
}

// Flags of `run` and `chat` that say where the agent runs.
void add_place(CLI::App* command, AgentOptions& options) {
  command->add_flag("--embedded", options.embedded, "Run without a server");
  add(command, "--config", options.config, "FILE",
      "Run without a server, with this configuration file");
  add(command, "--data", options.server.data, "DIR",
      "Data directory of the server, or of embedded runs");
  add(command, "--server", options.server.server, "URL", "Server to use (default: see the guide)");
  add(command, "--key", options.server.key, "KEY", "API key of the server");
  add(command, "--workspace", options.server.workspace, "SLUG",
      "Workspace that the key belongs to");
}

}  // namespace

void add_run(CLI::App& app, ExitCode exit_code) {
  CLI::App* command = add_command(app, "run", "Run a prompt and show its progress.",
                                  "errand run --files . \"What is in README.md?\"");
  auto options = std::make_shared<RunOptions>();
  add_argument(command, "PROMPT", options->prompt,
               "What to do; text on stdin is appended (-: only stdin)");
  add(command, "--attach", options->attached, "FILE",
      "Also send a picture or a document (repeatable)")
      ->allow_extra_args(false);
  command->add_flag_callback(
      "--no-stdin", [options] { options->stdin_use = StdinUse::ignored; }, "Do not read stdin");
  add_agent(command, options->agent);
  add(command, "--output-schema", options->output_schema, "FILE",
      "JSON Schema that the answer must match");
  add(command, "--name", options->name, "NAME", "Name of the run, for lists");
  command->add_flag("--detach", options->is_detached,
                    "Leave the run to the server and print its id");
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

void add_mcp(CLI::App& app, ExitCode exit_code) {
  CLI::App* command =
      add_command(app, "mcp", "Serve the workspace's tools over MCP on stdin/stdout.",
                  "errand mcp --data ./.errand");
  auto options = std::make_shared<AgentOptions>();
  add_place(command, *options);
  command->callback([options, exit_code] { *exit_code = mcp_command(*options); });
}

}  // namespace errand::cli
