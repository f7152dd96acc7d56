#include "cli/commands/workspace_commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/terminal/table.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownChars = 200;

std::string keys_table(const json::Value& answer) {
  std::vector<Row> rows{{"KEY", "STARTS WITH", "CREATED", "REVOKED", "NAME"}};
  for (const json::Value& key : items_of(answer, "apiKeys")) {
    rows.push_back({text_of(key, "id"), text_of(key, "prefix"), text_of(key, "createdAt"),
                    text_of(key, "revokedAt"), text_of(key, "name")});
  }
  return render_table(rows);
}

// "reachable", or what is wrong and how the vendor puts it.
std::string status_of(const json::Value& model) {
  std::string status = text_of(model, "status");
  std::replace(status.begin(), status.end(), '_', ' ');
  std::string message = text_of(model, "statusMessage");
  return message.empty() ? status : cat(status, ": ", message);
}

std::string models_table(const json::Value& answer) {
  std::string default_id = text_of(answer, "defaultModelId");
  std::vector<Row> rows{
      {"MODEL", "PROVIDER", "VENDOR MODEL", "CONTEXT", "DEFAULT", "LABEL", "STATUS"}};
  for (const json::Value& model : items_of(answer, "models")) {
    std::string id = text_of(model, "id");
    rows.push_back({id, text_of(model, "provider"), text_of(model, "vendorModelId"),
                    text_of(model, "contextWindowTokens"), id == default_id ? "yes" : "",
                    text_of(model, "label"), status_of(model)});
  }
  return render_table(rows);
}

}  // namespace

int create_key(const AnswerOptions& options, const std::string& name) {
  json::Object body;
  if (!name.empty()) body["name"] = name;
  sdk::ApiRequest request{
      .method = net::Method::post, .path = "/api-keys", .body = json::write(body)};
  return ask_and_show(options, std::move(request), [](const json::Value& answer) {
    std::string note = cat("The key ", clean_line(text_of(answer, "id"), kShownChars),
                           " is shown this once; keep it.\n");
    [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, note);
    return cat(clean_line(text_of(answer, "key"), kShownChars), "\n");
  });
}

int list_keys(const AnswerOptions& options) {
  return ask_and_show(options, {.path = "/api-keys"}, keys_table);
}

int revoke_key(const AnswerOptions& options, const std::string& id) {
  sdk::ApiRequest request{.method = net::Method::delete_,
                          .path = cat("/api-keys/", percent_encode(id))};
  return ask_and_show(options, std::move(request), [&](const json::Value&) {
    return cat("revoked ", clean_line(id, kShownChars), "\n");
  });
}

int list_models(const AnswerOptions& options) {
  return ask_and_show(options, {.path = "/models?check=true"}, models_table);
}

}  // namespace errand::cli
