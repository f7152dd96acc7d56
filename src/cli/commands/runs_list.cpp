#include "cli/commands/runs_list.hpp"

#include <algorithm>
#include <utility>

#include "base/dates/iso_time.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/commands/paged_list.hpp"
#include "cli/commands/with_data.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kAboutChars = 60;

PagedList list_of(const RunsListOptions& options) {
  PagedList list{.path = "/agent-runs",
                 .items = "runs",
                 .query = {{"about", "true"}},
                 .limit = static_cast<std::size_t>(options.limit),
                 .cursor = options.before};
  auto add = [&list](const char* name, const std::string& value) {
    if (!value.empty()) list.query.emplace_back(name, value);
  };
  add("status", options.status);
  add("agentId", options.agent);
  add("sessionId", options.session);
  for (const std::string& pair : options.metadata) add("metadata", pair);
  if (options.since_seconds > 0) {
    auto age = milliseconds(static_cast<std::int64_t>(options.since_seconds * 1000));
    add("createdAfter", to_iso8601(SystemClock().now() - age));
  }
  return list;
}

std::string about(const json::Value& run, const json::Array& pending, WallTime now) {
  if (pending.empty()) {
    std::string name = text_of(run, "name");
    std::string prompt = text_of(run, "about");
    return name.empty() || prompt.empty() ? cat(name, prompt) : cat(name, ": ", prompt);
  }
  std::string out = text_of(pending.front(), "name");
  if (pending.size() > 1) append(out, " and ", pending.size() - 1, " more");
  auto expires = parse_iso8601(text_of(pending.front(), "expiresAt"));
  if (expires && *expires > now) append(out, ", ", shown_age(*expires - now), " left");
  return out;
}

// A row with the run's status, its age, and what it is about.
Row row_of(const json::Value& run, WallTime now) {
  json::Array pending = items_of(run, "pendingCalls");
  auto created = parse_iso8601(text_of(run, "createdAt"));
  return {text_of(run, "runId"), pending.empty() ? text_of(run, "status") : "waiting",
          created ? shown_age(now - *created) : "",
          clean_line(about(run, pending, now), kAboutChars)};
}

// On a narrow terminal, what a run is about matters more than its model.
std::string runs_table(const json::Array& runs, WallTime now) {
  const TableLook look = table_look_here();
  std::vector<Row> rows{{"RUN", "STATUS", "AGE", "ABOUT"}};
  for (const json::Value& run : runs) rows.push_back(row_of(run, now));
  if (is_narrow(look)) return render_table(rows, look);
  rows.front().insert(rows.front().end() - 1, "MODEL");
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows[i + 1].insert(rows[i + 1].end() - 1, text_of(runs[i], "modelId"));
  }
  return render_table(rows, look);
}

}  // namespace

std::string prompt_of(const json::Value& run) {
  const json::Value* spec = member(run, "spec");
  if (!spec) return {};
  std::string prompt = text_of(*spec, "prompt");
  if (!prompt.empty()) return prompt;
  json::Array messages = items_of(*spec, "messages");
  return messages.empty() ? std::string() : text_of(messages.back(), "content");
}

std::string shown_age(milliseconds age) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  std::int64_t count = std::max<std::int64_t>(age.count() / 1000, 0);
  if (count < kMinute) return cat(count, " s");
  if (count < kHour) return cat(count / kMinute, " min");
  if (count < kDay) return cat(count / kHour, " h");
  return cat(count / kDay, " d");
}

int list_runs(const RunsListOptions& options) {
  return with_data({.server = options.server}, [&](sdk::ApiClient& api) {
    auto answer = read_list(api, list_of(options));
    if (!answer) return fail(answer.error());
    if (options.form == Form::json) return print_json(*answer);
    json::Array& runs = answer->at("runs").get_array();
    int code = print(runs_table(runs, SystemClock().now()));
    std::string last = runs.empty() ? "" : text_of(runs.back(), "runId");
    note_more(*answer, cat("--before ", last, " goes on, --limit N shows more."));
    return code;
  });
}

}  // namespace errand::cli
