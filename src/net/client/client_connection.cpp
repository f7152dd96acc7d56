#include "net/client/client_connection.hpp"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <utility>
#include <vector>

#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "net/client/response_reader.hpp"
#include "net/tcp_socket.hpp"

namespace errand::net {
namespace {

using asio::ip::tcp;
using boost::system::error_code;
using TlsStream = asio::ssl::stream<TcpSocket&>;

constexpr std::string_view kLookupFailed = "lookup_failed";

// A socket, with TLS on top once that is asked for. The timer closes the socket, which makes the
// pending operation return. The timer is set again only when it fires or the limit comes nearer, so
// that a limit that moves with every read costs nothing.
class SocketConnection final : public ClientConnection {
 public:
  SocketConnection(const Executor& home, std::string name)
      : socket_(home), timer_(home), name_(std::move(name)) {}

  void set_limit(TimeLimit limit) override {
    limit_ = limit;
    if (limit.when < armed_for_) arm();
  }
  void clear_limit() override {
    limit_ = {};
    armed_for_ = SteadyTime::max();
    timer_.cancel();
  }
  void close() override {
    closed_ = true;
    error_code ignored;
    socket_.close(ignored);
  }

  Task<Result<void>> write(const std::string* front, const std::string* body) override {
    const std::array<asio::const_buffer, 2> pieces = {asio::buffer(*front), asio::buffer(*body)};
    error_code error;
    if (tls_) {
      auto [failed, count] = co_await asio::async_write(*tls_, pieces, as_result);
      error = failed;
    } else {
      auto [failed, count] = co_await asio::async_write(socket_, pieces, as_result);
      error = failed;
    }
    if (error) co_return to_error(error);
    co_return Result<void>();
  }

  Task<Result<std::size_t>> read_some(char* memory, std::size_t size) override {
    error_code error;
    std::size_t count = 0;
    if (tls_) {
      auto [failed, got] = co_await tls_->async_read_some(asio::buffer(memory, size), as_result);
      error = failed;
      count = got;
    } else {
      auto [failed, got] = co_await socket_.async_read_some(asio::buffer(memory, size), as_result);
      error = failed;
      count = got;
    }
    if (error == asio::error::eof) co_return std::size_t{0};
    if (error) co_return to_error(error);
    co_return count;
  }

  void start_read(char* memory, std::size_t size, Done done) override {
    if (tls_) return tls_->async_read_some(asio::buffer(memory, size), std::move(done));
    socket_.async_read_some(asio::buffer(memory, size), std::move(done));
  }
  void start_write(std::string_view bytes, Done done) override {
    asio::const_buffer buffer(bytes.data(), bytes.size());
    if (tls_) return asio::async_write(*tls_, buffer, std::move(done));
    asio::async_write(socket_, buffer, std::move(done));
  }

  bool is_quiet() override {
    if (!socket_.is_open() || (tls_ && SSL_pending(tls_->native_handle()) > 0)) return false;
    char byte = 0;
    auto count = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }

  // Tries one address after the other.
  Task<Result<void>> connect(std::vector<tcp::endpoint> endpoints) {
    error_code error = asio::error::host_not_found;
    for (const tcp::endpoint& endpoint : endpoints) {
      error_code ignored;
      socket_.close(ignored);
      auto [failed] = co_await socket_.async_connect(endpoint, as_result);
      error = failed;
      if (!error || timed_out_ || error == asio::error::operation_aborted) break;
    }
    if (error && (timed_out_ || error == asio::error::operation_aborted)) {
      co_return to_error(error);
    }
    if (error) {
      co_return Error(ErrorCode::unavailable,
                      cat("cannot connect to ", name_, ": ", error.message()))
          .reason("connect_failed");
    }
    socket_.set_option(tcp::no_delay(true), error);
    co_return Result<void>();
  }

  Task<Result<void>> start_tls(std::shared_ptr<TlsContext> context, std::string host) {
    context_ = std::move(context);
    tls_ = std::make_unique<TlsStream>(socket_, context_->make_session(host));
    auto [error] = co_await tls_->async_handshake(asio::ssl::stream_base::client, as_result);
    if (!error) co_return Result<void>();
    if (timed_out_ || error == asio::error::operation_aborted) co_return to_error(error);
    co_return explain_handshake(tls_->native_handle(), host, error.message());
  }

 private:
  void arm() {
    armed_for_ = limit_.when;
    timer_.expires_at(armed_for_);
    timer_.async_wait([this, alive = std::weak_ptr<char>(alive_)](error_code error) {
      if (!error && !alive.expired()) fire();
    });
  }
  void fire() {
    armed_for_ = SteadyTime::max();
    if (limit_.when == SteadyTime::max()) return;
    if (limit_.when > std::chrono::steady_clock::now()) return arm();
    timed_out_ = true;
    close();
  }

