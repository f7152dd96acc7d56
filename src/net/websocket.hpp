#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "async/task.hpp"
#include "base/clock.hpp"

namespace errand::net {

// What a message that waits to be sent takes beside its bytes, about: a queue of short messages is
// larger than it looks.
constexpr std::size_t kQueuedMessageBytes = 200;

// Every bound of one WebSocket, with what happens at it.
struct WebSocketLimits {
  std::size_t message_bytes_max = 4U * 1024 * 1024;  // of one received message: closed with 1009
  // Of messages that wait to be sent, each with kQueuedMessageBytes: the connection is dropped, its
  // end is `slow_reader`.
  std::size_t queued_bytes_max = 8U * 1024 * 1024;
  // Without a byte from the peer. A ping goes out after half of it; after all of it the connection
  // is dropped, its end is `silent`.
  milliseconds idle_timeout{50'000};
  milliseconds handshake_timeout{10'000};  // opening, and closing: the connection is dropped
};

// Whether messages are compressed if the peer offers it. Compression takes some hundred kilobytes
// for each connection.
enum class Compression : std::uint8_t { off, on };

struct WebSocketMessage {
  std::string bytes;
  bool is_text = false;
};

// What a close frame says.
struct CloseFrame {
  std::uint16_t code = 0;  // 0: the frame has none
  std::string reason;

  friend bool operator==(const CloseFrame&, const CloseFrame&) = default;
};

// How a connection ended.
enum class WebSocketEnd : std::uint8_t {
  open,          // it has not
  closed_by_us,  // close() was called
  closed_by_peer,
  dropped,      // drop() was called
  broken,       // the peer is gone without a close frame
  silent,       // the idle timeout passed
  slow_reader,  // the peer did not read its queued messages
  too_large,    // the peer sent a message beyond the limit
  malformed,    // the peer broke the protocol
};
std::string_view to_string(WebSocketEnd end);

// One WebSocket connection, in either role, after its handshake. Lives on one home.
class WebSocket {
 public:
  virtual ~WebSocket() = default;

  // Hears how much memory a message holds that has not come whole, whenever that grows. May end the
  // connection.
  using Growing = std::function<void(std::size_t bytes)>;
  // The next message; nothing once the connection is over. One reader at a time. Pings are
  // answered only during a read.
  virtual Task<std::optional<WebSocketMessage>> read(Growing growing) = 0;
  Task<std::optional<WebSocketMessage>> read() { return read({}); }

  // A binary message to send. Many connections can share its bytes.
  struct Outgoing {
    std::shared_ptr<const std::string> bytes;
    // Called once the operating system has taken all bytes, and never if the connection is over
    // before.
    std::function<void()> written = {};
  };
  // Queues a message. Nothing happens once the connection is over.
  virtual void queue(Outgoing message) = 0;
  void send(std::string bytes) {
    queue({.bytes = std::make_shared<const std::string>(std::move(bytes))});
  }

  // Sends queued messages and then a close frame. The reason is cut to the size that a frame can
  // hold.
  virtual void close(CloseFrame frame) = 0;

  // Ends the connection at once. What the operating system has not taken by now is not sent, be it
  // messages or a close frame.
  virtual void drop() = 0;

  // Closes with 1000 if neither side has closed yet, and returns when the connection is over. No
  // read may be under way.
  virtual Task<void> finish() = 0;

  virtual WebSocketEnd end() const = 0;
  // What the peer's close frame said.
  virtual CloseFrame peer_close() const = 0;
  // Of messages that wait to be sent, each with kQueuedMessageBytes.
  virtual std::size_t queued_bytes() const = 0;
};

}  // namespace errand::net
