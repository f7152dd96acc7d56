#include "cli/commands/runs_list.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/iso_time.hpp"
#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/with_data.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/report.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kListPageMax = 200;
constexpr std::size_t kDetailedMax = 100;  // runs that are asked for what they are about
constexpr std::size_t kAboutChars = 60;

sdk::ApiRequest list_request(const RunsListOptions& options, std::size_t wanted,
                             const std::string& cursor) {
  sdk::Query query{{"limit", std::to_string(std::min(wanted, kListPageMax))}};
  if (!options.status.empty()) query.emplace_back("status", options.status);
  for (const std::string& pair : options.metadata) query.emplace_back("metadata", pair);
  if (!options.session.empty()) query.emplace_back("sessionId", options.session);
  if (options.since_seconds > 0) {
    auto age = milliseconds(static_cast<std::int64_t>(options.since_seconds * 1000));
    query.emplace_back("createdAfter", to_iso8601(SystemClock().now() - age));
  }
  if (!cursor.empty()) query.emplace_back("cursor", cursor);
  return {.path = "/agent-runs", .query = std::move(query)};
}

// As many pages as it takes, joined to one answer.
Result<json::Object> read_runs(sdk::ApiClient& api, const RunsListOptions& options) {
  auto limit = static_cast<std::size_t>(options.limit);
  json::Array runs;
  std::string cursor = options.before;
  do {
    ERRAND_TRY(auto page, api.ask(list_request(options, limit - runs.size(), cursor)));
    for (const json::Value& run : items_of(page, "runs")) runs.push_back(run);
    cursor = text_of(page, "nextCursor");
  } while (!cursor.empty() && runs.size() < limit);
  json::Object out{{"runs", std::move(runs)}};
  out["nextCursor"] = cursor.empty() ? json::Value() : json::Value(cursor);
  return out;
}

// Lists do not say what runs are about. A run that is gone by now is shown as it was listed.
void read_details(sdk::ApiClient& api, json::Array& runs) {
  std::size_t left = kDetailedMax;
  for (json::Value& run : runs) {
    if (left-- == 0) return;
    auto whole = api.ask({.path = sdk::run_path(text_of(run, "runId"), "")});
    if (whole) run = std::move(*whole);
  }
}

std::string about(const json::Value& run, const json::Array& pending, WallTime now) {
  if (pending.empty()) {
    std::string name = text_of(run, "name");
    std::string prompt = prompt_of(run);
    return name.empty() || prompt.empty() ? cat(name, prompt) : cat(name, ": ", prompt);
  }
  std::string out = text_of(pending.front(), "name");
  if (pending.size() > 1) append(out, " and ", pending.size() - 1, " more");
  auto expires = parse_iso8601(text_of(pending.front(), "expiresAt"));
  if (expires && *expires > now) append(out, ", ", shown_age(*expires - now), " left");
  return out;
}

void note_more(const json::Object& answer) {
  const json::Value& cursor = answer.at("nextCursor");
  if (cursor.is_null()) return;
  std::string last = clean_line(json::view(cursor.get_string()), kAboutChars);
  std::string note = cat("There are more: --before ", last, " goes on, --limit N shows more.\n");
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, note);
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

Row run_row(const json::Value& run, WallTime now) {
  json::Array pending = items_of(run, "pendingCalls");
  auto created = parse_iso8601(text_of(run, "createdAt"));
  return {text_of(run, "runId"), pending.empty() ? text_of(run, "status") : "waiting",
          created ? shown_age(now - *created) : "", text_of(run, "modelId"),
          clean_line(about(run, pending, now), kAboutChars)};
}

int list_runs(const RunsListOptions& options) {
  return with_data({.server = options.server}, [&](sdk::ApiClient& api) {
    auto answer = read_runs(api, options);
    if (!answer) return fail(answer.error());
    if (options.form == Form::json) return print_json(*answer);
    json::Array& runs = answer->at("runs").get_array();
    read_details(api, runs);
    std::vector<Row> rows{{"RUN", "STATUS", "AGE", "MODEL", "ABOUT"}};
    for (const json::Value& run : runs) rows.push_back(run_row(run, SystemClock().now()));
    int code = print(render_table(rows));
    note_more(*answer);
    return code;
  });
}

}  // namespace errand::cli
