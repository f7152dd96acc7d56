#include "net/http_client.hpp"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "net/response_reader.hpp"
#include "net/url.hpp"

namespace errand::net {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kReadBytes = 16U * 1024;

// A socket whose waits end at a deadline. The timer never loses bytes: it only makes the pending
// operation return.
class Wire final : public std::enable_shared_from_this<Wire> {
 public:
  Wire(Executor home, std::string name)
      : socket(home), timer_(std::move(home)), name_(std::move(name)) {}

  // From now on, operations on the socket are cancelled at `deadline`.
  void arm(SteadyTime deadline) {
    disarm();
    timer_.expires_at(deadline);
    timer_.async_wait([weak = weak_from_this(), armed = armed_](error_code error) {
      std::shared_ptr<Wire> self = weak.lock();
      if (error || !self || self->armed_ != armed) return;
      self->timed_out_ = true;
      error_code ignored;
      self->socket.cancel(ignored);
    });
  }
  void disarm() {
    ++armed_;
    timed_out_ = false;
    timer_.cancel();
  }
  bool timed_out() const { return timed_out_; }

  // What a failed operation means for the caller.
  Error to_error(const error_code& error) const {
    if (timed_out_) return {ErrorCode::timeout, cat("no answer from ", name_, " in time")};
    return {ErrorCode::unavailable, cat("the connection to ", name_, " broke: ", error.message())};
  }

  tcp::socket socket;

 private:
  asio::steady_timer timer_;
  std::string name_;
  std::uint64_t armed_ = 0;  // tells a timer that is late from the present one
  bool timed_out_ = false;
};

struct Resolving {
  explicit Resolving(Executor home) : resolver(home), done(std::move(home)) {}

  tcp::resolver resolver;
  Wakeup done;
  bool finished = false;
  error_code error;
  std::vector<tcp::endpoint> endpoints;
};

// A look-up cannot be interrupted. One that takes too long is left to finish by itself.
Task<Result<std::vector<tcp::endpoint>>> resolve(Url url, SteadyTime deadline) {
  error_code not_literal;
  auto address = asio::ip::make_address(url.host, not_literal);
  if (!not_literal) co_return std::vector<tcp::endpoint>{tcp::endpoint(address, url.port)};

  Executor home = co_await asio::this_coro::executor;
  auto state = std::make_shared<Resolving>(home);
  state->resolver.async_resolve(url.host, std::to_string(url.port),
                                [state](error_code error, tcp::resolver::results_type found) {
                                  state->finished = true;
                                  state->error = error;
                                  state->endpoints.assign(found.begin(), found.end());
                                  state->done.notify();
                                });
  while (!state->finished) {
    Wakeup::Woken woken = co_await state->done.wait_until(deadline);
    if (woken == Wakeup::Woken::timed_out) {
      co_return Error(ErrorCode::timeout, cat("looking up ", url.host, " took too long"));
    }
  }
  if (state->error || state->endpoints.empty()) {
    co_return Error(ErrorCode::unavailable,
                    cat("cannot look up ", url.host, ": ", state->error.message()));
  }
  co_return std::move(state->endpoints);
}

Task<Result<std::shared_ptr<Wire>>> connect(Url url, SteadyTime deadline) {
  Executor home = co_await asio::this_coro::executor;
  auto endpoints = co_await resolve(url, deadline);
  if (!endpoints) co_return std::move(endpoints).error();

  auto wire = std::make_shared<Wire>(home, url.authority);
  wire->arm(deadline);
  error_code error;
  for (const tcp::endpoint& endpoint : *endpoints) {
    error_code ignored;
    wire->socket.close(ignored);
    auto [failed] = co_await wire->socket.async_connect(endpoint, as_result);
    error = failed;
    if (!error || wire->timed_out()) break;
  }
  if (error && wire->timed_out()) co_return wire->to_error(error);
  if (error) {
    co_return Error(ErrorCode::unavailable,
                    cat("cannot connect to ", url.authority, ": ", error.message()));
  }
  wire->socket.set_option(tcp::no_delay(true), error);
  co_return wire;
}

bool is_token(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7f && c != ':';
  });
}

