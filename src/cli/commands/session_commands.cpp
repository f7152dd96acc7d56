#include "cli/commands/session_commands.hpp"

#include <optional>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/commands/paged_list.hpp"
#include "cli/commands/with_data.hpp"
#include "cli/show/run_summary.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownChars = 200;
constexpr std::size_t kSummaryChars = 40;
constexpr std::size_t kPricedRunsMax = 200;  // a session with more runs is shown without its cost

std::string sessions_table(const json::Value& answer) {
  std::vector<Row> rows{{"SESSION", "STATUS", "LAST USED", "ABOUT"}};
  for (const json::Value& session : items_of(answer, "sessions")) {
    rows.push_back({text_of(session, "sessionId"), text_of(session, "status"),
                    text_of(session, "lastInteractionDate"),
                    clean_line(text_of(session, "summary"), kSummaryChars)});
  }
  return render_table(rows);
}

// The session as text: "user: Hello", with each message on lines of its own.
std::string session_text(const json::Value& session, std::optional<double> cost) {
  std::string out = cat(clean_line(text_of(session, "sessionId"), kShownChars), ", ",
                        clean_line(text_of(session, "status"), kShownChars), ", last used ",
                        clean_line(text_of(session, "lastUsedAt"), kShownChars),
                        cost ? cat(", ", shown_cost(*cost)) : "", "\n");
  for (const json::Value& message : items_of(session, "messages")) {
    append(out, "\n", clean_line(text_of(message, "role"), kShownChars), ": ",
           clean_text(text_of(message, "content")), "\n");
  }
  return out;
}

// The cost of a session's runs; empty if the cost of any run is unknown.
std::optional<double> cost_of(sdk::ApiClient& api, const std::string& session) {
  auto runs = read_list(api, {.path = "/agent-runs",
                              .items = "runs",
                              .query = {{"sessionId", session}},
                              .limit = kPricedRunsMax});
  if (!runs || !runs->at("nextCursor").is_null()) return {};
  std::optional<double> sum;
  for (const json::Value& run : runs->at("runs").get_array()) {
    auto whole = api.ask({.path = sdk::run_path(text_of(run, "runId"), "")});
    const json::Value* cost = whole ? member(*whole, "costUsd") : nullptr;
    if (!cost || !cost->is_number()) return {};
    sum = sum.value_or(0) + cost->to_number<double>();
  }
  return sum;
}

std::string path_of(const std::string& session) {
  return cat("/agent-sessions/", percent_encode(session));
}

}  // namespace

int list_sessions(const AnswerOptions& options, const SessionListOptions& which) {
  return with_data({.server = options.server}, [&](sdk::ApiClient& api) {
    PagedList list{.path = "/agent-sessions",
                   .items = "sessions",
                   .limit = static_cast<std::size_t>(which.limit)};
    if (!which.status.empty()) list.query.emplace_back("status", which.status);
    if (!which.agent.empty()) list.query.emplace_back("agentId", which.agent);
    auto answer = read_list(api, list);
    if (!answer) return fail(answer.error());
    if (options.form == Form::json) return print_json(*answer);
    int code = print(sessions_table(*answer));
    note_more(*answer, "--limit N shows more sessions.");
    return code;
  });
}

int show_session(const AnswerOptions& options, const std::string& id) {
  return with_data({.server = options.server}, [&](sdk::ApiClient& api) {
    auto session = api.ask({.path = path_of(id)});
    if (!session) return fail(session.error());
    if (options.form == Form::json) return print_json(*session);
    auto cost = cost_of(api, text_of(*session, "sessionId"));
    return print(session_text(*session, cost));
  });
}

int end_session(const AnswerOptions& options, const std::string& id) {
  sdk::ApiRequest request{.method = sdk::Method::delete_, .path = path_of(id)};
  return ask_data_and_show(options, std::move(request), [&id](const json::Value&) {
    return cat("ended ", clean_line(id, kShownChars), "\n");
  });
}

int remove_session(const AnswerOptions& options, const std::string& id) {
  sdk::ApiRequest request{
      .method = sdk::Method::delete_, .path = path_of(id), .query = {{"purge", "true"}}};
  return ask_data_and_show(options, std::move(request), [&id](const json::Value&) {
    return cat("removed ", clean_line(id, kShownChars), "\n");
  });
}

}  // namespace errand::cli
