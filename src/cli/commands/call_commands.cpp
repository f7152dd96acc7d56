#include "cli/commands/call_commands.hpp"

#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/dates/iso_time.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/commands/paged_list.hpp"
#include "cli/commands/runs_list.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"
#include "cli/terminal/whole_stdin.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kCallChars = 200;
constexpr std::size_t kCallCandidatesMax = 5;
constexpr std::size_t kCallsMax = 1000;  // calls to search for an id

// The run's id is there for users who want to see more: an answer needs only the call's id.
std::string calls_table(const json::Value& answer) {
  WallTime now = SystemClock().now();
  const TableLook look = table_look_here();
  const bool has_runs = !is_narrow(look);
  std::vector<Row> rows{{"CALL", "TOOL", "LEFT", "ARGUMENTS"}};
  for (const json::Value& call : items_of(answer, "toolCalls")) {
    auto expires = parse_iso8601(text_of(call, "expiresAt"));
    const json::Value* arguments = member(call, "args");
    rows.push_back({text_of(call, "toolUseId"), text_of(call, "name"),
                    expires ? shown_age(*expires - now) : "",
                    arguments ? json::write(*arguments) : ""});
    if (has_runs) rows.back().insert(rows.back().begin() + 1, text_of(call, "runId"));
  }
  if (has_runs) rows.front().insert(rows.front().begin() + 1, "RUN");
  return render_table(rows, look);
}

// Waits up to `wait` for the first call if there is none.
Result<json::Object> read_calls(sdk::ApiClient& api, seconds wait = seconds(0)) {
  if (wait.count() > 0) {
    sdk::ApiRequest request{.path = "/tool-calls",
                            .query = {{"limit", "1"}, {"wait", std::to_string(wait.count())}},
                            .timeout = sdk::kAnswerMax + wait};
    ERRAND_CHECK(api.ask(std::move(request)));
  }
  return read_list(api, {.path = "/tool-calls", .items = "toolCalls", .limit = kCallsMax});
}

Result<json::Value> find_call(sdk::ApiClient& api, const std::string& word) {
  ERRAND_TRY(auto answer, read_calls(api));
  const json::Array calls = items_of(answer, "toolCalls");
  if (word == "latest" && !calls.empty()) return calls.back();
  std::vector<json::Value> found;
  std::vector<std::string> ids;
  for (const json::Value& call : calls) {
    std::string id = text_of(call, "toolUseId");
    if (!id.starts_with(word)) continue;
    found.push_back(call);
    if (ids.size() < kCallCandidatesMax) ids.push_back(id);
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return Error(ErrorCode::not_found,
                 cat("no call \"", clean_line(word, kCallChars), "\" waits for an answer"))
        .hint("'errand calls list' lists the calls that wait");
  }
  return Error(ErrorCode::invalid_argument, cat("\"", clean_line(word, kCallChars),
                                                "\" is the beginning of ", found.size(), " calls"))
      .hint("give more of the id")
      .candidates(std::move(ids));
}

Result<json::Object> answer_body(const CallAnswerOptions& answer) {
  if (answer.error) return json::Object{{"error", *answer.error}};
  if (answer.result) return json::Object{{"result", *answer.result}};
  ERRAND_TRY(auto result, read_whole_stdin({.what = "the result"}));
  return json::Object{{"result", result}};
}

// What the server advises is meant for programs, which have the id of their claim.
Error for_people(const Error& error) {
  if (error.reason() != "claimed") return error;
  return Error(error.code(), error.message())
      .hint(
          "a program is making it; 'errand calls list --json' tells until when it may "
          "(claimedUntil)");
}

}  // namespace

int list_calls(const AnswerOptions& options, seconds wait) {
  return with_server(options.server, [&](sdk::ApiClient& api) {
    auto answer = read_calls(api, wait);
    if (!answer) return fail(answer.error());
    if (options.form == Form::json) return print_json(*answer);
    int code = print(calls_table(*answer));
    note_more(*answer, cat("only ", kCallsMax, " are shown."));
    return code;
  });
}

int answer_call(const AnswerOptions& options, const CallAnswerOptions& answer) {
  return with_server(options.server, [&](sdk::ApiClient& api) {
    auto call = find_call(api, answer.call);
    if (!call) return fail(call.error());
    auto body = answer_body(answer);
    if (!body) return fail_usage(body.error());
    std::string id = text_of(*call, "toolUseId");
    (*body)["toolUseId"] = id;
    sdk::ApiRequest request{.method = sdk::Method::post,
                            .path = sdk::run_path(text_of(*call, "runId"), "/tool-results"),
                            .body = json::write(*body)};
    auto taken = api.ask(std::move(request));
    if (!taken) return fail(for_people(taken.error()));
    if (options.form == Form::json) return print_json(*taken);
    return print(cat("answered ", clean_line(id, kCallChars), "\n"));
  });
}

}  // namespace errand::cli
