#include "cli/commands/session_commands.hpp"

#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "cli/terminal/table.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownChars = 200;
constexpr std::size_t kSummaryChars = 40;

std::string sessions_table(const json::Value& answer) {
  std::vector<Row> rows{{"SESSION", "STATUS", "LAST USED", "ABOUT"}};
  for (const json::Value& session : items_of(answer, "sessions")) {
    rows.push_back({text_of(session, "sessionId"), text_of(session, "status"),
                    text_of(session, "lastInteractionDate"),
                    clean_line(text_of(session, "summary"), kSummaryChars)});
  }
  return render_table(rows);
}

// "user: Hello", each message on lines of its own.
std::string session_text(const json::Value& session) {
  std::string out = cat(clean_line(text_of(session, "sessionId"), kShownChars), ", ",
                        clean_line(text_of(session, "status"), kShownChars), ", last used ",
                        clean_line(text_of(session, "lastUsedAt"), kShownChars), "\n");
  for (const json::Value& message : items_of(session, "messages")) {
    append(out, "\n", clean_line(text_of(message, "role"), kShownChars), ": ",
           clean_text(text_of(message, "content")), "\n");
  }
  return out;
}

std::string path_of(const std::string& session) {
  return cat("/agent-sessions/", percent_encode(session));
}

}  // namespace

int list_sessions(const AnswerOptions& options, const SessionListOptions& which) {
  sdk::Query query{{"limit", std::to_string(which.limit)}};
  if (!which.status.empty()) query.emplace_back("status", which.status);
  if (!which.agent.empty()) query.emplace_back("agentId", which.agent);
  return ask_and_show(options, {.path = "/agent-sessions", .query = std::move(query)},
                      sessions_table);
}

int show_session(const AnswerOptions& options, const std::string& id) {
  return ask_and_show(options, {.path = path_of(id)}, session_text);
}

int end_session(const AnswerOptions& options, const std::string& id) {
  sdk::ApiRequest request{.method = sdk::Method::delete_, .path = path_of(id)};
  return ask_and_show(options, std::move(request), [&id](const json::Value&) {
    return cat("ended ", clean_line(id, kShownChars), "\n");
  });
}

int remove_session(const AnswerOptions& options, const std::string& id) {
  sdk::ApiRequest request{
      .method = sdk::Method::delete_, .path = path_of(id), .query = {{"purge", "true"}}};
  return ask_and_show(options, std::move(request), [&id](const json::Value&) {
    return cat("removed ", clean_line(id, kShownChars), "\n");
  });
}

}  // namespace errand::cli
