#include "sdk/room_connector.hpp"

#include <utility>

#include "host/environment.hpp"
#include "room/client/socket_connection.hpp"

namespace errand::sdk {

Result<std::shared_ptr<room::Connector>> make_room_connector(std::string url, std::string token) {
  return room::make_socket_connector(
      {.url = std::move(url), .token = std::move(token), .web = host::client_options_here()});
}

}  // namespace errand::sdk
