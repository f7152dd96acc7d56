#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/event_feed.hpp"
#include "net/websocket.hpp"

namespace errand::net {

enum class Method { get, head, post, put, patch, delete_, options, other };
std::string_view to_string(Method method);

struct Header {
  std::string name;
  std::string value;
};

// The value of the first header called `name` in any case; empty if there is none.
std::string_view find_header(const std::vector<Header>& headers, std::string_view name);

// A whole request, body included.
struct Request {
  Method method = Method::get;
  std::string path;   // as sent, still percent-encoded
  std::string query;  // as sent, without the '?'
  std::vector<Header> headers;
  std::string body;
  std::string id;  // for x-request-id and log lines; the caller's own if it is sane
  std::vector<std::string> params;  // of the route's pattern, percent-decoded, in order
  bool from_loopback = false;       // the peer is on this machine, and may be a proxy
  // For a handler that waits long: has the action done, once, if the client leaves before the
  // answer is there. Empty: not watched.
  std::function<void(std::function<void()>)> when_left = {};

  std::string_view header(std::string_view name) const { return find_header(headers, name); }
  // The decoded value of a query parameter; nothing if absent, or if its escapes are malformed.
  std::optional<std::string> query_param(std::string_view name) const;
  std::vector<std::string> query_params(std::string_view name) const;
};

// The answer to a request that asks for a WebSocket.
struct Upgrade {
  std::vector<Header> headers;  // of the request
  std::string protocol;         // the sub-protocol to choose; empty: none
  WebSocketLimits limits = {};
  Compression compression = Compression::off;
  // Runs on the connection's home for as long as the WebSocket is used. When it returns, the
  // WebSocket is closed. When the server stops, the WebSocket is dropped, and reads end.
  std::function<Task<void>(std::shared_ptr<WebSocket>)> session;
};

// A whole answer, the head of a stream, or a WebSocket.
struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<Header> headers;
  std::unique_ptr<EventFeed> events;                             // if set, the body is this stream
  std::string events_type = "text/event-stream; charset=utf-8";  // its content type
  std::unique_ptr<Upgrade> upgrade;  // if set, the connection becomes a WebSocket
  std::string failure = {};          // for the log, if it is an error: what went wrong
  bool is_not_yet = false;           // an error that clients expect while they wait: not logged
};

}  // namespace errand::net
