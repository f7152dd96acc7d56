#include "llm/anthropic/wire.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "llm/members.hpp"

namespace errand::llm {
namespace {

using Row = std::pair<std::string_view, std::string_view>;

constexpr std::array<Row, 11> kMeanings = {{
    {"invalid_request_error", error_class::kInvalidRequest},
    {"authentication_error", error_class::kAuth},
    {"billing_error", error_class::kQuota},
    {"permission_error", error_class::kAuth},
    {"not_found_error", error_class::kInvalidRequest},
    {"conflict_error", error_class::kInvalidRequest},
    {"request_too_large", error_class::kInvalidRequest},
    {"rate_limit_error", error_class::kRateLimit},
    {"api_error", error_class::kServer},
    {"timeout_error", error_class::kTimeout},
    {"overloaded_error", error_class::kOverloaded},
}};

constexpr std::array<std::string_view, 16> kWords = {
    "type",   "properties",  "required",    "additionalProperties",
    "enum",   "const",       "anyOf",       "allOf",
    "$defs",  "definitions", "$ref",        "items",
    "format", "title",       "description", "$schema",
};

constexpr std::array<std::string_view, 10> kFormats = {
    "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid",
};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool fits(const json::Value& value);

bool all_fit(const json::Object& schema, std::string_view key) {
  const json::Value* value = schema.if_contains(key);
  if (!value) return true;
  if (const json::Array* list = value->if_array()) {
    return std::all_of(list->begin(), list->end(), fits);
  }
  const json::Object* named = value->if_object();
  return named && std::all_of(named->begin(), named->end(),
                              [](const auto& member) { return fits(member.value()); });
}

bool fits(const json::Value& value) {
  const json::Object* schema = value.if_object();
  if (!schema) return false;
  for (const auto& member : *schema) {
    std::string_view word(member.key().data(), member.key().size());
    bool is_small = word == "minItems" && integer_at(schema, "minItems").value_or(2) <= 1;
    if (!is_one_of(kWords, word) && !is_small) return false;
  }
  std::string_view format = text_at(schema, "format");
  if (!format.empty() && !is_one_of(kFormats, format)) return false;
  bool is_object = schema->contains("properties") || text_at(schema, "type") == "object";
  const json::Value* more = schema->if_contains("additionalProperties");
  bool is_closed = more && more->is_bool() && !more->as_bool();
  if (is_object && !is_closed) return false;
  const json::Value* items = schema->if_contains("items");
  return (!items || fits(*items)) && all_fit(*schema, "properties") && all_fit(*schema, "$defs") &&
         all_fit(*schema, "definitions") && all_fit(*schema, "anyOf") && all_fit(*schema, "allOf");
}

}  // namespace

bool fits_anthropic_subset(const json::Object& schema) {
  return text_at(&schema, "type") == "object" && fits(schema);
}

OutputMechanism anthropic_output(const TurnRequest& request, const AnthropicOptions& options) {
  if (!request.output_schema) return OutputMechanism::plain;
  bool is_outside =
      options.output == OutputMechanism::native && !fits_anthropic_subset(*request.output_schema);
  return is_outside ? OutputMechanism::answer_tool : options.output;
}

std::optional<std::int64_t> thinking_budget(int level, std::int64_t output_tokens_max) {
  std::int64_t budget = 512 + (std::int64_t{level} - 30) * (8000 - 512) / 50;
  budget =
      std::clamp(budget, kThinkingTokensMin, std::max(kThinkingTokensMin, output_tokens_max - 1));
  if (budget >= output_tokens_max) return {};
  return budget;
}

ModelFailure anthropic_failure(const ErrorBody& error, int status) {
  auto found = std::find_if(kMeanings.begin(), kMeanings.end(),
                            [&](const Row& row) { return row.first == error.type; });
  std::string_view meaning = found != kMeanings.end() ? found->second : class_of_status(status);
  std::string_view code = text_at(object_at(&error.object, "details"), "error_code");
  if (code == "enforced_spend_limit_reached") meaning = error_class::kQuota;
  if (meaning == error_class::kInvalidRequest && tells_of_context_window(error.message)) {
    meaning = error_class::kContextWindow;
  }
  return make_failure(meaning, error.message, status >= 400 ? status : 0,
                      code.empty() ? std::string_view(error.type) : code);
}

}  // namespace errand::llm
