#include "llm/openai/errors.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.hpp"
#include "llm/members.hpp"

namespace errand::llm {
namespace {

using Row = std::pair<std::string_view, std::string_view>;

// Codes and types, whatever the status: an error in a stream that began with 200 has them, too.
constexpr std::array<Row, 25> kMeanings = {{
    {"context_length_exceeded", error_class::kContextWindow},
    {"exceed_context_size_error", error_class::kContextWindow},
    {"insufficient_quota", error_class::kQuota},
    {"billing_hard_limit_reached", error_class::kQuota},
    {"rate_limit_exceeded", error_class::kRateLimit},
    {"server_is_overloaded", error_class::kOverloaded},
    {"slow_down", error_class::kOverloaded},
    {"unavailable_error", error_class::kOverloaded},
    {"vector_store_timeout", error_class::kServer},
    {"invalid_prompt", error_class::kContentFilter},
    {"bio_policy", error_class::kContentFilter},
    {"cyber_policy", error_class::kContentFilter},
    {"misalignment_policy_violation", error_class::kContentFilter},
    {"image_content_policy_violation", error_class::kContentFilter},
    {"content_filter", error_class::kContentFilter},
    {"data_residency_mismatch", error_class::kInvalidRequest},
    {"invalid_api_key", error_class::kAuth},
    {"authentication_error", error_class::kAuth},
    {"permission_error", error_class::kAuth},
    {"rate_limit_error", error_class::kRateLimit},
    {"server_error", error_class::kServer},
    {"internal_error", error_class::kServer},
    {"not_supported_error", error_class::kInvalidRequest},
    {"not_found_error", error_class::kInvalidRequest},
    {"invalid_request_error", error_class::kInvalidRequest},
}};

std::string_view meaning_of(std::string_view word) {
  auto found = std::find_if(kMeanings.begin(), kMeanings.end(),
                            [&](const Row& row) { return row.first == word; });
  return found == kMeanings.end() ? std::string_view() : found->second;
}

// llama.cpp and OpenRouter put the HTTP status where others have a code.
int status_in_code(std::string_view code) {
  int number = parse_integer<int>(code).value_or(0);
  return number >= 400 && number < 600 ? number : 0;
}

}  // namespace

ModelFailure openai_failure(const ErrorBody& error, int status) {
  int known_status = status >= 400 ? status : status_in_code(error.code);
  bool code_is_number = parse_integer<int>(error.code).has_value();
  std::string_view word = code_is_number || error.code.empty() ? error.type : error.code;

  std::string_view meaning = meaning_of(error.code);
  if (meaning.empty()) meaning = meaning_of(error.type);
  bool says_little =
      meaning.empty() || meaning == error_class::kInvalidRequest || meaning == error_class::kServer;
  if (known_status != 0 && says_little) meaning = class_of_status(known_status);
  if (meaning.empty()) meaning = error_class::kServer;
  bool may_be_length =
      meaning == error_class::kInvalidRequest || (known_status == 0 && says_little);
  if (may_be_length && tells_of_context_window(error.message)) {
    meaning = error_class::kContextWindow;
  }
  return make_failure(meaning, error.message, known_status, word);
}

std::optional<milliseconds> wait_in_message(std::string_view message) {
  constexpr std::string_view kWords = "try again in ";
  auto found = message.find(kWords);
  if (found == std::string_view::npos) return {};
  return parse_wait(message.substr(found + kWords.size()));
}

ApiFailure classify_openai(const ApiAnswer& answer) {
  ApiFailure out =
      finish_failure(openai_failure(read_error_body(answer.body), answer.status), answer);
  if (!out.retry_after && out.failure.error_class == error_class::kRateLimit) {
    out.retry_after = wait_in_message(out.failure.message);
  }
  return out;
}

}  // namespace errand::llm
