#include "server/rooms/room_session.hpp"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "async/read_aside.hpp"

namespace errand::server {
namespace {

constexpr std::uint16_t kProtocolError = 1002;
constexpr std::uint16_t kUnsupportedData = 1003;
constexpr std::uint16_t kTooBig = 1009;
constexpr std::uint16_t kTryAgainLater = 1013;

class SocketOutlet final : public room::Outlet {
 public:
  SocketOutlet(std::shared_ptr<net::WebSocket> socket, MemoryBudget::Seat& memory)
      : socket_(std::move(socket)), memory_(memory) {}

  void send(const room::Message& message) override {
    for (std::string& packet : room::to_packets(message)) socket_->send(std::move(packet));
    memory_.sent(size_of(message));
  }
  void send_shared(const room::SharedMessage& message) override {
    for (const auto& packet : message.packets()) {
      // Small packets are counted as if they were not shared.
      const bool is_large = packet->size() >= kLargePacketBytes;
      socket_->queue(
          {.bytes = packet, .written = is_large ? memory_.share(packet->size()) : nullptr});
    }
    memory_.sent(size_of(message.message()));
  }
  void send_watched(const room::Message& message, std::function<void()> written) override {
    std::vector<std::string> packets = room::to_packets(message);
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const bool is_last = i + 1 == packets.size();
      socket_->queue({.bytes = std::make_shared<const std::string>(std::move(packets[i])),
                      .written = is_last ? std::move(written) : nullptr});
    }
    memory_.sent(size_of(message));
  }
  void close(std::uint16_t code, std::string_view reason) override {
    socket_->close({.code = code, .reason = std::string(reason)});
  }

 private:
  static constexpr std::size_t kLargePacketBytes = 16U * 1024;

  // With what two packets take beside their bytes.
  static std::size_t size_of(const room::Message& message) {
    return message.header.size() + message.attachment.size() + 2 * net::kQueuedMessageBytes;
  }

  std::shared_ptr<net::WebSocket> socket_;
  MemoryBudget::Seat& memory_;
};

// A participant's place in a room, which it leaves however the session ends.
class Seat final {
 public:
  Seat(std::shared_ptr<room::Room> room, std::string id)
      : room_(std::move(room)), id_(std::move(id)) {}
  ~Seat() { room_->leave(id_); }
  Seat(const Seat&) = delete;
  Seat& operator=(const Seat&) = delete;

  const std::string& id() const { return id_; }
  void receive(room::ReadMessage message) { room_->receive(id_, std::move(message)); }

 private:
  std::shared_ptr<room::Room> room_;
  std::string id_;
};

using Taken = Result<std::optional<room::ReadMessage>>;

// The message that the packet completes, if it does. Takes no home.
Taken take_packet(room::MessageReader& reader, std::string_view participant,
                  const net::WebSocketMessage& packet) {
  if (packet.is_text) return Error(ErrorCode::unsupported, "packets are binary");
  ERRAND_TRY(auto message, reader.take(packet.bytes));
  if (!message) return std::optional<room::ReadMessage>();
  return std::optional(room::read_message(participant, std::move(*message)));
}

// Packets of a long message are put together, and the message is read, on the pool: both take
// milliseconds. The pool may still be at it when the session is gone.
Task<Taken> take_aside(std::shared_ptr<room::MessageReader> reader, std::string participant,
                       net::WebSocketMessage packet, BlockingPool* pool) {
  if (reader->held_bytes() + packet.bytes.size() <= kBytesInABreath) {
    co_return take_packet(*reader, participant, packet);
  }
  auto take = [reader, participant = std::move(participant), packet = std::move(packet)] {
    return take_packet(*reader, participant, packet);
  };
  auto taken = co_await surely_aside(pool, std::move(take));
  co_return taken;
}

// For a peer that broke the protocol.
net::CloseFrame refusal_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::unsupported: return {kUnsupportedData, error.message()};
    case ErrorCode::too_large: return {kTooBig, error.message()};
    default: return {kProtocolError, error.message()};
  }
}

}  // namespace

Task<void> run_room_session(std::shared_ptr<RoomSession> session,
                            std::shared_ptr<net::WebSocket> socket) {
  const std::string name = session->token.identity.name;
  Log& log = session->log;
  MemoryBudget::Seat memory(session->memory, socket);
  SocketOutlet outlet(socket, memory);
  if (!session->is_admitted()) {
    socket->drop();  // the client tries again, and then learns the reason
    co_return;
  }
  auto joined = session->room->join({.token = std::move(session->token),
                                     .generation = session->generation,
                                     .url = std::move(session->url),
                                     .outlet = outlet,
                                     .lives_for = session->lives_for});
  if (!joined) {
    socket->close({.code = kTryAgainLater, .reason = joined.error().message()});
    co_return;
  }
  std::optional<Seat> seat(std::in_place, std::move(session->room), std::move(*joined));
  auto reader = std::make_shared<room::MessageReader>(session->limits);
  BlockingPool* const pool = session->pool;
  session.reset();
  // Counts the packet that is being read, too.
  const auto growing = [&memory, reader = reader.get()](std::size_t bytes) {
    memory.hold(reader->held_bytes() + bytes);
  };
  for (;;) {
    std::optional<net::WebSocketMessage> packet = co_await socket->read(growing);
    if (!packet) break;
    auto taken = co_await take_aside(reader, seat->id(), std::move(*packet), pool);
    if (taken && *taken) seat->receive(std::move(**taken));
    memory.hold(reader->held_bytes());
    if (taken) continue;
    net::CloseFrame refusal = refusal_of(taken.error());
    log.warning("a participant of a room broke the protocol",
                {{.key = "participant", .value = name}, {.key = "why", .value = refusal.reason}});
    socket->close(std::move(refusal));
    packet.reset();
    seat.reset();
    // Output that the client does not read is counted until it is freed.
    co_await socket->finish();
    co_return;
  }
  if (socket->end() == net::WebSocketEnd::slow_reader ||
      socket->end() == net::WebSocketEnd::too_large ||
      socket->end() == net::WebSocketEnd::malformed) {
    log.warning("a participant of a room was disconnected",
                {{.key = "participant", .value = name},
                 {.key = "why", .value = std::string(net::to_string(socket->end()))}});
  }
}

}  // namespace errand::server
