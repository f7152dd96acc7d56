#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "server/guest_route.hpp"

namespace errand::server {

// The agents of a server for A2A clients of both versions: a card and a JSON-RPC endpoint for each,
// at /api/a2a/{slug}/agents/{agent}. Lives on the engine's home.
class A2aApi final {
 public:
  // Outlive the object.
  struct Deps {
    engine::Engine& engine;
    // How clients reach this server.
    std::function<std::string(const net::Request&)> base_url;
  };

  explicit A2aApi(Deps deps);

  // The routes, whose handlers this has to outlive.
  std::vector<GuestRoute> routes();

 private:
  Task<net::Response> show_card(Principal who, net::Request request);
  Task<net::Response> handle(Principal who, net::Request request);

  const Deps deps_;
};

}  // namespace errand::server
