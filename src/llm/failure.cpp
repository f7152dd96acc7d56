#include "llm/failure.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/dates/http_date.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "llm/members.hpp"

namespace errand::llm {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_retryable(std::string_view error_class) {
  return error_class == error_class::kRateLimit || error_class == error_class::kOverloaded ||
         error_class == error_class::kServer || error_class == error_class::kTimeout;
}

// The member's text, or its number as text; empty for anything else.
std::string word_at(const json::Object& from, std::string_view key) {
  if (auto number = integer_at(&from, key)) return cat(*number);
  return std::string(text_at(&from, key));
}

std::optional<milliseconds> to_wait(double millis) {
  if (!std::isfinite(millis) || millis < 0) return {};
  if (millis > static_cast<double>(kRetryAfterMax.count())) return {};
  return milliseconds(static_cast<std::int64_t>(std::ceil(millis)));
}

// Takes the number at the start of `text` off it.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

ErrorBody read_plain_text(std::string_view body) {
  ErrorBody out;
  std::string_view text = trim(body);
  bool is_page = text.starts_with('<');
  if (!is_page) out.message = utf8_prefix(text, kFailureMessageBytesMax);
  return out;
}

}  // namespace

ModelFailure make_failure(std::string_view error_class, std::string_view message, int api_status,
                          std::string_view api_code) {
  return {.error_class = std::string(error_class),
          .message = std::string(utf8_prefix(message, kFailureMessageBytesMax)),
          .retryable = is_retryable(error_class),
          .api_status = api_status,
          .api_code = std::string(utf8_prefix(api_code, 200))};
}

Failed broken_stream(std::string_view message) {
  return {make_failure(error_class::kServer, message)};
}

bool is_refused_question(const ModelFailure& failure) {
  return failure.error_class == error_class::kInvalidRequest && failure.api_status >= 400;
}

bool breaks_over_format(const ModelFailure& failure) {
  constexpr int kServerError = 500;
  const std::string words = to_lower(failure.message);
  return failure.api_status >= kServerError &&
         (words.find("response_format") != std::string::npos ||
          words.find("json_schema") != std::string::npos);
}

std::string_view class_of_status(int status) {
  switch (status) {
    case 401:
    case 403: return error_class::kAuth;
    case 402: return error_class::kQuota;
    case 408:
    case 504: return error_class::kTimeout;
    case 429: return error_class::kRateLimit;
    case 503:
    case 529: return error_class::kOverloaded;
    default:
      return status >= 400 && status < 500 ? error_class::kInvalidRequest : error_class::kServer;
  }
}

ErrorBody read_error(const json::Value& error) {
  ErrorBody out;
  if (error.is_string()) out.message = json::view(error.as_string());
  const json::Object* object = error.if_object();
  if (!object) return out;
  out.object = *object;
  out.message = text_at(object, "message");
  out.type = text_at(object, "type");
  out.code = word_at(*object, "code");
  out.status = text_at(object, "status");
  return out;
}

ErrorBody read_error_body(std::string_view body) {
  auto value = json::parse(body, {.duplicate_keys = json::DuplicateKeys::last_wins,
                                  .values_max = json::kStrangersValuesMax});
  if (!value) return read_plain_text(body);
  const json::Value* root = &*value;
  if (root->is_array() && !root->as_array().empty()) root = &root->as_array()[0];
  const json::Object* object = root->if_object();
  if (!object) return read_error(*root);

  const json::Value* error = object->if_contains("error");
  bool is_nested = error && !error->is_null();
  ErrorBody out = read_error(is_nested ? *error : *root);
  if (out.code.empty()) out.code = word_at(*object, "code");
  if (out.message.empty()) out.message = text_at(object, "message");
  const json::Value* detail = object->if_contains("detail");
  if (out.message.empty() && detail) {
    out.message =
        detail->is_string() ? std::string(json::view(detail->as_string())) : json::write(*detail);
  }
  return out;
}

bool tells_of_context_window(std::string_view message) {
  static constexpr std::array<std::string_view, 7> kPatterns = {
      "prompt is too long",
      "maximum context length",
      "context length exceeded",
      "exceeds the context",
      "context window",
      "exceed context limit",
      "exceeds the available context",
  };
  std::string text = lower(message);
  if (text.find("input token count") != text.npos && text.find("exceeds the max") != text.npos) {
    return true;
  }
  return std::any_of(kPatterns.begin(), kPatterns.end(), [&](std::string_view pattern) {
    return text.find(pattern) != std::string::npos;
  });
}

std::string_view header_of(const ApiAnswer& answer, std::string_view name) {
  for (const auto& [key, value] : answer.headers) {
    if (equals_ignoring_case(key, name)) return trim(value);
  }
  return {};
}

std::optional<milliseconds> retry_after_of(const ApiAnswer& answer) {
  std::string_view millis = header_of(answer, "retry-after-ms");
  if (auto number = take_number(millis); number && millis.empty()) {
    if (auto wait = to_wait(*number)) return wait;
  }
  std::string_view text = header_of(answer, "retry-after");
  std::string_view rest = text;
  if (auto number = take_number(rest); number && rest.empty()) return to_wait(*number * 1000);
  auto date = parse_http_date(text);
  if (!date || *date < answer.now) return {};
  return to_wait(static_cast<double>((*date - answer.now).count()));
}

std::optional<milliseconds> parse_wait(std::string_view text) {
  auto number = take_number(text);
  if (!number) return {};
  text = trim(text);
  if (text.starts_with("ms") || text.starts_with("milli")) return to_wait(*number);
  if (text.starts_with("s")) return to_wait(*number * 1000);
  return {};
}

ApiFailure finish_failure(ModelFailure failure, const ApiAnswer& answer) {
  if (failure.message.empty()) {
    failure.message = cat("the model's server answered ", answer.status);
  }
  std::string_view should_retry = header_of(answer, "x-should-retry");
  if (should_retry == "true") failure.retryable = true;
  if (should_retry == "false") failure.retryable = false;
  return {.failure = std::move(failure), .retry_after = retry_after_of(answer)};
}

}  // namespace errand::llm
