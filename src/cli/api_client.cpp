#include "cli/api_client.hpp"

#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kMessageBytesMax = 2000;
constexpr std::size_t kErrorBodyBytesMax = std::size_t{1024} * 1024;

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

bool is_success(int status) {
  return status >= 200 && status < 300;
}

// Nothing came back that could be read.
Error unreachable(const Error& cause, const std::string& url) {
  if (cause.code() != ErrorCode::unavailable && cause.code() != ErrorCode::timeout) return cause;
  std::string hint = cause.hint();
  if (hint.empty()) {
    hint = cat("is the server at ", url,
               " running? 'errand serve' starts one, --server URL names another");
  }
  return Error(ErrorCode::unavailable, cause.message()).reason(ApiClient::kUnreachable).hint(hint);
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

ApiClient::ApiClient(Credentials server, net::ClientOptions options)
    : server_(std::move(server)), http_(std::move(options)) {}

net::ClientRequest ApiClient::make(const ApiRequest& request) const {
  net::ClientRequest out{.method = request.method, .body = request.body};
  out.timeouts.first_byte = request.timeout;
  out.timeouts.idle = request.timeout;
  out.timeouts.total = request.timeout;
  out.url =
      cat(server_.url, "/api/v1/workspaces/", percent_encode(server_.workspace), request.path);
  out.headers = {{"Authorization", cat("Bearer ", server_.key)},
                 {"User-Agent", cat("errand/", ERRAND_VERSION)},
                 {"Accept", "application/json"}};
  if (!request.body.empty()) out.headers.push_back({"Content-Type", "application/json"});
  return out;
}

Task<Result<json::Value>> ApiClient::send(ApiRequest request) {
  auto answer = co_await http_.send(make(request));
  if (!answer) co_return unreachable(answer.error(), server_.url);
  if (!is_success(answer->status)) co_return error_of_answer(answer->status, answer->body);
  if (answer->body.empty()) co_return json::Value();
  auto value = json::parse(answer->body, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (value) co_return std::move(*value);
  co_return Error(ErrorCode::internal,
                  cat("the answer of ", server_.url, " is not JSON: is it an Errand server?"));
}

Task<Result<std::unique_ptr<net::ClientStream>>> ApiClient::open_stream(std::string run,
                                                                        EventSeq last_seq,
                                                                        seconds silence_max) {
  ApiRequest wanted{.path = run_path(run, cat("/stream?lastSeq=", last_seq))};
  net::ClientRequest request = make(wanted);
  request.headers.back() = {"Accept", "text/event-stream"};
  request.headers.push_back({"Last-Event-ID", std::to_string(last_seq)});
  request.timeouts.idle = silence_max;
  request.timeouts.total = net::ClientTimeouts::kNone;
  auto stream = co_await http_.open(std::move(request));
  if (!stream) co_return unreachable(stream.error(), server_.url);
  if (is_success((*stream)->status())) co_return std::move(*stream);

  std::string body;
  while (body.size() < kErrorBodyBytesMax) {
    auto piece = co_await (*stream)->read();
    if (!piece || piece->empty()) break;
    body += *piece;
  }
  co_return error_of_answer((*stream)->status(), body);
}

}  // namespace errand::cli
