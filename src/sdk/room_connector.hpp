#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "room/client/connection.hpp"

namespace errand::sdk {

// The way into the room at a WebSocket URL. Proxies and certificates are those of the environment
// of this process. Errors are those of room::make_socket_connector.
Result<std::shared_ptr<room::Connector>> make_room_connector(std::string url, std::string token);

}  // namespace errand::sdk
