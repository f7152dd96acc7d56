#include "mcp/client/sse_connection.hpp"

#include <boost/asio/post.hpp>
#include <utility>

#include "base/text.hpp"
#include "mcp/limits.hpp"
#include "net/client/whole_answer.hpp"
#include "net/url.hpp"

namespace errand::mcp {
namespace {

constexpr net::ClientTimeouts kPatientReader{.idle = net::ClientTimeouts::kNone,
                                             .total = net::ClientTimeouts::kNone};

}  // namespace

SseConnection::SseConnection(ClientDeps deps, HttpServer server)
    : deps_(std::move(deps)),
      server_(std::move(server)),
      ready_(deps_.home),
      inbox_(deps_.home),
      tasks_(deps_.home, deps_.on_bug) {}

Task<Result<void>> SseConnection::open(milliseconds time) {
  tasks_.spawn("mcp.sse", read());
  SteadyTime deadline = std::chrono::steady_clock::now() + time;
  while (!endpoint_ && !failure_) {
    Wakeup::Woken woken = co_await ready_.wait_until(deadline);
    if (woken == Wakeup::Woken::timed_out && !endpoint_ && !failure_) {
      co_return Error(ErrorCode::timeout, "the MCP server names no address for messages");
    }
  }
  if (failure_) co_return *failure_;
  co_return Result<void>();
}

Result<void> SseConnection::send(rpc::Outgoing message) {
  if (inbox_.is_closed() || !endpoint_) {
    return Error(ErrorCode::unavailable, "the connection is closed").reason("closed");
  }
  if (posts_ >= HttpConnection::kExchangesMax) {
    return Error(ErrorCode::too_large, "too many requests to the MCP server are under way");
  }
  ++posts_;
  tasks_.spawn("mcp.post", post(std::move(message)));
  return {};
}

Task<Result<std::optional<rpc::Received>>> SseConnection::receive() {
  return inbox_.take();
}

Task<void> SseConnection::flush() {
  WakeupAt idle(deps_.home, flushing_);
  while (posts_ > 0 && !inbox_.is_closed()) co_await idle.wait();
}

void SseConnection::close() {
  inbox_.close({});
  ending_.raise();
  if (flushing_) flushing_->notify();
}

Task<void> SseConnection::join() {
  return tasks_.stop(CancelReason::shutdown);
}

Task<void> SseConnection::read() {
  auto done = co_await read_events();
  failure_ = done ? Error(ErrorCode::unavailable, "the MCP server has ended its stream")
                        .reason("stream_ended")
                  : done.error();
  inbox_.close(failure_);
  ready_.notify();
}

Task<Result<void>> SseConnection::read_events() {
  net::ClientRequest request{.url = server_.url,
                             .headers = server_.headers,
                             .timeouts = kPatientReader,
                             .interrupt = &ending_};
  request.headers.push_back({"Accept", "text/event-stream"});
  auto opened = co_await deps_.http.open(std::move(request));
  if (!opened) co_return std::move(opened).error();
  if (!is_success((*opened)->status())) {
    co_return status_error(server_.url, (*opened)->status());
  }
  if (!net::has_type(**opened, "text/event-stream")) {
    co_return Error(ErrorCode::unsupported, "there is no MCP server at this URL").reason("not_mcp");
  }
  SseSource source(std::move(*opened));
  for (;;) {
    while (inbox_.is_full() && !inbox_.is_closed()) co_await asio::post(use_task);
    auto event = co_await source.next();
    if (!event) co_return std::move(event).error();
    if (!*event) co_return Result<void>();
    if ((*event)->type == "endpoint" && !endpoint_) {
      ERRAND_CO_CHECK(take_endpoint((*event)->data));
      ready_.notify();
    } else if ((*event)->type == "message" && !(*event)->data.empty()) {
      inbox_.put(std::move((*event)->data));
    }
  }
}

// Requests carry the server's credentials, which must not go to another origin.
Result<void> SseConnection::take_endpoint(std::string_view reference) {
  ERRAND_TRY(const net::Url base, net::parse_url(server_.url));
  auto resolved = net::resolve_url(base, reference);
  auto url = resolved ? net::parse_url(*resolved) : Result<net::Url>(net::Url{});
  if (!resolved || !url || !net::is_same_origin(base, *url)) {
    return Error(ErrorCode::unsupported,
                 "the MCP server names an address of another origin for messages")
        .reason("foreign_endpoint");
  }
  endpoint_ = std::move(*resolved);
  return {};
}

Task<void> SseConnection::post(rpc::Outgoing message) {
  net::ClientRequest request{.method = net::Method::post,
                             .url = *endpoint_,
                             .headers = server_.headers,
                             .body = std::move(message.text),
                             .resend = net::Resend::never};
  request.headers.push_back({"Content-Type", "application/json"});
  auto answer = co_await deps_.http.send(std::move(request));
  --posts_;
  if (flushing_ && posts_ == 0) flushing_->notify();
  if (!message.id) co_return;
  if (!answer) {
    inbox_.put(rpc::Lost{.id = *message.id, .error = after_sending(answer.error())});
  } else if (!is_success(answer->status)) {
    Error error = status_error(server_.url, answer->status);
    inbox_.put(rpc::Lost{.id = *message.id, .error = after_sending(std::move(error))});
  }
}

}  // namespace errand::mcp
