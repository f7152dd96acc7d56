#include "net/client/connection_pool.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace errand::net {

std::unique_ptr<ClientConnection> ConnectionPool::take(const Route& route, TakenFor purpose,
                                                       SteadyTime now) {
  close_expired(now);
  for (auto at = idle_.begin(); at != idle_.end();) {
    bool is_too_old =
        purpose == TakenFor::single_send && now - at->since >= limits_.idle_time_for_single_send;
    if (at->route != route || is_too_old) {
      ++at;
      continue;
    }
    auto connection = std::move(at->connection);
    at = idle_.erase(at);
    if (connection->is_quiet()) return connection;
  }
  return nullptr;
}

void ConnectionPool::put(Route route, std::unique_ptr<ClientConnection> connection,
                         SteadyTime now) {
  close_expired(now);
  if (limits_.idle_max == 0 || limits_.idle_per_route_max == 0) return;
  auto of_route = std::count_if(idle_.begin(), idle_.end(),
                                [&](const Idle& idle) { return idle.route == route; });
  if (std::cmp_greater_equal(of_route, limits_.idle_per_route_max)) close_oldest_of(route);
  if (idle_.size() >= limits_.idle_max) idle_.pop_back();
  idle_.push_front({.route = std::move(route), .connection = std::move(connection), .since = now});
}

void ConnectionPool::close_expired(SteadyTime now) {
  while (!idle_.empty() && now - idle_.back().since >= limits_.idle_time_max) idle_.pop_back();
}

void ConnectionPool::close_oldest_of(const Route& route) {
  auto oldest = std::find_if(idle_.rbegin(), idle_.rend(),
                             [&](const Idle& idle) { return idle.route == route; });
  if (oldest != idle_.rend()) idle_.erase(std::next(oldest).base());
}

}  // namespace errand::net
