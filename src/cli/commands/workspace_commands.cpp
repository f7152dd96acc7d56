#include "cli/commands/workspace_commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/with_data.hpp"
#include "cli/show/answer_text.hpp"
#include "cli/show/run_summary.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownIdChars = 200;

json::Array texts(const std::vector<std::string>& items) {
  json::Array out;
  for (const std::string& item : items) out.emplace_back(item);
  return out;
}

// The names in a list, or "all" for a list that is null.
std::string names_of(const json::Value& value, std::string_view key) {
  const json::Value* names = member(value, key);
  if (!names || names->is_null()) return "all";
  std::string out;
  for (const json::Value& name : items_of(value, key)) {
    append(out, out.empty() ? "" : " ", name.is_string() ? json::view(name.get_string()) : "");
  }
  return out;
}

std::string runs_of(const json::Value& key) {
  const json::Value* usage = member(key, "usage");
  return usage ? text_of(*usage, "runs") : "0";
}

// The cost of the key's runs. The prices of some of them may be unknown.
std::string cost_of(const json::Value& key) {
  const json::Value* usage = member(key, "usage");
  const json::Value* cost = usage ? member(*usage, "costUsd") : nullptr;
  if (!cost || !cost->is_number()) return {};
  std::string unpriced = text_of(*usage, "unpricedRuns");
  return cat(shown_cost(cost->to_number<double>()),
             unpriced == "0" ? "" : cat(" and ", unpriced, " unpriced"));
}

// The key's name, with a note that the key is revoked, for tables without a column for that.
std::string name_of(const json::Value& key) {
  std::string name = text_of(key, "name");
  if (text_of(key, "revokedAt").empty()) return name;
  return cat(name, name.empty() ? "" : ", ", "revoked");
}

std::string keys_table(const json::Value& answer) {
  const TableLook look = table_look_here();
  std::vector<Row> rows{{"KEY", "STARTS WITH", "CREATED", "LAST USED", "EXPIRES", "REVOKED",
                         "SCOPES", "RUNS", "COST", "NAME"}};
  if (is_narrow(look)) rows = {{"KEY", "LAST USED", "SCOPES", "RUNS", "COST", "NAME"}};
  for (const json::Value& key : items_of(answer, "apiKeys")) {
    if (is_narrow(look)) {
      rows.push_back({text_of(key, "id"), text_of(key, "lastUsedAt"), names_of(key, "scopes"),
                      runs_of(key), cost_of(key), name_of(key)});
    } else {
      rows.push_back({text_of(key, "id"), text_of(key, "prefix"), text_of(key, "createdAt"),
                      text_of(key, "lastUsedAt"), text_of(key, "expiresAt"),
                      text_of(key, "revokedAt"), names_of(key, "scopes"), runs_of(key),
                      cost_of(key), text_of(key, "name")});
    }
  }
  return render_table(rows, look);
}

std::string workspaces_table(const json::Value& answer) {
  std::vector<Row> rows{{"WORKSPACE", "NAME"}};
  for (const json::Value& workspace : items_of(answer, "workspaces")) {
    rows.push_back({text_of(workspace, "slug"), text_of(workspace, "name")});
  }
  return render_table(rows);
}

// The key goes to stdout, and everything about it to stderr.
std::string shown_key(const json::Value& key) {
  std::string note = cat("The key ", clean_line(text_of(key, "id"), kShownIdChars),
                         " is shown this once; keep it.\n");
  [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, note);
  return cat(clean_line(text_of(key, "apiKey"), kShownIdChars), "\n");
}

// If the server's credentials file is lost, a key with all rights takes its place.
void replace_lost_credentials(const sdk::ApiClient& api, const sdk::ServerFlags& flags,
                              const json::Value& key) {
  std::filesystem::path file = sdk::credentials_file(sdk::data_directory(flags));
  std::error_code ignored;
  bool is_lost = api.is_here() && !std::filesystem::exists(file, ignored);
  if (!is_lost || names_of(key, "scopes") != "all" || names_of(key, "agents") != "all") return;
  sdk::Credentials kept{
      .url = "http://127.0.0.1:7300", .workspace = api.workspace(), .key = text_of(key, "apiKey")};
  auto written = sdk::write_data_credentials(sdk::data_directory(flags), kept);
  std::string note = written ? cat("The key is also kept in ", file.string(),
                                   "; the next 'errand serve' adds its address.\n")
                             : cat(written.error().message(), "\n");
  [[maybe_unused]] auto told = write_fully(STDERR_FILENO, clean_text(note));
}

// "reachable", or what is wrong in the vendor's words.
std::string status_of(const json::Value& model) {
  std::string status = text_of(model, "status");
  std::replace(status.begin(), status.end(), '_', ' ');
  std::string message = text_of(model, "statusMessage");
  return message.empty() ? status : cat(status, ": ", message);
}

