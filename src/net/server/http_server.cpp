#include "net/server/http_server.hpp"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cerrno>
#include <utility>

#include "async/task_group.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "net/server/connection.hpp"

namespace errand::net {
namespace {

using asio::ip::tcp;
using boost::system::error_code;

constexpr int kBacklog = 4096;
// The pause after a failed accept, for example when no file descriptor is left.
constexpr milliseconds kAcceptPause{100};
constexpr milliseconds kAcceptWarningEvery{1000};
// A deadline is noticed at most this late, or a quarter of the shortest limit if that is less.
constexpr milliseconds kSweepEveryMax{250};

std::string describe_listen_error(const error_code& error) {
  switch (error.value()) {
    case EADDRINUSE:
      return "address already in use (another process listens there); choose another port with "
             "--listen";
    case EACCES:
      return "permission denied (ports below 1024 need privileges); choose another port with "
             "--listen";
    case EADDRNOTAVAIL:
      return "this machine does not have that address; choose one of its own with --listen";
    default: return error.message();
  }
}

// "host:port", with an IPv6 address in brackets.
std::string show(const std::string& host, std::uint16_t port) {
  bool is_v6 = host.find(':') != std::string::npos;
  return is_v6 ? cat("[", host, "]:", port) : cat(host, ":", port);
}

Result<tcp::endpoint> resolve(asio::io_context& io, const std::string& host, std::uint16_t port) {
  error_code error;
  auto address = asio::ip::make_address(host, error);
  if (!error) return tcp::endpoint(address, port);
  tcp::resolver resolver(io);
  auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
  if (!error && !found.empty()) return found.begin()->endpoint();
  return Error(ErrorCode::unavailable, cat("cannot listen on ", show(host, port),
                                           ": no such host; give an address with --listen"));
}

error_code open_acceptor(TcpAcceptor& acceptor, const tcp::endpoint& endpoint) {
  error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(TcpAcceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(kBacklog, error);
  return error;
}

milliseconds shortest_of(const ServerLimits& limits) {
  return std::min({limits.head_timeout, limits.body_timeout, limits.request_timeout,
                   limits.idle_timeout, limits.write_timeout, Connection::kDrainTime});
}

}  // namespace

Result<BoundAddress> BoundAddress::bind(const std::string& host, std::uint16_t port) {
  asio::io_context io;
  ERRAND_TRY(tcp::endpoint endpoint, resolve(io, host, port));
  TcpAcceptor acceptor(io);
  if (error_code error = open_acceptor(acceptor, endpoint)) {
    return Error(ErrorCode::unavailable,
                 cat("cannot listen on ", show(host, port), ": ", describe_listen_error(error)));
  }
  Endpoint bound{.host = endpoint.address().to_string(), .port = acceptor.local_endpoint().port()};
  return BoundAddress(std::move(bound), acceptor.release());
}

class HttpServer::Impl final {
 public:
  Impl(Home home, Options options, Log& log);

  void accept(const Endpoint& endpoint, int socket);
  Task<void> stop(SteadyTime deadline);
  Counts counts() const;

 private:
  Task<void> accept_loop();
  void accepted(TcpSocket socket);
  void warn_of_accept(const error_code& error);
  Task<void> sweep_loop();
  SteadyTime sweep();

