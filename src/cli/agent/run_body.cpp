#include "cli/agent/run_body.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kPromptBytesMax =
    std::size_t{32} * 1024 * 1024;                                 // what a server takes at most
constexpr std::size_t kSchemaBytesMax = std::size_t{1024} * 1024;  // servers take less
constexpr milliseconds kDecisionMax = std::chrono::hours(1);       // people think before they agree
constexpr int kReasoningMax = 100;
constexpr auto kReasoningWords = std::to_array<std::string_view>({"off", "low", "medium", "high"});

Error wrong(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

Result<std::string> read_stdin() {
  std::string text;
  std::string buffer(64 * 1024, '\0');
  for (;;) {
    ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return wrong(cat("cannot read stdin: ", std::generic_category().message(errno)));
    text.append(buffer, 0, static_cast<std::size_t>(count));
    if (text.size() > kPromptBytesMax) return wrong("the prompt on stdin is too long");
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

Result<std::string> prompt_of(const RunOptions& options) {
  std::string prompt = options.prompt;
  if (prompt == "-") {
    ERRAND_TRY(prompt, read_stdin());
  }
  if (prompt.empty()) return wrong("the prompt is empty");
  return prompt;
}

Result<json::Value> read_schema(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::string text(kSchemaBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return wrong(cat("--output-schema: cannot read the file ", file));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kSchemaBytesMax) {
    return wrong(cat("--output-schema ", file, ": the file is too large for a schema"));
  }
  auto schema = json::parse(text);
  if (!schema) return wrong(cat("--output-schema ", file, ": ", schema.error().describe()));
  if (schema->is_object()) return schema;
  return wrong(cat("--output-schema ", file, ": expected a JSON Schema, which is an object"));
}

Result<json::Value> reasoning_of(const std::string& level) {
  if (auto number = parse_integer<int>(level); number && *number >= 0 && *number <= kReasoningMax) {
    return json::Value(*number);
  }
  bool is_word =
      std::find(kReasoningWords.begin(), kReasoningWords.end(), level) != kReasoningWords.end();
  if (is_word) return json::Value(level);
  return wrong(
      cat("--reasoning ", level, ": expected off, low, medium, high, or 0 to ", kReasoningMax));
}

}  // namespace

Result<json::Object> make_agent_fields(const AgentOptions& options, json::Array tools) {
  json::Object fields;
  if (!options.model.empty()) fields["modelId"] = options.model;
  if (!options.system.empty()) fields["systemPrompt"] = options.system;
  if (!tools.empty()) fields["tools"] = std::move(tools);
  json::Object budgets;
  if (options.max_turns) budgets["maxToolTurns"] = *options.max_turns;
  if (options.shell) budgets["localToolTimeoutMs"] = kDecisionMax.count();
  if (!budgets.empty()) fields["budgets"] = std::move(budgets);
  if (!options.reasoning.empty()) {
    ERRAND_TRY(fields["reasoningLevel"], reasoning_of(options.reasoning));
  }
  return fields;
}

Result<std::string> make_run_body(const RunOptions& options, json::Array tools) {
  ERRAND_TRY(auto body, make_agent_fields(options.agent, std::move(tools)));
  if (!options.output_schema.empty()) {
    ERRAND_TRY(auto schema, read_schema(options.output_schema));
    body["outputSchema"] = json::Object{{"schema", std::move(schema)}};
  }
  ERRAND_TRY(body["prompt"], prompt_of(options));
  return json::write(body);
}

}  // namespace errand::cli
