#include "net/websocket.hpp"

namespace errand::net {

std::string_view to_string(WebSocketEnd end) {
  switch (end) {
    case WebSocketEnd::open: return "open";
    case WebSocketEnd::closed_by_us: return "closed_by_us";
    case WebSocketEnd::closed_by_peer: return "closed_by_peer";
    case WebSocketEnd::dropped: return "dropped";
    case WebSocketEnd::broken: return "broken";
    case WebSocketEnd::silent: return "silent";
    case WebSocketEnd::slow_reader: return "slow_reader";
    case WebSocketEnd::too_large: return "too_large";
    case WebSocketEnd::malformed: return "malformed";
  }
  return "open";
}

}  // namespace errand::net
