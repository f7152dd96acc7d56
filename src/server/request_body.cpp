#include "server/request_body.hpp"

#include <algorithm>

#include "base/dates/iso_time.hpp"
#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/parse.hpp"
#include "server/openapi/query.hpp"
#include "server/openapi/request_limits.hpp"

namespace errand::server {
namespace {

bool is_json_type(std::string_view content_type) {
  std::string_view type = trim(content_type.substr(0, content_type.find(';')));
  return equals_ignoring_case(type, "application/json") || type.ends_with("+json");
}

}  // namespace

Result<std::string_view> json_text(const net::Request& request) {
  std::string_view type = request.header("content-type");
  if (!type.empty() && !is_json_type(type)) {
    return Error(ErrorCode::unsupported,
                 cat("the body is \"", utf8_prefix(type, 80), "\", not JSON"))
        .reason("unsupported_media_type")
        .hint("send the header Content-Type: application/json");
  }
  if (request.body.empty()) {
    return Error(ErrorCode::invalid_argument, "the body is empty: expected a JSON object");
  }
  return std::string_view(request.body);
}

Result<json::Value> parse_body(std::string_view text) {
  return json::parse(text, {.values_max = json::kStrangersValuesMax});
}

Result<RunId> run_of_path(const net::Request& request) {
  const std::string& text = request.params.at(1);
  if (auto id = RunId::parse(text)) return *id;
  return Error(ErrorCode::not_found, cat("there is no run \"", utf8_prefix(text, 80), "\""));
}

Result<std::string> tool_use_of_path(const net::Request& request) {
  const std::string& text = request.params.at(1);
  if (ToolUseId::parse(text)) return text;
  return Error(ErrorCode::not_found, cat("no call \"", utf8_prefix(text, 80), "\" is pending"))
      .reason("unknown_tool_use");
}

Result<CreatedBetween> created_params(const net::Request& request) {
  CreatedBetween created;
  for (auto [parameter, bound] : {std::pair{&query::kCreatedAfter, &created.from},
                                  std::pair{&query::kCreatedBefore, &created.until}}) {
    auto text = text_param(request, *parameter);
    if (!text) continue;
    *bound = parse_iso8601(*text);
    if (*bound) continue;
    return Error(ErrorCode::invalid_argument,
                 cat("the query parameter \"", parameter->name, "\" must be a time in ISO 8601"))
        .hint("for example 2026-11-15T12:00:00Z");
  }
  return created;
}

Task<Result<Idempotency>> idempotency_of(net::Request* request, BlockingPool* pool) {
  Idempotency idempotency{.key = std::string(request->header("idempotency-key"))};
  if (idempotency.key.empty()) co_return idempotency;
  if (idempotency.key.size() > kIdempotencyKeyCharsMax) {
    co_return Error(ErrorCode::invalid_argument, "the Idempotency-Key is too long")
        .limit("idempotencyKeyChars", kIdempotencyKeyCharsMax);
  }
  auto fingerprint = [path = request->path](std::string_view body) -> Result<std::string> {
    return crypto::to_hex(crypto::sha256(cat(path, "\n", body)));
  };
  ERRAND_CO_TRY(idempotency.fingerprint, co_await read_aside(&request->body, pool, fingerprint));
  co_return idempotency;
}

Result<std::vector<std::pair<std::string, std::string>>> metadata_params(
    const net::Request& request) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const std::string& pair : request.query_params("metadata")) {
    std::size_t colon = pair.find(':');
    if (colon == std::string::npos) {
      return Error(ErrorCode::invalid_argument, "\"metadata\" must be KEY:VALUE");
    }
    pairs.emplace_back(pair.substr(0, colon), pair.substr(colon + 1));
  }
  return pairs;
}

Result<std::int64_t> integer_param(const net::Request& request, const Parameter& parameter) {
  auto text = request.query_param(parameter.name);
  if (!text) return parameter.otherwise;
  auto number = parse_integer<std::int64_t>(*text);
  if (number && *number >= parameter.min && *number <= parameter.max) return *number;
  return Error(ErrorCode::invalid_argument,
               cat("the query parameter \"", parameter.name, "\" must be an integer from ",
                   parameter.min, " to ", parameter.max));
}

Result<std::optional<std::size_t>> choice_param(const net::Request& request,
                                                const Parameter& parameter) {
  auto word = request.query_param(parameter.name);
  if (!word) return std::optional<std::size_t>();
  auto words = parameter.words();
  auto found = std::find(words.begin(), words.end(), *word);
  if (found != words.end()) {
    return std::optional(static_cast<std::size_t>(found - words.begin()));
  }
  return Error(ErrorCode::invalid_argument,
               cat("the query parameter \"", parameter.name, "\" has no such value"))
      .candidates({words.begin(), words.end()});
}

std::optional<std::string> text_param(const net::Request& request, const Parameter& parameter) {
  return request.query_param(parameter.name);
}

net::Response json_response(int status, std::string body) {
  net::Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

}  // namespace errand::server
