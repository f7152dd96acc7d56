#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "async/home.hpp"
#include "async/task.hpp"
#include "base/descriptor.hpp"
#include "base/histogram.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "net/server/router.hpp"

namespace errand::net {

// Every bound of the server, with what happens at it.
struct ServerLimits {
  std::size_t body_bytes_max = 32U * 1024 * 1024;     // 413 body_too_large, connection closed
  std::size_t head_bytes_max = 32U * 1024;            // 431 headers_too_large, connection closed
  std::size_t bodies_bytes_max = 512U * 1024 * 1024;  // of all requests at once: 503 overloaded
  // Of all requests of one key, and of one address: 503 overloaded.
  std::size_t holder_bodies_bytes_max = 128U * 1024 * 1024;
  // Of answers and streams that clients do not take, all connections together. Past it, the client
  // that has taken nothing for the longest is reset.
  std::size_t unsent_bytes_max = 64U * 1024 * 1024;
  std::size_t connections_max = 20000;  // no more are accepted until one closes
  milliseconds head_timeout{10'000};    // from the first byte of a request to its last header: 408
  milliseconds body_timeout{20'000};    // between two pieces of a body: 408
  milliseconds request_timeout{300'000};  // a whole body: 408
  // A body that is slower than this on the whole, after the first `body_timeout`: 408.
  std::size_t body_bytes_per_second_min = 8U * 1024;
  milliseconds idle_timeout{300'000};     // between requests: closed quietly
  milliseconds write_timeout{30'000};     // a reader that takes nothing for this long is reset
  milliseconds keep_alive_every{15'000};  // comment on a silent event stream
};

class HttpServer;

struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
};

// An address that is bound, and whose connections wait in the kernel until a server takes it.
// Closed with its last owner.
class BoundAddress final {
 public:
  // Port 0 takes a free one. unavailable: the address cannot be bound (the message says why and
  // what to do).
  static Result<BoundAddress> bind(const std::string& host, std::uint16_t port);

  const Endpoint& endpoint() const { return endpoint_; }

 private:
  friend HttpServer;
  BoundAddress(Endpoint endpoint, int socket) : endpoint_(std::move(endpoint)), socket_(socket) {}

  Endpoint endpoint_;
  Descriptor socket_;
};

// HTTP/1.1 over TCP: keep-alive, pipelining (answered in order), chunked bodies, Expect:
// 100-continue, HEAD, event streams, WebSockets. One handler call per request; a handler that
// throws is a bug and answers 500. Lives on one home. Once it listens, stop() must have returned
// before the server is destroyed.
class HttpServer final {
 public:
  struct Options {
    Handler handler;
    ErrorRenderer render_error;
    ServerLimits limits;
    Admission admit = {};       // empty: all are admitted
    bool behind_proxy = false;  // every connection comes from the proxy's address
  };

  HttpServer(Home home, Options options, Log& log);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Serves the connections to an address.
  void accept(BoundAddress address);
  // The same for an address that is bound now; see BoundAddress::bind.
  Result<Endpoint> listen(const std::string& host, std::uint16_t port);

  // Stops accepting, resets every event stream and every idle connection, drops every WebSocket,
  // lets requests that are being answered finish until `deadline`, then resets those too. Returns
  // when none is left.
  Task<void> stop(SteadyTime deadline);

  struct Counts {
    std::size_t connections = 0;
    std::size_t event_streams = 0;
    std::size_t web_sockets = 0;
    std::size_t body_bytes = 0;    // of all requests that are being read or answered
    std::size_t unsent_bytes = 0;  // of answers and streams that clients do not take
    std::uint64_t requests = 0;
    DurationHistogram durations = {};  // from a whole request to its answer
  };
  Counts counts() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace errand::net