std::string models_table(const json::Value& answer) {
  const TableLook look = table_look_here();
  std::vector<Row> rows{
      {"MODEL", "PROVIDER", "VENDOR MODEL", "CONTEXT", "DEFAULT", "LABEL", "STATUS"}};
  if (is_narrow(look)) rows = {{"MODEL", "PROVIDER", "CONTEXT", "DEFAULT", "STATUS"}};
  for (const json::Value& model : items_of(answer, "models")) {
    std::string id = text_of(model, "id");
    std::string chosen = id == text_of(answer, "defaultModelId") ? "yes" : "";
    std::string context = text_of(model, "contextWindowTokens");
    if (is_narrow(look)) {
      rows.push_back({id, text_of(model, "provider"), context, chosen, status_of(model)});
    } else {
      rows.push_back({id, text_of(model, "provider"), text_of(model, "vendorModelId"), context,
                      chosen, text_of(model, "label"), status_of(model)});
    }
  }
  return render_table(rows, look);
}

}  // namespace

int create_key(const AnswerOptions& options, const NewKeyOptions& key) {
  json::Object body;
  if (!key.name.empty()) body["name"] = key.name;
  if (!key.scopes.empty()) body["scopes"] = texts(key.scopes);
  if (!key.agents.empty()) body["agents"] = texts(key.agents);
  if (key.expires_seconds > 0) {
    body["ttlMs"] = static_cast<std::int64_t>(key.expires_seconds * 1000);
  }
  sdk::ApiRequest request{
      .method = sdk::Method::post, .path = "/api-keys", .body = json::write(body)};
  return with_data({.server = options.server}, [&](sdk::ApiClient& api) {
    auto made = api.ask(std::move(request));
    if (!made) return fail(made.error());
    replace_lost_credentials(api, options.server, *made);
    return options.form == Form::json ? print_json(*made) : print(shown_key(*made));
  });
}

int create_oauth_client(const AnswerOptions& options, const NewKeyOptions& client) {
  json::Object body{{"scopes", texts(client.scopes)}};
  if (!client.name.empty()) body["name"] = client.name;
  if (!client.agents.empty()) body["agents"] = texts(client.agents);
  sdk::ApiRequest request{
      .method = sdk::Method::post, .path = "/oauth-clients", .body = json::write(body)};
  return ask_and_show(options, std::move(request), [](const json::Value& answer) {
    std::string note = "Secret and refresh token are shown this once; keep them.\n";
    [[maybe_unused]] auto ignored = write_fully(STDERR_FILENO, note);
    auto line = [&](std::string_view name, std::string_view key) {
      return cat(name, "=", clean_line(text_of(answer, key), kShownIdChars), "\n");
    };
    return cat(line("CLIENT_ID", "clientId"), line("CLIENT_SECRET", "clientSecret"),
               line("REFRESH_TOKEN", "refreshToken"));
  });
}

int list_oauth_clients(const AnswerOptions& options) {
  return ask_and_show(options, {.path = "/oauth-clients"}, [](const json::Value& answer) {
    std::vector<Row> rows{{"CLIENT", "CREATED", "SCOPES", "NAME"}};
    for (const json::Value& client : items_of(answer, "oauthClients")) {
      rows.push_back({text_of(client, "clientId"), text_of(client, "createdAt"),
                      names_of(client, "scopes"), text_of(client, "name")});
    }
    return render_table(rows);
  });
}

int delete_oauth_client(const AnswerOptions& options, const std::string& id) {
  sdk::ApiRequest request{.method = sdk::Method::delete_,
                          .path = cat("/oauth-clients/", percent_encode(id))};
  return ask_and_show(options, std::move(request), [&](const json::Value&) {
    return cat("deleted ", clean_line(id, kShownIdChars), "\n");
  });
}

int create_workspace(const AnswerOptions& options, const std::string& slug,
                     const std::string& name) {
  json::Object body{{"slug", slug}};
  if (!name.empty()) body["name"] = name;
  sdk::ApiRequest request{
      .method = sdk::Method::post, .path = "/workspaces", .body = json::write(body)};
  return ask_and_show(options, std::move(request), [](const json::Value& answer) {
    const json::Value* key = member(answer, "apiKey");
    return key ? shown_key(*key) : std::string();
  });
}

int list_workspaces(const AnswerOptions& options) {
  return ask_and_show(options, {.path = "/workspaces"}, workspaces_table);
}

int list_keys(const AnswerOptions& options) {
  return ask_data_and_show(options, {.path = "/api-keys"}, keys_table);
}

int revoke_key(const AnswerOptions& options, const std::string& id) {
  sdk::ApiRequest request{.method = sdk::Method::delete_,
                          .path = cat("/api-keys/", percent_encode(id))};
  return ask_data_and_show(options, std::move(request), [&](const json::Value&) {
    return cat("revoked ", clean_line(id, kShownIdChars), "\n");
  });
}

int list_models(const AnswerOptions& options, const std::string& config) {
  sdk::DataPlace place{
      .server = options.server, .config = config, .without = sdk::WithoutData::uses_memory};
  return with_data(place, [&](sdk::ApiClient& api) {
    sdk::ApiRequest request{.path = "/models", .query = {{"check", "true"}}};
    return show_answer(api, options.form, std::move(request), models_table);
  });
}

}  // namespace errand::cli
