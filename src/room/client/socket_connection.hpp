#pragma once

#include <memory>
#include <string>

#include "net/client/http_client.hpp"
#include "room/client/connection.hpp"

namespace errand::room {

// Where a room is, and how it is reached.
struct RoomAddress {
  std::string url;    // ws://, wss://, http:// or https://
  std::string token;  // sent as a bearer token
  net::ClientOptions web = {};
};

// Connections over WebSockets. invalid_argument: not the URL of a room.
Result<std::shared_ptr<Connector>> make_socket_connector(RoomAddress address);

}  // namespace errand::room
