#pragma once

#include <memory>
#include <optional>
#include <string>

#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "net/address_rules.hpp"
#include "net/byte_stream.hpp"
#include "net/client/client_limits.hpp"
#include "net/client/proxy.hpp"
#include "net/client/tls_context.hpp"
#include "net/url.hpp"

namespace errand::net {

// The bytes to and from a server, over TCP or TLS. Destroying it closes it at once; no operation
// may be under way then. After a failure it is of no more use.
// unavailable: the connection broke. timeout: the limit passed. cancelled: the task was, or the
// connection was closed.
class ClientConnection : public ByteStream {
 public:
  // From now on, operations fail once the limit has passed; none is set at first.
  virtual void set_limit(TimeLimit limit) = 0;
  virtual void clear_limit() = 0;
  // Makes an operation that is under way fail, and every later one.
  void close() override = 0;

  // Writes `front`, then `body`; both outlive the task.
  virtual Task<Result<void>> write(const std::string* front, const std::string* body) = 0;
  // Number of bytes read; 0 once the peer has closed cleanly.
  virtual Task<Result<std::size_t>> read_some(char* memory, std::size_t size) = 0;

  // True if the peer has neither sent anything nor closed.
  virtual bool is_quiet() = 0;
};

// The way to a server.
struct Route {
  Scheme scheme = Scheme::http;
  std::string host;
  std::uint16_t port = 80;
  std::optional<Proxy> proxy;
  // The proxy only passes bytes on, instead of requests. Always so for https.
  bool has_tunnel = false;

  // "host:port".
  std::string endpoint() const;
  // Whether the proxy reads the request itself.
  bool is_read_by_proxy() const { return proxy && !has_tunnel; }
  friend bool operator==(const Route&, const Route&) = default;
};

// The way through a proxy, if there is one. `rules` may be null; see dial().
Route route_to(const Url& url, std::optional<Proxy> proxy, const AddressRules* rules);

// Connects, through the proxy if there is one, trying all addresses of a name. `tls` is needed for
// https. The limit stays set. An interrupt ends it (cancelled); it may be null.
// With `rules`, only addresses that they allow are connected to; they are looked at after the name
// has been looked up once, so that no name can lead elsewhere. A proxy is asked for such an
// address, too, in a tunnel, unless names are left to it: then a name that is known here is judged,
// and the proxy looks it up again. forbidden: none is allowed.
Task<Result<std::unique_ptr<ClientConnection>>> dial(Route route, std::shared_ptr<TlsContext> tls,
                                                     TimeLimit limit, const AddressRules* rules,
                                                     Interrupt* interrupt);

}  // namespace errand::net
