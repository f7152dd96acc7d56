#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "net/byte_stream.hpp"
#include "net/http.hpp"
#include "net/tcp_socket.hpp"
#include "net/websocket.hpp"

namespace errand::net {

// A WebSocket from its handshake on. The only one who knows Beast's.
class WebSocketStream final : public WebSocket {
 public:
  // A server's, on an accepted socket.
  WebSocketStream(TcpSocket socket, WebSocketLimits limits, Compression compression);
  // A client's, on a connection that is open.
  WebSocketStream(const Executor& home, std::unique_ptr<ByteStream> stream, WebSocketLimits limits,
                  Compression compression);
  ~WebSocketStream() override;
  WebSocketStream(const WebSocketStream&) = delete;
  WebSocketStream& operator=(const WebSocketStream&) = delete;

  // Answers a client's request, of which these are the headers. A request that asks for something
  // else gets a 4xx. `protocol` is the sub-protocol to choose; empty: none.
  // invalid_argument: it was refused. unavailable: the connection broke.
  Task<Result<void>> accept(std::vector<Header> headers, std::string protocol);

  // Asks a server. forbidden, not_found, unavailable: the server refused, by its status, which is
  // the reason ("status_403"); unavailable with another reason: the connection broke.
  Task<Result<void>> open(std::string authority, std::string target, std::vector<Header> headers);

  using WebSocket::read;
  Task<std::optional<WebSocketMessage>> read(Growing growing) override;
  void queue(Outgoing message) override;
  void close(CloseFrame frame) override;
  void drop() override;
  Task<void> finish() override;
  WebSocketEnd end() const override;
  CloseFrame peer_close() const override;
  std::size_t queued_bytes() const override;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

// Whether a request asks for a WebSocket.
bool asks_for_websocket(const Request& request);

// The sub-protocols that a request offers.
std::vector<std::string> offered_protocols(const Request& request);

}  // namespace errand::net
