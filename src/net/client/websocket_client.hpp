#pragma once

#include <memory>
#include <string>
#include <vector>

#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "base/result.hpp"
#include "net/address_rules.hpp"
#include "net/client/proxy.hpp"
#include "net/client/tls_context.hpp"
#include "net/http.hpp"
#include "net/websocket.hpp"

namespace errand::net {

struct WebSocketRequest {
  std::string url;  // ws:// or wss://, http:// or https://
  std::vector<Header> headers = {};
  WebSocketLimits limits = {};
  Compression compression = Compression::off;
  milliseconds connect_timeout = seconds(15);  // look-up, TCP, the proxy and TLS
  std::optional<Proxy> proxy = {};             // for wss:// only: ws:// goes straight to the server
  std::shared_ptr<TlsContext> tls = {};        // needed for wss://
  const AddressRules* rules = nullptr;
  Interrupt* interrupt = nullptr;  // ends the attempt; outlives it
};

// A client's WebSocket, open. invalid_argument: not such a URL. forbidden, not_found, unavailable:
// the server refused (reason "status_403") or cannot be reached. timeout: it took too long.
Task<Result<std::shared_ptr<WebSocket>>> open_websocket(WebSocketRequest request);

}  // namespace errand::net
