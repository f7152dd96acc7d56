#include "cli/commands/record_commands.hpp"

#include <functional>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "cli/commands/paged_list.hpp"
#include "cli/terminal/exit_code.hpp"
#include "cli/terminal/hidden_line.hpp"
#include "cli/terminal/report.hpp"
#include "cli/terminal/table.hpp"
#include "cli/terminal/whole_stdin.hpp"
#include "json/parse.hpp"
#include "json/place.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kRecordChars = 200;
constexpr std::size_t kDescriptionChars = 60;
constexpr std::size_t kShownRecordsMax = 10'000;
constexpr std::size_t kInputBytesMax = std::size_t{4} * 1024 * 1024;

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<std::string> read_input(const std::string& file) {
  if (file == "-") return read_whole_stdin({.what = "the record"});
  auto text = read_whole_file(file, kInputBytesMax);
  if (text) return text;
  return wrong(text.error().message());
}

Result<std::string> read_secret(const std::string& name) {
  ERRAND_TRY(auto text, read_hidden_line(cat("Value of ", clean_line(name, kRecordChars), ": ")));
  if (text.empty()) return wrong("the value of the secret is empty");
  return text;
}

std::string record_path(const std::string& noun, const std::string& name) {
  return cat("/", noun, "/", percent_encode(name));
}

std::string agents_table(const json::Value& answer) {
  std::vector<Row> rows{{"AGENT", "VERSION", "MODEL", "UPDATED", "ID", "DESCRIPTION"}};
  for (const json::Value& agent : items_of(answer, "agents")) {
    rows.push_back({text_of(agent, "name"), text_of(agent, "version"), text_of(agent, "modelId"),
                    text_of(agent, "updatedAt"), text_of(agent, "id"),
                    clean_line(text_of(agent, "description"), kDescriptionChars)});
  }
  return render_table(rows);
}

// The name that an agent's tool is shown under.
std::string tool_name(const json::Value& tool) {
  std::string name = text_of(tool, "name");
  return name.empty() ? text_of(tool, "id") : name;
}

std::string agent_text(const json::Value& agent) {
  std::string out = cat(clean_line(text_of(agent, "name"), kRecordChars), ", version ",
                        clean_line(text_of(agent, "version"), kRecordChars), ", updated ",
                        clean_line(text_of(agent, "updatedAt"), kRecordChars), ", ",
                        clean_line(text_of(agent, "id"), kRecordChars), "\n");
  for (const auto& [label, key] :
       {std::pair("description: ", "description"), std::pair("model: ", "modelId"),
        std::pair("reasoning: ", "reasoningLevel")}) {
    std::string text = text_of(agent, key);
    if (!text.empty()) append(out, label, clean_line(text, kRecordChars), "\n");
  }
  std::string tools;
  for (const json::Value& tool : items_of(agent, "tools")) {
    append(tools, tools.empty() ? "" : ", ", clean_line(tool_name(tool), kRecordChars));
  }
  if (!tools.empty()) append(out, "tools: ", tools, "\n");
  std::string prompt = text_of(agent, "systemPrompt");
  if (!prompt.empty()) append(out, "\n", clean_text(prompt), "\n");
  return out;
}

// The origin of a tool, in words.
std::string origin_of(const json::Value& one) {
  std::string source = text_of(one, "source");
  if (source == "errand") return "built in";
  if (source == "http") return cat(text_of(one, "method"), " ", text_of(one, "url"));
  if (source == "mcp") return cat("MCP server ", text_of(one, "server"));
  return source;
}

// Only a call shows whether the address of a stored tool answers.
std::string tools_table(const json::Value& answer) {
  std::vector<Row> rows{{"TOOL", "FROM", "ANSWERS", "VERSION", "ID"}};
  for (const json::Value& tool : items_of(answer, "tools")) {
    bool is_stored = text_of(tool, "source") == "http";
    rows.push_back({text_of(tool, "name"), origin_of(tool), is_stored ? "" : "yes",
                    text_of(tool, "version"), text_of(tool, "id")});
  }
  for (const json::Value& one : items_of(answer, "unreachable")) {
    rows.push_back({"-", origin_of(one), cat("no: ", text_of(one, "error")), "", ""});
  }
  return render_table(rows);
}

std::string secrets_table(const json::Value& answer) {
  std::vector<Row> rows{{"SECRET", "VERSION", "UPDATED"}};
  for (const json::Value& secret : items_of(answer, "secrets")) {
    rows.push_back(
        {text_of(secret, "name"), text_of(secret, "version"), text_of(secret, "updatedAt")});
  }
  return render_table(rows);
}