  const Home home_;
  ConnectionsShared shared_;
  const milliseconds shortest_;
  const milliseconds sweep_every_;
  TcpAcceptor acceptor_;
  SteadyTimer sweep_timer_;
  SteadyTime next_warning_{};
  Wakeup first_;  // wakes the sweep: there are connections
  Wakeup room_;   // wakes the accept loop: a connection has left
  Wakeup empty_;  // wakes stop(): the last one has left
  TaskGroup tasks_;
};

HttpServer::Impl::Impl(Home home, Options options, Log& log)
    : home_(std::move(home)),
      shared_(std::move(options), log),
      shortest_(shortest_of(shared_.limits)),
      sweep_every_(std::clamp(shortest_ / 4, milliseconds(1), kSweepEveryMax)),
      acceptor_(home_.executor()),
      sweep_timer_(home_.executor()),
      first_(home_.executor()),
      room_(home_.executor()),
      empty_(home_.executor()),
      tasks_(home_.executor(), [&log](const char* task, const std::string& what) {
        log.error("a connection failed",
                  {{.key = "task", .value = task}, {.key = "what", .value = what}});
      }) {
  shared_.on_left = [this] {
    room_.notify();
    if (shared_.connections.empty()) empty_.notify();
  };
}

void HttpServer::Impl::accept(const Endpoint& endpoint, int socket) {
  ERRAND_ASSERT(!acceptor_.is_open());
  const bool is_v6 = endpoint.host.find(':') != std::string::npos;
  acceptor_.assign(is_v6 ? tcp::v6() : tcp::v4(), socket);
  tasks_.spawn("http.accept", accept_loop());
  tasks_.spawn("http.sweep", sweep_loop());
}

Task<void> HttpServer::Impl::accept_loop() {
  while (acceptor_.is_open()) {
    if (shared_.connections.size() >= shared_.limits.connections_max) {
      co_await room_.wait();
      continue;
    }
    auto [error, socket] = co_await acceptor_.async_accept(as_result);
    if (!acceptor_.is_open()) co_return;
    if (!error) {
      accepted(std::move(socket));
      continue;
    }
    warn_of_accept(error);
    co_await room_.wait_until(std::chrono::steady_clock::now() + kAcceptPause);
  }
}

void HttpServer::Impl::accepted(TcpSocket socket) {
  auto connection = std::make_shared<Connection>(std::move(socket), shared_);
  tasks_.spawn("http.connection", Connection::run(std::move(connection)));
  first_.notify();
}

void HttpServer::Impl::warn_of_accept(const error_code& error) {
  SteadyTime now = std::chrono::steady_clock::now();
  if (now < next_warning_) return;
  next_warning_ = now + kAcceptWarningEvery;
  shared_.log.warning("cannot accept connections at the moment",
                      {{.key = "what", .value = error.message()}});
}

// One timer for the deadlines of all connections, and none while there are no connections.
Task<void> HttpServer::Impl::sweep_loop() {
  for (;;) {
    if (shared_.connections.empty()) {
      co_await first_.wait();
      continue;
    }
    sweep_timer_.expires_at(sweep());
    co_await sweep_timer_.async_wait(as_result);
  }
}

// Returns when to sweep again.
SteadyTime HttpServer::Impl::sweep() {
  SteadyTime now = std::chrono::steady_clock::now();
  // A deadline that is set after this sweep is at least the shortest limit away.
  SteadyTime next = now + shortest_;
  for (Connection* connection : shared_.connections) {
    if (connection->deadline() <= now) {
      connection->expire();
    } else {
      next = std::min(next, connection->deadline());
    }
  }
  return std::max(next, now + sweep_every_);
}

Task<void> HttpServer::Impl::stop(SteadyTime deadline) {
  shared_.stopping = true;
  error_code ignored;
  acceptor_.close(ignored);
  room_.notify();
  for (Connection* connection : shared_.connections) connection->stop();
  while (!shared_.connections.empty()) {
    Wakeup::Woken woken = co_await empty_.wait_until(deadline);
    if (woken == Wakeup::Woken::timed_out) break;
  }
  for (Connection* connection : shared_.connections) connection->reset();
  co_await tasks_.stop(CancelReason::shutdown);
}

HttpServer::Counts HttpServer::Impl::counts() const {
  return {.connections = shared_.connections.size(),
          .event_streams = shared_.event_streams,
          .web_sockets = shared_.web_sockets,
          .body_bytes = shared_.bodies.used(),
          .unsent_bytes = shared_.unsent.used(),
          .requests = shared_.requests,
          .durations = shared_.durations};
}

HttpServer::HttpServer(Home home, Options options, Log& log)
    : impl_(std::make_unique<Impl>(std::move(home), std::move(options), log)) {}

HttpServer::~HttpServer() = default;

void HttpServer::accept(BoundAddress address) {
  impl_->accept(address.endpoint_, address.socket_.release());
}

Result<Endpoint> HttpServer::listen(const std::string& host, std::uint16_t port) {
  ERRAND_TRY(BoundAddress bound, BoundAddress::bind(host, port));
  Endpoint endpoint = bound.endpoint();
  accept(std::move(bound));
  return endpoint;
}

Task<void> HttpServer::stop(SteadyTime deadline) {
  return impl_->stop(deadline);
}

HttpServer::Counts HttpServer::counts() const {
  return impl_->counts();
}

}  // namespace errand::net