  Error to_error(const error_code& error) const {
    if (timed_out_) return limit_.passed(name_);
    if (closed_ || error == asio::error::operation_aborted) {
      return {ErrorCode::cancelled, cat("the request to ", name_, " was cancelled")};
    }
    return Error(ErrorCode::unavailable,
                 cat("the connection to ", name_, " broke: ", error.message()))
        .reason("connection_broke");
  }

  std::shared_ptr<TlsContext> context_;
  TcpSocket socket_;
  std::unique_ptr<TlsStream> tls_;
  SteadyTimer timer_;
  SteadyTime armed_for_ = SteadyTime::max();
  TimeLimit limit_;
  bool timed_out_ = false;
  bool closed_ = false;  // by us
  const std::string name_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // tells a late timer that this is gone
};

struct Resolving {
  explicit Resolving(const Executor& home) : resolver(home), done(home) {}

  tcp::resolver resolver;
  Wakeup done;
  bool finished = false;
  error_code error;
  std::vector<tcp::endpoint> endpoints;
};

Error lookup_failed(std::string_view host, std::string_view why) {
  return Error(ErrorCode::unavailable, cat("cannot look up ", host, ": ", why))
      .reason(kLookupFailed)
      .hint("is the host name right, and does this machine have a network?");
}

// A DNS look-up cannot be stopped. If it takes too long or is interrupted, it is left to finish by
// itself.
Task<Result<std::vector<tcp::endpoint>>> resolve(std::string host, std::uint16_t port,
                                                 TimeLimit limit, Interrupt* interrupt,
                                                 LookUp look_up) {
  error_code not_literal;
  auto address = asio::ip::make_address(host, not_literal);
  if (!not_literal) co_return std::vector<tcp::endpoint>{tcp::endpoint(address, port)};

  if (look_up) {
    std::vector<tcp::endpoint> found;
    for (const Address& one : look_up(host)) found.emplace_back(one, port);
    if (found.empty()) co_return lookup_failed(host, "the name is unknown");
    co_return found;
  }
  Executor home = co_await asio::this_coro::executor;
  auto state = std::make_shared<Resolving>(home);
  state->resolver.async_resolve(host, std::to_string(port),
                                [state](error_code error, tcp::resolver::results_type found) {
                                  state->finished = true;
                                  state->error = error;
                                  state->endpoints.assign(found.begin(), found.end());
                                  state->done.notify();
                                });
  Interrupt::Scope waiting(interrupt, [state] { state->done.notify(); });
  while (!state->finished) {
    Wakeup::Woken woken = co_await state->done.wait_until(limit.when);
    if (woken == Wakeup::Woken::timed_out) co_return limit.passed(host);
    if (interrupt && interrupt->is_raised()) {
      co_return Error(ErrorCode::cancelled, cat("the look-up of ", host, " was cancelled"));
    }
  }
  if (state->error || state->endpoints.empty()) {
    co_return lookup_failed(host, state->error.message());
  }
  co_return std::move(state->endpoints);
}

Error refused_address(const Route& route, const Address& address) {
  return Error(ErrorCode::forbidden, cat(route.endpoint(), " is at ", address.to_string(),
                                         ", which is not a public address"))
      .reason("address_refused")
      .hint("network.allow in the configuration names further networks that may be reached");
}

// Keeps only endpoints that the rules allow connecting to.
Result<void> keep_allowed(const Route& route, const AddressRules& rules,
                          std::vector<tcp::endpoint>& endpoints) {
  Address first = endpoints.front().address();
  std::erase_if(endpoints, [&](const tcp::endpoint& endpoint) {
    return !rules.is_allowed(endpoint.address());
  });
  if (endpoints.empty()) return refused_address(route, first);
  return {};
}

// The host that a proxy is asked to connect to on behalf of a stranger. It is an address that is
// allowed, so that the proxy has nothing to look up. If names are left to the proxy, it is the
// name, which is refused if any of its addresses here is not allowed; a name that is unknown here
// is the proxy's business.
Task<Result<std::string>> host_for_proxy(Route route, const AddressRules* rules, TimeLimit limit,
                                         Interrupt* interrupt) {
  const bool is_left = rules->proxy_names() == ProxyNames::left_to_proxy;
  std::vector<tcp::endpoint> endpoints;
  if (auto literal = literal_address(route.host)) {
    endpoints.emplace_back(*literal, route.port);
  } else {
    auto found = co_await resolve(route.host, route.port, limit, interrupt, rules->look_up());
    const bool is_unknown = !found && found.error().reason() == kLookupFailed;
    if (is_unknown && is_left) co_return route.host;
    if (is_unknown) {
      co_return std::move(found).error().hint(
          "network.proxyNames in the configuration lets the proxy look names up");
    }
    if (!found) co_return std::move(found).error();
    endpoints = std::move(*found);
  }
  const std::size_t all = endpoints.size();
  ERRAND_CO_CHECK(keep_allowed(route, *rules, endpoints));
  if (!is_left) co_return endpoints.front().address().to_string();
  if (endpoints.size() == all) co_return route.host;
  co_return Error(ErrorCode::forbidden, cat(route.endpoint(), " has addresses that are not public"))
      .reason("address_refused");
}

Error refused_by_proxy(const Route& route, const std::string& proxy, int status) {
  Error error(ErrorCode::unavailable, cat("the proxy ", proxy, " refuses to connect to ",
                                          route.endpoint(), ": HTTP status ", status));
  if (status == 407) {
    return std::move(error)
        .reason("proxy_refused")
        .hint("the proxy wants a user name and a password: http://user:password@host:port");
  }
  return std::move(error).reason("proxy_refused").hint("NO_PROXY names hosts to reach without it");
}

Task<Result<void>> open_tunnel(SocketConnection* connection, Route route, std::string host) {
  std::string proxy = cat(route.proxy->host, ":", route.proxy->port);
  std::string target = Url{.host = std::move(host), .port = route.port}.endpoint();
  std::string request = cat("CONNECT ", target, " HTTP/1.1\r\nHost: ", target, "\r\n");
  if (!route.proxy->authorization.empty()) {
    append(request, "Proxy-Authorization: ", route.proxy->authorization, "\r\n");
  }
  request += "\r\n";
  const std::string no_body;
  auto sent = co_await connection->write(&request, &no_body);
  if (!sent) co_return std::move(sent).error();

  ResponseReader reader(Method::head);  // an open tunnel has no body, whatever the head says
  char memory[1024];
  while (!reader.has_head()) {
    auto count = co_await connection->read_some(memory, sizeof memory);
    if (!count) co_return std::move(count).error();
    auto fed = *count > 0 ? reader.feed({memory, *count}) : reader.finish();
    if (!fed) {
      co_return Error(ErrorCode::unavailable, cat("the proxy ", proxy, ": ", fed.error().message()))
          .reason("proxy_failed");
    }
  }
  if (reader.status() / 100 != 2) co_return refused_by_proxy(route, proxy, reader.status());
  if (reader.has_surplus()) {
    co_return Error(ErrorCode::unavailable, cat("the proxy ", proxy, " speaks out of turn"))
        .reason("proxy_out_of_turn");
  }
  co_return Result<void>();
}

}  // namespace

std::string Route::endpoint() const {
  return Url{.host = host, .port = port}.endpoint();
}

// A proxy that reads a request takes the Host header from the address in the URL. So a request to
// an address that was looked up for a name needs a tunnel.
Route route_to(const Url& url, std::optional<Proxy> proxy, const AddressRules* rules) {
  const bool is_judged_here = rules && rules->proxy_names() == ProxyNames::judged_here;
  const bool has_tunnel = proxy && (url.scheme == Scheme::https || is_judged_here);
  return {.scheme = url.scheme,
          .host = url.host,
          .port = url.port,
          .proxy = std::move(proxy),
          .has_tunnel = has_tunnel};
}

Task<Result<std::unique_ptr<ClientConnection>>> dial(Route route, std::shared_ptr<TlsContext> tls,
                                                     TimeLimit limit, const AddressRules* rules,
                                                     Interrupt* interrupt) {
  Executor home = co_await asio::this_coro::executor;
  std::string asked_for = route.host;
  if (rules && route.proxy) {
    ERRAND_CO_TRY(asked_for, co_await host_for_proxy(route, rules, limit, interrupt));
  }
  std::string host = route.proxy ? route.proxy->host : route.host;
  std::uint16_t port = route.proxy ? route.proxy->port : route.port;
  LookUp look_up = rules && !route.proxy ? rules->look_up() : LookUp();
  auto endpoints = co_await resolve(host, port, limit, interrupt, std::move(look_up));
  if (!endpoints) co_return std::move(endpoints).error();
  if (rules && !route.proxy) ERRAND_CO_CHECK(keep_allowed(route, *rules, *endpoints));

  std::string name = route.proxy ? cat("the proxy ", host, ":", port, " for ", route.endpoint())
                                 : route.endpoint();
  auto connection = std::make_unique<SocketConnection>(home, std::move(name));
  connection->set_limit(limit);
  Interrupt::Scope dialling(interrupt, [&connection] { connection->close(); });
  auto connected = co_await connection->connect(std::move(*endpoints));
  if (!connected && route.proxy) {
    co_return std::move(connected)
        .error()
        .reason("proxy_unreachable")
        .hint(
            "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY names the proxy; NO_PROXY names hosts to "
            "reach without it");
  }
  if (!connected) co_return std::move(connected).error();
  if (route.proxy && route.has_tunnel) {
    auto tunnel = co_await open_tunnel(connection.get(), route, std::move(asked_for));
    if (!tunnel) co_return std::move(tunnel).error();
  }
  if (route.scheme == Scheme::https) {
    auto secured = co_await connection->start_tls(std::move(tls), route.host);
    if (!secured) co_return std::move(secured).error();
  }
  std::unique_ptr<ClientConnection> opened = std::move(connection);
  co_return opened;
}

}  // namespace errand::net
