#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace errand::room {

// One message of a room's protocol.
struct Message {
  std::uint64_t id = 0;
  std::string type;
  std::string header = "{}";  // JSON, as it came or is to go
  std::string attachment = {};

  friend bool operator==(const Message&, const Message&) = default;
};

// Bounds of what a peer may send. A peer that exceeds them is disconnected.
struct FrameLimits {
  std::size_t message_bytes_max = 8U * 1024 * 1024;  // of header and attachment
  std::size_t packets_max = 32U * 1024;              // of one message
  std::size_t type_bytes_max = 256;
};

// Packets of at most this size are sent. Receivers take any size below 4 MiB.
constexpr std::size_t kPacketPayloadBytes = 64U * 1024;

// The packets of a message, in the order in which they have to arrive, without packets of another
// message between them.
std::vector<std::string> to_packets(const Message& message);

// One message for many receivers: its packets are made once, and shared.
class SharedMessage final {
 public:
  explicit SharedMessage(Message message) : message_(std::move(message)) {}

  const Message& message() const { return message_; }
  const std::vector<std::shared_ptr<const std::string>>& packets() const;

 private:
  const Message message_;
  mutable std::vector<std::shared_ptr<const std::string>> packets_;  // made when needed first
};

// Puts the packets of one direction of one connection together again.
class MessageReader final {
 public:
  explicit MessageReader(FrameLimits limits = {}) : limits_(limits) {}

  // Takes one packet, and gives the message that it completes. After an error the reader is of no
  // more use. invalid_argument: the packet is malformed, or not the expected one. too_large: a
  // limit was met.
  Result<std::optional<Message>> take(std::string_view packet);

  // Of a message that has begun and not ended.
  std::size_t held_bytes() const {
    return reading_ ? message_.header.size() + message_.attachment.size() : 0;
  }

 private:
  Result<void> begin(std::string_view packet, std::uint64_t id);
  Result<void> add(std::string_view packet, std::uint64_t id, std::uint32_t number);
  void put(std::string_view payload);
  Result<Message> finish();

  const FrameLimits limits_;
  // What has come of the message: its parts grow where they stay, so that nothing is copied at the
  // end.
  Message message_;
  std::string length_;             // of the header, as it came
  std::uint64_t header_left_ = 0;  // bytes of it that have not come, once its length is known
  std::uint32_t packets_ = 0;      // of the message that is being read
  std::uint32_t taken_ = 0;
  bool reading_ = false;
};

}  // namespace errand::room
