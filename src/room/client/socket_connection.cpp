#include "room/client/socket_connection.hpp"

#include <utility>

#include "base/text.hpp"
#include "net/client/websocket_client.hpp"
#include "net/url.hpp"

namespace errand::room {
namespace {

constexpr std::uint16_t kNormalClosure = 1000;

// A packet has up to 4 MiB; the queue holds at least one message of the largest size.
constexpr net::WebSocketLimits kClientSocketLimits{.message_bytes_max = 4U * 1024 * 1024 + 1024,
                                                   .queued_bytes_max = 16U * 1024 * 1024,
                                                   .handshake_timeout = milliseconds(10'000)};

class SocketConnection final : public Connection {
 public:
  explicit SocketConnection(std::shared_ptr<net::WebSocket> socket) : socket_(std::move(socket)) {}

  Task<Result<Message>> read() override {
    for (;;) {
      std::optional<net::WebSocketMessage> packet = co_await socket_->read();
      if (!packet) co_return ended();
      auto message = reader_.take(packet->bytes);
      if (!message) {
        socket_->close({.code = 1002, .reason = message.error().message()});
        co_return Error(ErrorCode::unavailable,
                        cat("the room broke the protocol: ", message.error().message()));
      }
      if (*message) co_return std::move(**message);
    }
  }

  void send(const Message& message) override {
    for (std::string& packet : to_packets(message)) socket_->send(std::move(packet));
  }

  void close() override { socket_->close({.code = kNormalClosure, .reason = ""}); }
  Task<void> finish() override { return socket_->finish(); }

 private:
  Error ended() const {
    const bool is_dismissed = socket_->end() == net::WebSocketEnd::closed_by_peer &&
                              socket_->peer_close().code == kNormalClosure;
    if (is_dismissed) {
      std::string why = socket_->peer_close().reason;
      return Error(ErrorCode::forbidden,
                   cat("the room has sent this participant away", why.empty() ? "" : ": ", why))
          .reason(kDismissed);
    }
    return {ErrorCode::unavailable,
            cat("the connection to the room is over (", net::to_string(socket_->end()), ")")};
  }

  const std::shared_ptr<net::WebSocket> socket_;
  MessageReader reader_;
};

class SocketConnector final : public Connector {
 public:
  SocketConnector(RoomAddress address, net::Url url)
      : address_(std::move(address)), url_(std::move(url)) {}

  Task<Result<std::shared_ptr<Connection>>> connect(Interrupt* interrupt) override {
    const bool is_secure = url_.scheme == net::Scheme::https;
    if (is_secure && !tls_) {
      ERRAND_CO_TRY(tls_, net::TlsContext::load(address_.web.trust));
    }
    net::WebSocketRequest request{.url = address_.url,
                                  .headers = {{"Authorization", cat("Bearer ", address_.token)}},
                                  .limits = kClientSocketLimits,
                                  .tls = tls_,
                                  .interrupt = interrupt};
    if (is_secure) {
      ERRAND_CO_TRY(request.proxy, address_.web.proxies.proxy_for(url_));
    }
    if (address_.web.addresses) request.rules = &*address_.web.addresses;
    ERRAND_CO_TRY(auto socket, co_await net::open_websocket(std::move(request)));
    std::shared_ptr<Connection> connection = std::make_shared<SocketConnection>(std::move(socket));
    co_return connection;
  }

 private:
  const RoomAddress address_;
  const net::Url url_;
  std::shared_ptr<net::TlsContext> tls_;
};

}  // namespace

Result<std::shared_ptr<Connector>> make_socket_connector(RoomAddress address) {
  std::string web = address.url;
  if (web.starts_with("ws")) web = cat("http", web.substr(2));
  ERRAND_TRY(net::Url url, net::parse_url(web));
  if (address.token.find_first_of("\r\n ") != std::string::npos || address.token.empty()) {
    return Error(ErrorCode::invalid_argument, "the token of a room has to be one word");
  }
  std::shared_ptr<Connector> made =
      std::make_shared<SocketConnector>(std::move(address), std::move(url));
  return made;
}

}  // namespace errand::room
