#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/value.hpp"
#include "llm/provider.hpp"

namespace errand::llm {

// The error classes of model calls. Besides those of the protocol there are three that tell people
// what to do: "quota" (pay), "refusal" and "content_filter" (ask something else).
namespace error_class {
constexpr std::string_view kAuth = "auth";
constexpr std::string_view kQuota = "quota";
constexpr std::string_view kRateLimit = "rate_limit";
constexpr std::string_view kOverloaded = "overloaded";
constexpr std::string_view kServer = "server";
constexpr std::string_view kTimeout = "timeout";
constexpr std::string_view kContextWindow = "context_window";
constexpr std::string_view kRefusal = "refusal";
constexpr std::string_view kContentFilter = "content_filter";
constexpr std::string_view kInvalidRequest = "invalid_request";
}  // namespace error_class

constexpr std::size_t kFailureMessageBytesMax = 2000;
// A wait longer than this is taken for a mistake of the vendor's.
constexpr milliseconds kRetryAfterMax{24 * 3'600'000};

// Whether asking again may help follows from the class. The message is cut at
// kFailureMessageBytesMax.
ModelFailure make_failure(std::string_view error_class, std::string_view message,
                          int api_status = 0, std::string_view api_code = {});

// The stream ended, or says something that cannot be read.
Failed broken_stream(std::string_view message);

// The vendor will not have the question as it stands.
bool is_refused_question(const ModelFailure& failure);
// Some servers do not refuse a format of answers that they lack, but break over it.
bool breaks_over_format(const ModelFailure& failure);

// The class of an HTTP status of which nothing else is known.
std::string_view class_of_status(int status);

// What an error says, in any of the shapes that servers use. Text that is no JSON is the message,
// unless it is a page of HTML.
struct ErrorBody {
  std::string message;
  std::string type;
  std::string code;    // a number becomes its digits
  std::string status;  // a word, as Google has it
  json::Object object;
};
ErrorBody read_error_body(std::string_view body);
// The same for the value of an "error" member, or for an object that is the error itself.
ErrorBody read_error(const json::Value& error);

// Vendors have no code for a prompt that is too long: the patterns of their words are here.
bool tells_of_context_window(std::string_view message);

// "retry-after-ms", else "retry-after" in seconds or as a date.
std::optional<milliseconds> retry_after_of(const ApiAnswer& answer);
// "39s", "1.898s", "500ms", "35 seconds": at the start of `text`.
std::optional<milliseconds> parse_wait(std::string_view text);

// The header's value; empty if there is none. `name` is in lower case.
std::string_view header_of(const ApiAnswer& answer, std::string_view name);

// What every classifier ends with: an empty message becomes a sentence, and the headers are read.
ApiFailure finish_failure(ModelFailure failure, const ApiAnswer& answer);

}  // namespace errand::llm
