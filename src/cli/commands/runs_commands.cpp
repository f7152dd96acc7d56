#include "cli/commands/runs_commands.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "async/deadline.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/commands/chosen_run.hpp"
#include "cli/commands/runs_list.hpp"
#include "cli/commands/with_data.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/show/follow.hpp"
#include "cli/show/run_summary.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownPromptChars = 200;
constexpr std::size_t kShownIdBytes = 80;
constexpr seconds kCancelMax{10};  // more than the grace period of a cancel
constexpr int kChildrenPageMax = 200;
constexpr std::size_t kTreeDepthMax = 5;  // agents cannot call agents more deeply

void append_line(std::string& out, std::string_view label, std::string_view text) {
  if (text.empty()) return;
  out += label;
  out.append(9 - label.size(), ' ');
  append(out, clean_line(text, kShownPromptChars), "\n");
}

std::string token_line(const json::Value& run) {
  const json::Value* tokens = member(run, "tokens");
  if (!tokens || !tokens->is_object()) return {};
  std::string input = text_of(*tokens, "inputTokens");
  std::string output = text_of(*tokens, "outputTokens");
  if (input != "0" || output != "0") return cat(input, " in, ", output, " out");
  // Every turn uses tokens, so none at all means that the vendor does not count them.
  return text_of(run, "turns") == "0" ? std::string() : "unknown";
}

std::string cost_line(const json::Value& run) {
  const json::Value* cost = member(run, "costUsd");
  return cost && cost->is_number() ? shown_cost(cost->to_number<double>()) : std::string();
}

std::string fork_line(const json::Value& run) {
  const json::Value* fork = member(run, "forkedFrom");
  if (!fork || !fork->is_object()) return {};
  return cat("from ", text_of(*fork, "runId"), " at ", text_of(*fork, "seq"));
}

// The runs that a run has called, the oldest first, each with the runs that it has called below it.
Result<std::string> tree_below(sdk::ApiClient& api, const std::string& run, std::size_t depth) {
  std::string out;
  sdk::Query query{{"parentRunId", run}, {"limit", std::to_string(kChildrenPageMax)}};
  ERRAND_TRY(auto page, api.ask({.path = "/agent-runs", .query = std::move(query)}));
  json::Array runs = items_of(page, "runs");
  std::reverse(runs.begin(), runs.end());
  if (!text_of(page, "nextCursor").empty()) {
    append(out, std::string(2 * depth, ' '), "... and more before these\n");
  }
  for (const json::Value& child : runs) {
    append(out, std::string(2 * depth, ' '), clean_line(text_of(child, "runId"), kShownIdBytes),
           "  ", clean_line(text_of(child, "status"), kShownIdBytes), "  ",
           clean_line(text_of(child, "name"), kShownPromptChars), "\n");
    if (depth >= kTreeDepthMax) continue;
    ERRAND_TRY(auto below, tree_below(api, text_of(child, "runId"), depth + 1));
    out += below;
  }
  return out;
}

std::string run_text(const json::Value& run) {
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
  append_line(out, "parent", text_of(run, "parentRunId"));
  append_line(out, "turns", text_of(run, "turns"));
  append_line(out, "tokens", token_line(run));
  append_line(out, "cost", cost_line(run));
  append_line(out, "prompt", prompt_of(run));
  append_line(out, "error", text_of(run, "error"));
  std::string text = clean_text(text_of(run, "finalText"));
  if (text.empty()) return out;
  append(out, "\n", text, text.ends_with('\n') ? "" : "\n");
  return out;
}

int with_chosen(const RunChoice& options,
                const std::function<int(sdk::ApiClient&, const std::string&)>& work) {
  auto with = [&](const auto& inner) { return with_data({.server = options.server}, inner); };
  return with_run(with, options.run, work);
}

// Without a server, the runs of a data directory are not driven.
bool rests_here(const sdk::ApiClient& api, const json::Value& run) {
  auto status = parse_run_status(text_of(run, "status"));
  return api.is_here() && status && !is_terminal(*status);
}

// Prints nothing: only follow()'s result is needed.
class SilentPrinter final : public EventPrinter {
 public:
  Pieces show(const StampedEvent&, std::optional<milliseconds>) override { return {}; }
  Pieces finish() override { return {}; }
  Pieces make_room() override { return {}; }
  Pieces aside(std::string_view) override { return {}; }
};

