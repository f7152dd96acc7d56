#include "sdk/api_client.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kMessageBytesMax = 2000;

std::string text_member(const json::Value& value, std::string_view key) {
  if (!value.is_object()) return {};
  const json::Value* found = value.get_object().if_contains(key);
  if (!found || !found->is_string()) return {};
  return std::string(utf8_prefix(json::view(found->get_string()), kMessageBytesMax));
}

std::vector<std::string> candidates_of(const json::Value& body) {
  std::vector<std::string> out;
  const json::Value* found =
      body.is_object() ? body.get_object().if_contains("candidates") : nullptr;
  if (!found || !found->is_array()) return out;
  for (const json::Value& one : found->get_array()) {
    if (one.is_string()) out.emplace_back(json::view(one.get_string()));
  }
  return out;
}

ErrorCode code_of(int status) {
  switch (status) {
    case 401: return ErrorCode::unauthorized;
    case 403: return ErrorCode::forbidden;
    case 404: return ErrorCode::not_found;
    case 408: return ErrorCode::timeout;
    case 409: return ErrorCode::conflict;
    case 413:
    case 431: return ErrorCode::too_large;
    case 429: return ErrorCode::rate_limited;
    case 501: return ErrorCode::unsupported;
    default: return status >= 500 ? ErrorCode::unavailable : ErrorCode::invalid_argument;
  }
}

}  // namespace

Error error_of_answer(int status, std::string_view body) {
  auto parsed = json::parse(body, {.duplicate_keys = json::DuplicateKeys::last_wins});
  json::Value value = parsed ? std::move(*parsed) : json::Value();
  std::string message = text_member(value, "message");
  if (message.empty()) message = text_member(value, "error");
  if (message.empty()) message = cat("the server answered with HTTP status ", status);
  return Error(code_of(status), std::move(message))
      .reason(text_member(value, "code"))
      .pointer(text_member(value, "pointer"))
      .hint(text_member(value, "hint"))
      .candidates(candidates_of(value));
}

bool is_worth_retrying(const Error& error) {
  return error.code() == ErrorCode::unavailable || error.code() == ErrorCode::timeout ||
         error.code() == ErrorCode::rate_limited;
}

std::string run_path(std::string_view run, std::string_view rest) {
  return cat("/agent-runs/", percent_encode(run), rest);
}

Result<json::Value> value_of_answer(int status, std::string_view body, std::string_view api) {
  if (status < 200 || status >= 300) return error_of_answer(status, body);
  if (body.empty()) return json::Value();
  auto value = json::parse(body, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (value) return std::move(*value);
  return Error(ErrorCode::internal,
               cat("the answer of ", api, " is not JSON: is it an Errand server?"));
}

}  // namespace errand::sdk
