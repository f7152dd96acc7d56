#include "cli/commands/runs_commands.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "async/home.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/show/follow.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"
#include "net/url.hpp"

namespace errand::cli {
namespace {

constexpr int kPageMax = 200;
constexpr std::size_t kShownPromptChars = 200;
constexpr std::size_t kShownIdBytes = 80;

std::string list_path(const RunsListOptions& options, std::size_t wanted,
                      const std::string& cursor) {
  net::Query query{{"limit", std::to_string(std::min<std::size_t>(wanted, kPageMax))}};
  if (!options.status.empty()) query.emplace_back("status", options.status);
  if (!cursor.empty()) query.emplace_back("cursor", cursor);
  return net::with_query("/agent-runs", query);
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
  constexpr auto kFirst =
      std::to_array<std::pair<const char*, const char*>>({{"run", "runId"},
                                                          {"name", "name"},
                                                          {"status", "status"},
                                                          {"model", "modelId"},
                                                          {"created", "createdAt"},
                                                          {"updated", "updatedAt"},
                                                          {"events", "lastSeq"}});
  for (const auto& [label, key] : kFirst) append_line(out, label, text_of(run, key));
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

}  // namespace

int list_runs(const RunsListOptions& options) {
  return with_server(options.server, [&](const sdk::Credentials& server) {
    auto runs = read_runs(server, options);
    if (!runs) return fail(runs.error());
    return options.form == Form::json ? print_json(*runs) : print(runs_table(*runs));
  });
}

int show_run(const RunChoice& options) {
  return ask_and_show({options.form, options.server}, {.path = sdk::run_path(options.run, "")},
                      run_text);
}

int cancel_run(const RunChoice& options) {
  sdk::ApiRequest request{.method = net::Method::post,
                          .path = sdk::run_path(options.run, "/cancel")};
  return ask_and_show({options.form, options.server}, std::move(request), [](const auto& answer) {
    return cat(clean_line(text_of(answer, "status"), kShownPromptChars), "\n");
  });
}

int remove_run(const RunChoice& options) {
  sdk::ApiRequest request{.method = net::Method::delete_, .path = sdk::run_path(options.run, "")};
  return ask_and_show({options.form, options.server}, std::move(request), [&](const auto&) {
    return cat("removed ", clean_line(options.run, kShownPromptChars), "\n");
  });
}

int tail_run(const RunChoice& options, EventSeq after) {
  return with_server(options.server, [&](const sdk::Credentials& server) {
    auto run = RunId::parse(options.run);
    if (!run) {
      std::string_view shown = utf8_prefix(options.run, kShownIdBytes);
      return fail(Error(ErrorCode::not_found, cat("there is no run \"", shown, "\"")));
    }
    asio::io_context io(1);
    AsioTimers timers{Home(io)};
    sdk::HttpApi api(server, host::client_options_here());
    sdk::RunStream stream(api, timers, *run, after, sdk::RunStream::FirstFailure::is_final);
    Console console;
    auto printer = make_printer(options.form, look_here());
    FollowParams params{.stream = stream, .console = console, .printer = *printer};
    return report_end(wait_for(io, follow(params)));
  });
}

}  // namespace errand::cli
