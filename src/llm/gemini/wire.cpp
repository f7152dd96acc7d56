#include "llm/gemini/wire.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "llm/members.hpp"

namespace errand::llm {
namespace {

using Row = std::pair<std::string_view, std::string_view>;

constexpr std::array<Row, 9> kMeanings = {{
    {"INVALID_ARGUMENT", error_class::kInvalidRequest},
    {"FAILED_PRECONDITION", error_class::kInvalidRequest},
    {"NOT_FOUND", error_class::kInvalidRequest},
    {"PERMISSION_DENIED", error_class::kAuth},
    {"UNAUTHENTICATED", error_class::kAuth},
    {"RESOURCE_EXHAUSTED", error_class::kRateLimit},
    {"INTERNAL", error_class::kServer},
    {"UNAVAILABLE", error_class::kOverloaded},
    {"DEADLINE_EXCEEDED", error_class::kTimeout},
}};

// The text under `key` in the first detail that has one.
std::string_view detail_of(const ErrorBody& error, std::string_view key) {
  const json::Array* details = array_at(&error.object, "details");
  if (!details) return {};
  for (const json::Value& detail : *details) {
    std::string_view found = text_at(detail.if_object(), key);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

OutputMechanism gemini_output(const TurnRequest& request, const GeminiOptions& options) {
  if (!request.output_schema) return OutputMechanism::plain;
  bool has_tools = options.output == OutputMechanism::native && !request.tools->empty();
  return has_tools ? OutputMechanism::answer_tool : options.output;
}

ModelFailure gemini_failure(const ErrorBody& error, int status) {
  int code = parse_integer<int>(error.code).value_or(0);
  int known_status = status >= 400 ? status : code >= 400 && code < 600 ? code : 0;
  auto found = std::find_if(kMeanings.begin(), kMeanings.end(),
                            [&](const Row& row) { return row.first == error.status; });
  std::string_view meaning =
      found != kMeanings.end() ? found->second : class_of_status(known_status);
  std::string_view reason = detail_of(error, "reason");
  if (reason == "API_KEY_INVALID") meaning = error_class::kAuth;
  // The vendor reports a prompt that is too long as INVALID_ARGUMENT or as INTERNAL.
  bool may_be_length = meaning == error_class::kInvalidRequest || meaning == error_class::kServer;
  if (may_be_length && tells_of_context_window(error.message)) {
    meaning = error_class::kContextWindow;
  }
  return make_failure(meaning, error.message, known_status, error.status);
}

std::optional<milliseconds> retry_delay(const ErrorBody& error) {
  return parse_wait(detail_of(error, "retryDelay"));
}

}  // namespace errand::llm
