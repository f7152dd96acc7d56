#include "room/wire/framing.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace errand::room {
namespace {

constexpr std::size_t kIdBytes = 8;
constexpr std::size_t kNumberBytes = 4;
constexpr std::size_t kDataHeadBytes = kIdBytes + kNumberBytes;
constexpr std::size_t kFirstHeadBytes = kDataHeadBytes + kNumberBytes;
constexpr std::size_t kLengthBytes = 8;

// Integers of the protocol are big-endian.
template <class N>
void append_number(std::string& out, N number) {
  for (int shift = static_cast<int>(sizeof(N)) * 8 - 8; shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>((number >> static_cast<unsigned>(shift)) & 0xffU));
  }
}

template <class N>
N read_number(std::string_view bytes) {
  N number = 0;
  for (std::size_t i = 0; i < sizeof(N); ++i) {
    number = static_cast<N>(number << 8U) | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

Error malformed(std::string message) {
  return Error(ErrorCode::invalid_argument, std::move(message)).reason("malformed_packet");
}

Error beyond(std::string_view name, std::size_t max) {
  return Error(ErrorCode::too_large, "a message is too large")
      .reason("message_too_large")
      .limit(name, static_cast<std::int64_t>(max));
}

}  // namespace

std::vector<std::string> to_packets(const Message& message) {
  std::string length;
  append_number<std::uint64_t>(length, message.header.size());
  std::array<std::string_view, 3> rest = {length, message.header, message.attachment};
  const std::size_t size = length.size() + message.header.size() + message.attachment.size();
  const std::size_t count = (size + kPacketPayloadBytes - 1) / kPacketPayloadBytes;

  std::vector<std::string> packets;
  packets.reserve(count + 1);
  std::string first;
  append_number<std::uint64_t>(first, message.id);
  append_number<std::uint32_t>(first, 0);
  append_number<std::uint32_t>(first, static_cast<std::uint32_t>(count));
  first += message.type;
  packets.push_back(std::move(first));
  for (std::size_t number = 1; number <= count; ++number) {
    std::string packet;
    const std::size_t before = (number - 1) * kPacketPayloadBytes;
    const std::size_t end = kDataHeadBytes + std::min(size - before, kPacketPayloadBytes);
    packet.reserve(end);
    append_number<std::uint64_t>(packet, message.id);
    append_number<std::uint32_t>(packet, static_cast<std::uint32_t>(number));
    for (std::string_view& part : rest) {
      const std::size_t taken = std::min(part.size(), end - packet.size());
      packet += part.substr(0, taken);
      part.remove_prefix(taken);
    }
    packets.push_back(std::move(packet));
  }
  return packets;
}

const std::vector<std::shared_ptr<const std::string>>& SharedMessage::packets() const {
  if (packets_.empty()) {
    for (std::string& packet : to_packets(message_)) {
      packets_.push_back(std::make_shared<const std::string>(std::move(packet)));
    }
  }
  return packets_;
}

Result<std::optional<Message>> MessageReader::take(std::string_view packet) {
  if (packet.size() < kDataHeadBytes) return malformed("a packet is too short");
  const auto id = read_number<std::uint64_t>(packet);
  const auto number = read_number<std::uint32_t>(packet.substr(kIdBytes));
  if (number == 0) {
    ERRAND_CHECK(begin(packet, id));
  } else {
    ERRAND_CHECK(add(packet.substr(kDataHeadBytes), id, number));
  }
  if (taken_ < packets_) return std::optional<Message>();
  ERRAND_TRY(Message message, finish());
  return std::optional<Message>(std::move(message));
}

Result<void> MessageReader::begin(std::string_view packet, std::uint64_t id) {
  if (reading_) return malformed("a message begins before the one before it has ended");
  if (packet.size() < kFirstHeadBytes) return malformed("the first packet is too short");
  std::string_view type = packet.substr(kFirstHeadBytes);
  if (type.size() > limits_.type_bytes_max) return beyond("typeBytes", limits_.type_bytes_max);
  packets_ = read_number<std::uint32_t>(packet.substr(kDataHeadBytes));
  if (packets_ > limits_.packets_max) return beyond("packets", limits_.packets_max);
  message_ = Message{.id = id, .type = std::string(type)};
  if (packets_ > 0) message_.header.clear();
  header_left_ = 0;
  length_.clear();
  taken_ = 0;
  reading_ = true;
  return {};
}

Result<void> MessageReader::add(std::string_view payload, std::uint64_t id, std::uint32_t number) {
  if (!reading_) return malformed("a packet belongs to no message");
  if (id != message_.id || number != taken_ + 1) return malformed("a packet is out of order");
  if (length_.size() + held_bytes() + payload.size() > limits_.message_bytes_max + kLengthBytes) {
    return beyond("messageBytes", limits_.message_bytes_max);
  }
  put(payload);
  ++taken_;
  return {};
}

// The length of the header, the header, the attachment: cut anywhere.
void MessageReader::put(std::string_view payload) {
  if (length_.size() < kLengthBytes) {
    const std::size_t taken = std::min(payload.size(), kLengthBytes - length_.size());
    length_ += payload.substr(0, taken);
    payload.remove_prefix(taken);
    if (length_.size() < kLengthBytes) return;
    header_left_ = read_number<std::uint64_t>(length_);
  }
  const auto taken =
      static_cast<std::size_t>(std::min<std::uint64_t>(payload.size(), header_left_));
  message_.header += payload.substr(0, taken);
  message_.attachment += payload.substr(taken);
  header_left_ -= taken;
}

Result<Message> MessageReader::finish() {
  reading_ = false;
  if (packets_ == 0) return std::move(message_);
  if (length_.size() < kLengthBytes) return malformed("a message has no header length");
  if (header_left_ > 0) return malformed("a header is longer than its message");
  return std::move(message_);
}

}  // namespace errand::room