// Shows the stored events of a run that is not driven now.
int show_kept_events(sdk::ApiClient& api, EventPrinter& printer, const RunId& run, EventSeq after) {
  auto lines = api.wait(sdk::read_pages(&api, run.str(), "events", "events"));
  if (!lines) return fail(lines.error());
  printer.begin(run);
  for (json::Value& line : *lines) {
    if (!line.is_object()) continue;
    auto event = parse_event(std::move(line.get_object()));
    if (!event) return fail(event.error());
    if (event->seq > after) write_now(printer.show(*event, {}));
  }
  write_now(printer.finish());
  write_now(
      printer.note("the run goes on once 'errand serve' or 'errand run --data' opens its data"));
  return kExitOk;
}

// A cancelled run waits a moment for pending calls. Returns the status it ended with, or
// "cancelling".
Result<std::string> await_end(sdk::ApiClient& api, const std::string& run) {
  auto id = RunId::parse(run);
  if (!id) return Error(ErrorCode::not_found, "there is no such run");
  sdk::FollowedRun followed = api.follow(*id, 0);
  Console console;
  SilentPrinter printer;
  FollowParams params{.run = *followed, .console = console, .printer = printer};
  auto end = api.wait(with_deadline(api.timers().now() + kCancelMax, follow(params)));
  if (!end && end.error().code() == ErrorCode::timeout) return std::string("cancelling");
  if (!end) return end.error();
  ERRAND_TRY(auto ended, api.ask({.path = sdk::run_path(run, "")}));
  return clean_line(text_of(ended, "status"), kShownPromptChars);
}

}  // namespace

int show_run(const RunChoice& options) {
  return with_chosen(options, [&](sdk::ApiClient& api, const std::string& run) {
    auto shown = api.ask({.path = sdk::run_path(run, "")});
    if (!shown) return fail(shown.error());
    if (options.form == Form::json) return print_json(*shown);
    auto tree = tree_below(api, text_of(*shown, "runId"), 1);
    if (!tree) return fail(tree.error());
    return print(cat(run_text(*shown), tree->empty() ? "" : "\ncalled agents\n", *tree));
  });
}

int cancel_run(const RunChoice& options) {
  return with_chosen(options, [&](sdk::ApiClient& api, const std::string& run) {
    sdk::ApiRequest request{.method = sdk::Method::post, .path = sdk::run_path(run, "/cancel")};
    auto answer = api.ask(std::move(request));
    if (!answer) return fail(answer.error());
    auto end = await_end(api, run);
    if (!end) return fail(end.error());
    if (options.form == Form::text) return print(cat(*end, "\n"));
    answer->as_object()["status"] = *end;
    return print_json(*answer);
  });
}

int remove_run(const RunChoice& options) {
  return with_chosen(options, [&](sdk::ApiClient& api, const std::string& run) {
    sdk::ApiRequest request{.method = sdk::Method::delete_, .path = sdk::run_path(run, "")};
    return show_answer(api, options.form, std::move(request), [&](const json::Value&) {
      return cat("removed ", clean_line(run, kShownPromptChars), "\n");
    });
  });
}

int tail_run(const RunChoice& options, EventSeq after) {
  return with_chosen(options, [&](sdk::ApiClient& api, const std::string& chosen) {
    auto run = RunId::parse(chosen);
    if (!run) {
      std::string_view shown = utf8_prefix(chosen, kShownIdBytes);
      return fail(Error(ErrorCode::not_found, cat("there is no run \"", shown, "\"")));
    }
    auto now = api.ask({.path = sdk::run_path(chosen, "")});
    if (!now) return fail(now.error());
    auto printer = make_printer(options.form, look_here());
    if (rests_here(api, *now)) return show_kept_events(api, *printer, *run, after);
    sdk::FollowedRun followed = api.follow(*run, after);
    Console console;
    FollowParams params{.run = *followed, .console = console, .printer = *printer};
    auto end = api.wait(follow(params));
    if (!end && end.error().reason() == sdk::RunApi::kNoMoreEvents) return kExitOk;
    return report_end(*printer, end);
  });
}

}  // namespace errand::cli
