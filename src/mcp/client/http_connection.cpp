#include "mcp/client/http_connection.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "mcp/codec.hpp"
#include "mcp/header_parameters.hpp"
#include "mcp/limits.hpp"
#include "net/client/whole_answer.hpp"

namespace errand::mcp {
namespace {

constexpr std::size_t kErrorBodyBytesMax = 64U * 1024;
constexpr std::size_t kSessionBytesMax = 1024;
constexpr milliseconds kResumePause = seconds(1);
constexpr milliseconds kResumePauseMax = seconds(60);
constexpr milliseconds kGoodbyeTime = seconds(2);  // to tell the server that a session ends

// Requests that change nothing may be sent again if an idle connection was closed.
net::Resend resend_of(std::string_view method) {
  bool is_read = method == "initialize" || method == "server/discover" || method == "ping" ||
                 method.ends_with("/list");
  return is_read ? net::Resend::once : net::Resend::never;
}

bool is_session_id(std::string_view text) {
  return !text.empty() && text.size() <= kSessionBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

// A call has time limits of its own, which are not those of HTTP.
constexpr net::ClientTimeouts kPatient{.first_byte = net::ClientTimeouts::kNone,
                                       .idle = net::ClientTimeouts::kNone,
                                       .total = net::ClientTimeouts::kNone};

}  // namespace

struct HttpConnection::Exchange {
  std::optional<rpc::Id> id;  // empty for a notification
  Interrupt interrupt;
  int resumes = 0;
};

class HttpConnection::ExchangeScope final {
 public:
  explicit ExchangeScope(HttpConnection& owner, std::optional<rpc::Id> id)
      : owner_(owner), number_(++owner.last_exchange_) {
    state.id = std::move(id);
    owner_.exchanges_[number_] = &state;
  }
  ~ExchangeScope() {
    owner_.exchanges_.erase(number_);
    if (owner_.flushing_ && owner_.exchanges_.empty()) owner_.flushing_->notify();
  }
  ExchangeScope(const ExchangeScope&) = delete;
  ExchangeScope& operator=(const ExchangeScope&) = delete;

  Exchange state;

