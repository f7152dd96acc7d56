#include "cli/commands/runs_commands.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <utility>

#include "async/home.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/show/follow.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"
#include "host/environment.hpp"
#include "sdk/http_api.hpp"

namespace errand::cli {
namespace {

constexpr int kPageMax = 200;
constexpr std::size_t kShownPromptChars = 200;

std::string list_path(const RunsListOptions& options, std::size_t wanted,
                      const std::string& cursor) {
  std::string path = cat("/agent-runs?limit=", std::min<std::size_t>(wanted, kPageMax));
  if (!options.status.empty()) append(path, "&status=", percent_encode(options.status));
  if (!cursor.empty()) append(path, "&cursor=", percent_encode(cursor));
  return path;
}

// As many pages as it takes, joined to one answer.
Result<json::Object> read_runs(const sdk::Credentials& server, const RunsListOptions& options) {
  auto limit = static_cast<std::size_t>(options.limit);
  json::Array runs;
  std::string cursor;
  do {
    ERRAND_TRY(auto page, ask(server, {.path = list_path(options, limit - runs.size(), cursor)}));
    for (const json::Value& run : items_of(page, "runs")) runs.push_back(run);
    cursor = text_of(page, "nextCursor");
  } while (!cursor.empty() && runs.size() < limit);
  json::Object out{{"runs", std::move(runs)}};
  out["nextCursor"] = cursor.empty() ? json::Value() : json::Value(cursor);
  return out;
}

std::string runs_table(const json::Object& answer) {
  std::vector<Row> rows{{"RUN", "STATUS", "MODEL", "CREATED", "EVENTS", "NAME"}};
  for (const json::Value& run : answer.at("runs").get_array()) {
    rows.push_back({text_of(run, "runId"), text_of(run, "status"), text_of(run, "modelId"),
                    text_of(run, "createdAt"), text_of(run, "lastSeq"), text_of(run, "name")});
  }
  return render_table(rows);
}

void append_line(std::string& out, std::string_view label, std::string_view text) {
  if (text.empty()) return;
  out += label;
  out.append(9 - label.size(), ' ');
  append(out, clean_line(text, kShownPromptChars), "\n");
}

std::string token_line(const json::Value& run) {
  const json::Value* tokens = member(run, "tokens");
  if (!tokens || !tokens->is_object()) return {};
  return cat(text_of(*tokens, "inputTokens"), " in, ", text_of(*tokens, "outputTokens"), " out");
}

std::string fork_line(const json::Value& run) {
  const json::Value* fork = member(run, "forkedFrom");
  if (!fork || !fork->is_object()) return {};
  return cat("from ", text_of(*fork, "runId"), " at ", text_of(*fork, "seq"));
}

std::string run_text(const json::Value& run) {
  const json::Value* spec = member(run, "spec");
  std::string out;
  append_line(out, "run", text_of(run, "runId"));
  append_line(out, "name", text_of(run, "name"));
  append_line(out, "status", text_of(run, "status"));
  append_line(out, "model", text_of(run, "modelId"));
  append_line(out, "created", text_of(run, "createdAt"));
  append_line(out, "updated", text_of(run, "updatedAt"));
  append_line(out, "events", text_of(run, "lastSeq"));
  append_line(out, "forked", fork_line(run));
  append_line(out, "turns", text_of(run, "turns"));
  append_line(out, "tokens", token_line(run));
  if (spec) append_line(out, "prompt", text_of(*spec, "prompt"));
  append_line(out, "error", text_of(run, "error"));
  std::string text = clean_text(text_of(run, "finalText"));
  if (text.empty()) return out;
  append(out, "\n", text, text.ends_with('\n') ? "" : "\n");
  return out;
}

Task<void> keep_end(FollowParams params, std::optional<Result<sdk::RunEnd>>* end) {
  auto got = co_await follow(params);
  end->emplace(std::move(got));
}

}  // namespace

int list_runs(const RunsListOptions& options) {
  ignore_broken_pipes();
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  auto runs = read_runs(*server, options);
  if (!runs) return fail(runs.error());
  if (options.form == Form::json) return print_json(*runs);
  return print(runs_table(*runs));
}

int show_run(const RunChoice& options) {
  ignore_broken_pipes();
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  auto run = ask(*server, {.path = sdk::run_path(options.run, "")});
  if (!run) return fail(run.error());
  if (options.form == Form::json) return print_json(*run);
  return print(run_text(*run));
}

int cancel_run(const RunChoice& options) {
  ignore_broken_pipes();
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  auto answer =
      ask(*server, {.method = net::Method::post, .path = sdk::run_path(options.run, "/cancel")});
  if (!answer) return fail(answer.error());
  if (options.form == Form::json) return print_json(*answer);
  return print(cat(clean_line(text_of(*answer, "status"), kShownPromptChars), "\n"));
}

int tail_run(const RunChoice& options, EventSeq after) {
  ignore_broken_pipes();
  auto server = find_server_here(options.server);
  if (!server) return fail_setup(server.error());
  asio::io_context io(1);
  Home home(io);
  AsioTimers timers(home);
  sdk::HttpApi api(*server, host::client_options_here());
  sdk::RunStream stream(api, timers, options.run, after, sdk::RunStream::FirstFailure::is_final);
  Console console;
  auto printer = make_printer(options.form, look_here());
  std::optional<Result<sdk::RunEnd>> end;
  TaskGroup tasks(home.executor(), sdk::report_bug);
  FollowParams params{.stream = stream, .console = console, .printer = *printer};
  tasks.spawn("tail", keep_end(params, &end));
  io.run();
  return end ? report_end(*end) : kExitFailed;
}

}  // namespace errand::cli
