#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "base/clock.hpp"
#include "net/client/client_connection.hpp"

namespace errand::net {

struct PoolLimits {
  std::size_t idle_per_route_max = 8;  // beyond, the one idle for longest is closed
  std::size_t idle_max = 64;           // the same, over all routes
  milliseconds idle_time_max = seconds(50);
  // The same for a request that may be sent only once. Servers close idle connections after 5 s or
  // more, and a request that meets such a close fails.
  milliseconds idle_time_for_single_send = seconds(4);
};

// Whether the request that a connection is taken for may be sent again on another connection.
enum class TakenFor : std::uint8_t { repeatable, single_send };

// Connections that wait for their next request. Has no timer: a connection that has waited too long
// is closed at the next call. Lives on one home.
class ConnectionPool final {
 public:
  explicit ConnectionPool(PoolLimits limits) : limits_(limits) {}

  // The most recently used connection of the route that the peer has left alone; null if there is
  // none, or, for a single send, if it has been idle for too long. Such a connection stays in the
  // pool.
  std::unique_ptr<ClientConnection> take(const Route& route, TakenFor purpose, SteadyTime now);
  // `connection` has no limit set and nothing under way.
  void put(Route route, std::unique_ptr<ClientConnection> connection, SteadyTime now);

  std::size_t size() const { return idle_.size(); }

 private:
  struct Idle {
    Route route;
    std::unique_ptr<ClientConnection> connection;
    SteadyTime since;
  };

  void close_expired(SteadyTime now);
  void close_oldest_of(const Route& route);

  const PoolLimits limits_;
  std::list<Idle> idle_;  // the last to be put is first
};

}  // namespace errand::net
