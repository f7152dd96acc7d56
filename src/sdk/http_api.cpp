#include "sdk/http_api.hpp"

#include <utility>

#include "base/text.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kErrorBodyBytesMax = std::size_t{1024} * 1024;

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

// The server cannot know where the key that it refuses came from.
Error refused(const Error& error, const Credentials& server) {
  if (error.code() != ErrorCode::unauthorized || server.key_source.empty()) return error;
  return Error(error.code(),
               cat(server.url, " refuses the key ", server.key_source, ": ", error.message()))
      .reason(error.reason())
      .hint(
          "give another with --key KEY; where 'errand serve' keeps its data, 'errand keys "
          "create' makes one");
}

}  // namespace

HttpApi::HttpApi(Credentials server, net::ClientOptions options)
    : server_(std::move(server)), http_(std::move(options)) {}

net::ClientRequest HttpApi::make(const ApiRequest& request) const {
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

Task<Result<json::Value>> HttpApi::send(ApiRequest request) {
  auto answer = co_await http_.send(make(request));
  if (!answer) co_return unreachable(answer.error(), server_.url);
  auto value = value_of_answer(answer->status, answer->body, server_.url);
  if (!value) co_return refused(value.error(), server_);
  co_return value;
}

Task<Result<std::unique_ptr<net::ClientStream>>> HttpApi::open_stream(std::string run,
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
  int status = (*stream)->status();
  if (status >= 200 && status < 300) co_return std::move(*stream);

  std::string body;
  while (body.size() < kErrorBodyBytesMax) {
    auto piece = co_await (*stream)->read();
    if (!piece || piece->empty()) break;
    body += *piece;
  }
  co_return refused(error_of_answer(status, body), server_);
}

}  // namespace errand::sdk