 private:
  HttpConnection& owner_;
  const std::uint64_t number_;
};

HttpConnection::HttpConnection(ClientDeps deps, HttpServer server, milliseconds notice_time)
    : deps_(std::move(deps)),
      server_(std::move(server)),
      notice_time_(notice_time),
      inbox_(deps_.home),
      tasks_(deps_.home, deps_.on_bug) {}

Result<void> HttpConnection::send(rpc::Outgoing message) {
  if (inbox_.is_closed()) {
    return Error(ErrorCode::unavailable, "the connection is closed").reason("closed");
  }
  if (tasks_.size() >= kExchangesMax) {
    return Error(ErrorCode::too_large, "too many requests to the MCP server are under way");
  }
  tasks_.spawn("mcp.post", post(std::move(message)));
  return {};
}

Task<Result<std::optional<rpc::Received>>> HttpConnection::receive() {
  return inbox_.take();
}

Task<void> HttpConnection::flush() {
  // A spawned task begins only after the task that spawned it has yielded.
  co_await asio::post(use_task);
  WakeupAt idle(deps_.home, flushing_);
  while (!exchanges_.empty() && !inbox_.is_closed()) co_await idle.wait();
}

void HttpConnection::settled(const rpc::Id& id) {
  for (auto& [number, exchange] : exchanges_) {
    if (exchange->id == id) return exchange->interrupt.raise();
  }
}

void HttpConnection::close() {
  inbox_.close({});
  ending_.raise();
  if (flushing_) flushing_->notify();
}

Task<void> HttpConnection::join() {
  co_await tasks_.stop(CancelReason::shutdown);
  co_await end_session();
}

// Tells the server that the session is over; otherwise it might keep the session for hours.
Task<void> HttpConnection::end_session() {
  if (session_.empty() || std::exchange(has_session_ended_, true)) co_return;
  net::ClientRequest request = make_get({});
  request.method = net::Method::delete_;
  request.timeouts = {.connect = kGoodbyeTime,
                      .first_byte = kGoodbyeTime,
                      .idle = kGoodbyeTime,
                      .total = kGoodbyeTime};
  // The answer does not matter: the server may have gone, or may not end sessions on request.
  [[maybe_unused]] auto ended = co_await deps_.http.send(std::move(request));
}

void HttpConnection::speak(Era era, std::optional<std::string> version) {
  era_ = era;
  version_ = std::move(version);
}

void HttpConnection::listen(std::function<void()> on_gap) {
  tasks_.spawn("mcp.listen", read_server_stream(std::move(on_gap)));
}

void HttpConnection::set_header_parameters(
    std::map<std::string, std::vector<HeaderParameter>> of_tools) {
  header_parameters_ = std::move(of_tools);
}

net::ClientRequest HttpConnection::make(const rpc::Outgoing& message) const {
  net::ClientRequest request{.method = net::Method::post,
                             .url = server_.url,
                             .headers = server_.headers,
                             .body = message.text,
                             .timeouts = kPatient,
                             .resend = resend_of(message.method)};
  if (!message.id) {
    request.timeouts = {.first_byte = notice_time_, .idle = notice_time_, .total = notice_time_};
  }
  request.headers.push_back({"Content-Type", "application/json"});
  request.headers.push_back({"Accept", "application/json, text/event-stream"});
  if (version_) request.headers.push_back({"MCP-Protocol-Version", *version_});
  if (!session_.empty()) request.headers.push_back({"MCP-Session-Id", session_});
  if (era_ == Era::modern) add_modern_headers(message, request.headers);
  const json::Object* meta = json::object_at(&message.params, "_meta");
  const std::string_view traceparent = json::text_at(meta, "traceparent");
  if (!traceparent.empty()) request.headers.push_back({"traceparent", std::string(traceparent)});
  return request;
}

void HttpConnection::add_modern_headers(const rpc::Outgoing& message,
                                        std::vector<net::Header>& headers) const {
  if (message.method.empty()) return;
  headers.push_back({"Mcp-Method", to_header_text(message.method)});
  bool is_call = message.method == "tools/call";
  std::string_view name;
  if (is_call || message.method == "prompts/get") name = json::text_at(&message.params, "name");
  if (message.method == "resources/read") name = json::text_at(&message.params, "uri");
  if (!name.empty()) headers.push_back({"Mcp-Name", to_header_text(name)});
  auto found = is_call ? header_parameters_.find(std::string(name)) : header_parameters_.end();
  const json::Object* arguments = json::object_at(&message.params, "arguments");
  if (found == header_parameters_.end() || !arguments) return;
  for (const HeaderParameter& parameter : found->second) {
    auto value = header_value(parameter, *arguments);
    if (value) headers.push_back({parameter.header, std::move(*value)});
  }
}

net::ClientRequest HttpConnection::make_get(std::string last_event_id) const {
  net::ClientRequest request{.url = server_.url, .headers = server_.headers, .timeouts = kPatient};
  request.headers.push_back({"Accept", "text/event-stream"});
  if (version_) request.headers.push_back({"MCP-Protocol-Version", *version_});
  if (!session_.empty()) request.headers.push_back({"MCP-Session-Id", session_});
  if (!last_event_id.empty()) {
    request.headers.push_back({"Last-Event-ID", std::move(last_event_id)});
  }
  return request;
}

Task<void> HttpConnection::post(rpc::Outgoing message) {
  ExchangeScope scope(*this, message.id);
  auto done = co_await exchange(std::move(message), &scope.state);
  if (!done && scope.state.id) {
    inbox_.put(rpc::Lost{.id = *scope.state.id, .error = after_sending(done.error())});
  }
}

Task<Result<void>> HttpConnection::exchange(rpc::Outgoing message, Exchange* state) {
  net::ClientRequest request = make(message);
  request.interrupt = &state->interrupt;
  auto opened = co_await deps_.http.open(std::move(request));
  if (!opened) co_return std::move(opened).error();
  std::unique_ptr<net::ClientStream> stream = std::move(*opened);
  const rpc::Id* id = state->id ? &*state->id : nullptr;
  if (!is_success(stream->status())) {
    auto failed = co_await take_failure(id, stream.get());
    co_return failed;
  }
  if (message.method == "initialize") {
    std::string_view session = net::find_header(stream->headers(), "MCP-Session-Id");
    if (is_session_id(session)) session_ = session;
  }
  if (!id) co_return Result<void>();
  if (net::has_type(*stream, "text/event-stream")) {
    auto read = co_await read_stream(std::move(stream), state);
    co_return read;
  }
  auto body = co_await net::read_whole(stream.get(), kMessageBytesMax);
  if (!body) co_return std::move(body).error();
  if (!is_answer_to(*body, *id) && !body->starts_with('[')) {
    co_return Error(ErrorCode::unsupported, "the MCP server's answer is not one to the request")
        .reason("bad_response");
  }
  inbox_.put(std::move(*body));
  co_return Result<void>();
}

// The body may hold an error of the protocol, which says more than the HTTP status.
Task<Result<void>> HttpConnection::take_failure(const rpc::Id* id, net::ClientStream* stream) {
  int status = stream->status();
  failed_status_ = status;
  if (status == 404 && !session_.empty()) {
    has_session_ended_ = true;
    co_return Error(ErrorCode::conflict, "the MCP server has ended the session")
        .reason("session_ended");
  }
  auto body = co_await net::read_whole(stream, kErrorBodyBytesMax);
  bool may_explain = body && id && status != 401 && status != 403 && status < 500;
  auto messages = rpc::read_messages(may_explain ? *body : "", rpc::Batches::refused);
  if (messages && may_explain) {
    for (rpc::Incoming& one : *messages) {
      auto* response = std::get_if<rpc::Response>(&one);
      if (!response || !std::holds_alternative<rpc::RpcError>(response->answer)) continue;
      response->id = *id;
      inbox_.put(rpc::write(*response));
      co_return Result<void>();
    }
  }
  co_return status_error(server_.url, status);
}

Task<Result<void>> HttpConnection::read_stream(std::unique_ptr<net::ClientStream> stream,
                                               Exchange* state) {
  std::string last_id;
  std::optional<int> retry;
  for (;;) {
    {
      SseSource source(std::move(stream));
      auto end = co_await read_events(&source, state);
      if (end && *end == StreamEnd::answered) co_return Result<void>();
      if (!source.last_id().empty()) last_id = source.last_id();
      if (source.retry_millis()) retry = source.retry_millis();
      bool may_resume = era_ == Era::legacy && !last_id.empty() && state->resumes++ < kResumesMax;
      bool is_cut = end || end.error().code() == ErrorCode::unavailable;
      if (!is_cut || !may_resume) {
        if (!end) co_return std::move(end).error();
        co_return Error(ErrorCode::unavailable, "the MCP server ended its stream without an answer")
            .reason("bad_answer");
      }
    }
    co_await pause(retry, &state->interrupt);
    net::ClientRequest request = make_get(last_id);
    request.interrupt = &state->interrupt;
    auto again = co_await deps_.http.open(std::move(request));
    if (!again) co_return std::move(again).error();
    stream = std::move(*again);
    if (!is_success(stream->status()) || !net::has_type(*stream, "text/event-stream")) {
      co_return status_error(server_.url, stream->status());
    }
  }
}

Task<Result<HttpConnection::StreamEnd>> HttpConnection::read_events(SseSource* source,
                                                                    Exchange* state) {
  for (;;) {
    while (inbox_.is_full() && !inbox_.is_closed()) co_await asio::post(use_task);
    auto event = co_await source->next();
    if (!event) co_return std::move(event).error();
    if (!*event) co_return StreamEnd::resumable;
    // The first event of a stream may hold only the id to resume from.
    if ((*event)->type != "message" || (*event)->data.empty()) continue;
    state->resumes = 0;
    bool is_answer = state->id && is_answer_to((*event)->data, *state->id);
    if (state->id) {
      inbox_.put(rpc::Beside{.request = *state->id, .text = std::move((*event)->data)});
    } else {
      inbox_.put(std::move((*event)->data));
    }
    if (is_answer) co_return StreamEnd::answered;
  }
}

Task<void> HttpConnection::read_server_stream(std::function<void()> on_gap) {
  Exchange state;
  std::string last_id;
  std::optional<int> retry;
  while (state.resumes++ < kResumesMax && !ending_.is_raised()) {
    net::ClientRequest request = make_get(last_id);
    request.interrupt = &ending_;
    auto opened = co_await deps_.http.open(std::move(request));
    // A server that has no such stream answers with a status.
    if (opened && !is_success((*opened)->status())) co_return;
    if (opened && net::has_type(**opened, "text/event-stream")) {
      SseSource source(std::move(*opened));
      is_listening_ = true;
      auto end = co_await read_events(&source, &state);
      is_listening_ = false;
      on_gap();
      if (!source.last_id().empty()) last_id = source.last_id();
      if (source.retry_millis()) retry = source.retry_millis();
      if (!end && end.error().code() == ErrorCode::too_large) co_return;
    }
    co_await pause(retry, &ending_);
  }
}

Task<void> HttpConnection::pause(std::optional<int> millis, Interrupt* interrupt) {
  milliseconds wanted = millis ? milliseconds(*millis) : kResumePause;
  milliseconds time = std::clamp(wanted, milliseconds(0), kResumePauseMax);
  return deps_.timers.sleep_until(deps_.timers.now() + time, interrupt);
}

}  // namespace errand::mcp
