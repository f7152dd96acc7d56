#include "cli/runs_command_line.hpp"

#include <map>
#include <memory>
#include <string>

#include "base/text.hpp"
#include "cli/commands/call_commands.hpp"
#include "cli/commands/history_commands.hpp"
#include "cli/commands/runs_commands.hpp"
#include "cli/commands/runs_list.hpp"
#include "cli/commands/session_commands.hpp"
#include "cli/operate/replay_command.hpp"

namespace errand::cli {
namespace {

constexpr int kRunsMax = 10'000;
constexpr int kCallWaitMax = 60;

void add_runs_list(CLI::App& runs, ExitCode exit_code) {
  CLI::App* command =
      add_command(runs, "list", "List runs, newest first.", "errand runs list --status running");
  auto options = std::make_shared<RunsListOptions>();
  add(command, "--status", options->status, "STATUS",
      "queued, running, waiting, succeeded, failed, cancelled")
      ->check(CLI::IsMember({"queued", "running", "waiting", "succeeded", "failed", "cancelled"}));
  add(command, "--since", options->since_seconds, "TIME", "Only runs of the last TIME, such as 2h")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86400.0}},
          CLI::AsNumberWithUnit::UNIT_OPTIONAL))
      ->check(CLI::PositiveNumber);
  add(command, "--metadata", options->metadata, "KEY:VALUE",
      "Only runs with this metadata (repeatable)")
      ->allow_extra_args(false);
  add(command, "--agent", options->agent, "AGENT", "Only runs of this agent");
  add(command, "--session", options->session, "SESSION", "Only runs of this session");
  add(command, "--before", options->before, "RUN", "Only runs older than this one");
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
  add_argument(command, "RUN", options->run, "Run id, its beginning, or latest");
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
  add_argument(command, "RUN", options->run, "Run id, its beginning, or latest");
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
  add_argument(command, "RUN", options->run, "Run id, its beginning, or latest");
  add(command, "--from-seq", options->from_seq, "SEQ",
      "Keep the turns finished by this event (default: all)")
      ->check(CLI::NonNegativeNumber);
  add(command, "--prompt", options->prompt, "TEXT", "Next user message");
  add(command, "--model", options->model, "MODEL", "Model to use instead of the original run's");
  add_form(command, options->form, "Print the server's JSON response");
  add_server(command, options->server);
  command->callback([=] { *exit_code = fork_run(*options); });
}

void add_runs_export(CLI::App& runs, ExitCode exit_code) {
  CLI::App* command = add_command(runs, "export", "Export everything about a run as one JSON file.",
                                  "errand runs export run_0123abcd --output run.json");
  auto options = std::make_shared<ExportOptions>();
  add_argument(command, "RUN", options->run, "Run id, its beginning, or latest");
  add(command, "--output", options->output, "FILE", "File to write (default: stdout)");
  command->add_flag("--force", options->force, "Replace an existing file");
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

}  // namespace

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

void add_calls(CLI::App& app, ExitCode exit_code) {
  CLI::App* calls =
      add_command(app, "calls", "List or answer pending tool calls.", "errand calls list");
  calls->require_subcommand(1);
  auto wait = std::make_shared<int>(0);
  add_question(
      *calls, "list", "List the tool calls that wait for an answer.", "errand calls list",
      [=](const AnswerOptions& options) { *exit_code = list_calls(options, seconds(*wait)); },
      [=](CLI::App* command) {
        add(command, "--wait", *wait, "SECONDS", "Wait this long for a first call (default 0)")
            ->check(CLI::Range(0, kCallWaitMax));
      });
  auto answer = std::make_shared<CallAnswerOptions>();
  add_question(
      *calls, "answer", "Answer a tool call; without a flag, stdin is the result.",
      "errand calls answer tu_0123abcd --result \"18 degrees\"",
      [=](const AnswerOptions& options) { *exit_code = answer_call(options, *answer); },
      [=](CLI::App* command) {
        add_argument(command, "CALL", answer->call, "Call id, its beginning, or latest");
        CLI::Option* result =
            add(command, "--result", answer->result, "TEXT", "Result of the tool");
        add(command, "--error", answer->error, "TEXT", "Why the tool failed")->excludes(result);
      });
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
        add(command, "--agent", which->agent, "NAME", "Only sessions of this agent (id or name)");
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

}  // namespace errand::cli