int show_records(const AnswerOptions& options, const std::string& noun,
                 const std::function<std::string(const json::Value&)>& table) {
  return with_server(options.server, [&](sdk::ApiClient& api) {
    auto answer =
        read_list(api, {.path = cat("/", noun), .items = noun, .limit = kShownRecordsMax});
    if (!answer) return fail(answer.error());
    if (options.form == Form::json) return print_json(*answer);
    int code = print(table(*answer));
    note_more(*answer, cat("only ", kShownRecordsMax, " are shown."));
    return code;
  });
}

// The body in a file, and the name that it gives.
struct NamedBody {
  std::string name;
  std::string body;
};

Result<NamedBody> read_record(const std::string& file) {
  ERRAND_TRY(auto text, read_input(file));
  auto value = json::parse(text);
  if (!value) return wrong(json::in_file(file, text, value.error()).message());
  std::string name = text_of(*value, "name");
  if (name.empty()) return wrong(cat(file, ": \"name\" is missing"));
  return NamedBody{.name = std::move(name), .body = std::move(text)};
}

}  // namespace

int apply_record(const AnswerOptions& options, const std::string& noun, const std::string& file) {
  auto record = read_record(file);
  if (!record) return fail_usage(record.error());
  sdk::ApiRequest request{
      .method = sdk::Method::put, .path = record_path(noun, record->name), .body = record->body};
  return with_server(options.server, [&](sdk::ApiClient& api) {
    auto saved = api.ask(std::move(request));
    if (!saved && saved.error().pointer().empty()) return fail(saved.error());
    if (!saved) {
      std::string_view name = file == "-" ? std::string_view("stdin") : std::string_view(file);
      return fail(json::in_file(name, record->body, saved.error()));
    }
    if (options.form == Form::json) return print_json(*saved);
    return print(cat("applied ", clean_line(text_of(*saved, "name"), kRecordChars), ", version ",
                     clean_line(text_of(*saved, "version"), kRecordChars), "\n"));
  });
}

int delete_record(const AnswerOptions& options, const std::string& noun, const std::string& name) {
  sdk::ApiRequest request{.method = sdk::Method::delete_, .path = record_path(noun, name)};
  return ask_and_show(options, std::move(request), [&name](const json::Value&) {
    return cat("deleted ", clean_line(name, kRecordChars), "\n");
  });
}

int list_agents(const AnswerOptions& options) {
  return show_records(options, "agents", agents_table);
}

int show_agent(const AnswerOptions& options, const std::string& name, int version) {
  sdk::ApiRequest request{.path = record_path("agents", name)};
  if (version > 0) request.query.emplace_back("version", std::to_string(version));
  return ask_and_show(options, std::move(request), agent_text);
}

int list_tools(const AnswerOptions& options) {
  return ask_and_show(options, {.path = "/offered-tools"}, tools_table);
}

int test_tool(const AnswerOptions& options, const std::string& name, const std::string& arguments) {
  constexpr seconds kTestMax{660};  // longer than any tool may run
  auto value = json::parse(arguments);
  if (!value || !value->is_object()) {
    return fail_usage(wrong("--args: expected a JSON object, such as {\"id\": 7}"));
  }
  sdk::ApiRequest request{.method = sdk::Method::post,
                          .path = cat(record_path("tools", name), "/test"),
                          .body = json::write(json::Object{{"arguments", *value}}),
                          .timeout = kTestMax};
  bool is_ok = true;
  int code = ask_and_show(options, std::move(request), [&is_ok](const json::Value& outcome) {
    is_ok = text_of(outcome, "ok") == "true";
    std::string text = clean_text(text_of(outcome, "result"));
    return cat(is_ok ? "" : "The call failed. ", text, text.ends_with('\n') ? "" : "\n");
  });
  return code == kExitOk && !is_ok ? kExitFailed : code;
}

int set_secret(const AnswerOptions& options, const std::string& name) {
  auto value = read_secret(name);
  if (!value) return fail_usage(value.error());
  sdk::ApiRequest request{.method = sdk::Method::put,
                          .path = record_path("secrets", name),
                          .body = json::write(json::Object{{"value", *value}})};
  return ask_and_show(options, std::move(request), [](const json::Value& saved) {
    return cat("set ", clean_line(text_of(saved, "name"), kRecordChars), ", version ",
               clean_line(text_of(saved, "version"), kRecordChars), "\n");
  });
}

int list_secrets(const AnswerOptions& options) {
  return show_records(options, "secrets", secrets_table);
}

}  // namespace errand::cli