bool is_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(),
                      [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

Result<std::string> render_request(const ClientRequest& request, const Url& url) {
  if (request.method == Method::other) {
    return Error(ErrorCode::invalid_argument, "this method cannot be sent");
  }
  std::string out = cat(to_string(request.method), " ", url.target, " HTTP/1.1\r\n",
                        "Host: ", url.authority, "\r\nConnection: close\r\n");
  for (const Header& header : request.headers) {
    if (!is_token(header.name) || !is_value(header.value)) {
      return Error(ErrorCode::invalid_argument, cat("the header ", header.name, " is not valid"));
    }
    append(out, header.name, ": ", header.value, "\r\n");
  }
  bool may_be_empty = request.method == Method::get || request.method == Method::head ||
                      request.method == Method::options || request.method == Method::delete_;
  if (!request.body.empty() || !may_be_empty) {
    append(out, "Content-Length: ", request.body.size(), "\r\n");
  }
  append(out, "\r\n", request.body);
  return out;
}

class HttpStream final : public ClientStream {
 public:
  HttpStream(std::shared_ptr<Wire> wire, Method method)
      : wire_(std::move(wire)),
        reader_(method),
        memory_(std::make_unique_for_overwrite<char[]>(kReadBytes)) {}

  int status() const override { return reader_.status(); }
  const std::vector<Header>& headers() const override { return reader_.headers(); }

  Task<Result<std::string>> read(SteadyTime deadline) override {
    while (reader_.body_bytes() == 0 && !reader_.done()) {
      Result<void> more = co_await read_more(deadline);
      if (!more) co_return std::move(more).error();
    }
    co_return reader_.take_body();
  }

  Task<Result<void>> read_head(SteadyTime deadline) {
    while (!reader_.has_head()) {
      Result<void> more = co_await read_more(deadline);
      if (!more) co_return std::move(more).error();
    }
    co_return Result<void>();
  }

 private:
  Task<Result<void>> read_more(SteadyTime deadline) {
    wire_->arm(deadline);
    auto [error, count] =
        co_await wire_->socket.async_read_some(asio::buffer(memory_.get(), kReadBytes), as_result);
    if (error == asio::error::eof) co_return reader_.finish();
    if (error) co_return wire_->to_error(error);
    wire_->disarm();
    co_return reader_.feed({memory_.get(), count});
  }

  std::shared_ptr<Wire> wire_;
  ResponseReader reader_;
  std::unique_ptr<char[]> memory_;
};

Task<Result<std::unique_ptr<HttpStream>>> open_stream(ClientRequest request, SteadyTime deadline) {
  ERRAND_CO_TRY(Url url, parse_url(request.url));
  ERRAND_CO_TRY(std::string bytes, render_request(request, url));
  auto wire = co_await connect(std::move(url), deadline);
  if (!wire) co_return std::move(wire).error();

  (*wire)->arm(deadline);
  auto [error, count] = co_await asio::async_write((*wire)->socket, asio::buffer(bytes), as_result);
  if (error && (*wire)->timed_out()) co_return (*wire)->to_error(error);
  // A server may refuse early and stop reading: then its answer is there all the same.
  auto stream = std::make_unique<HttpStream>(std::move(*wire), request.method);
  Result<void> head = co_await stream->read_head(deadline);
  if (!head) co_return std::move(head).error();
  co_return stream;
}

}  // namespace

HttpClient::HttpClient(Executor home) : home_(std::move(home)) {}

Task<Result<std::unique_ptr<ClientStream>>> HttpClient::open(ClientRequest request,
                                                             SteadyTime deadline) {
  auto stream = co_await open_stream(std::move(request), deadline);
  if (!stream) co_return std::move(stream).error();
  std::unique_ptr<ClientStream> opened = std::move(*stream);
  co_return opened;
}

Task<Result<ClientResponse>> HttpClient::send(ClientRequest request, SteadyTime deadline) {
  auto stream = co_await open_stream(std::move(request), deadline);
  if (!stream) co_return std::move(stream).error();
  ClientResponse response{
      .status = (*stream)->status(), .headers = (*stream)->headers(), .body = {}};
  for (;;) {
    Result<std::string> piece = co_await (*stream)->read(deadline);
    if (!piece) co_return std::move(piece).error();
    if (piece->empty()) co_return response;
    response.body += *piece;
    if (response.body.size() > kBodyBytesMax) {
      co_return Error(ErrorCode::too_large, "the answer is too large")
          .limit("bodyBytes", kBodyBytesMax);
    }
  }
}

}  // namespace errand::net
