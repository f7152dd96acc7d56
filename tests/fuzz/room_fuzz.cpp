// Bytes as the packets of two participants of a room: whatever arrives, the room answers or
// disconnects, and what it sends can be read again. The first byte of each piece says whose packet
// it is and how many bytes follow.

#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "async/timers.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "room/room.hpp"
#include "room/test_store.hpp"
#include "support/manual_clock.hpp"

namespace errand::room {
namespace {

// Reads what the room sends, as a client would.
class ReadingOutlet final : public Outlet {
 public:
  void send(const Message& message) override {
    bool is_whole = false;
    for (const std::string& packet : to_packets(message)) {
      auto taken = reader_.take(packet);
      if (!taken) std::abort();
      is_whole = taken->has_value();
      if (is_whole && **taken != message) std::abort();
    }
    if (!is_whole || !json::parse(message.header)) std::abort();
  }
  void send_shared(const SharedMessage& message) override { send(message.message()); }
  void send_watched(const Message& message, std::function<void()> written) override {
    send(message);
    written_.push_back(std::move(written));
  }
  void close(std::uint16_t, std::string_view) override {}
  // The connection takes what was sent.
  void write() {
    for (const auto& written : std::exchange(written_, {})) written();
  }

 private:
  std::vector<std::function<void()>> written_;
  MessageReader reader_{{.message_bytes_max = std::size_t{1} << 30U}};
};

// One participant, until it breaks the framing.
struct Guest {
  Guest(Room& in, ClientGeneration generation) : room(in) {
    ParticipantToken token{
        .identity = {.name = "guest"},
        .room = "r",
        .scope = parse_api_scope(json::parse(R"({"agents":{},"messaging":{},"queues":{},
                                              "developer":{},"storage":{}})")
                                     .value())
                     .value()};
    id = room.join({.token = std::move(token), .generation = generation, .outlet = outlet}).value();
  }
  ~Guest() { room.leave(id); }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;

  void take(std::string_view packet) {
    if (is_out) return;
    auto message = reader.take(packet);
    is_out = !message;
    if (message && *message) room.receive(id, **message);
  }

  Room& room;
  ReadingOutlet outlet;
  MessageReader reader;
  std::string id;
  bool is_out = false;
};

// Lets the store and the connections do what was asked of them.
void settle(test::TestStore& store, Guest& first, Guest& second) {
  store.run();
  first.outlet.write();
  second.outlet.write();
  store.run();
}

// Each piece is a packet: 12 bytes are too many to guess, so that its head is made up.
void play(std::string_view data, Room& room, test::TestStore& store) {
  constexpr std::string_view kTypes[] = {"room.register_toolkit",
                                         "room.unregister_toolkit",
                                         "room.list_toolkits",
                                         "room.invoke_tool",
                                         "room.tool_call_request_chunk",
                                         "room.tool_call_response",
                                         "room.tool_call_response_chunk",
                                         "set_attributes"};
  Guest first(room, ClientGeneration::old_npm);
  Guest second(room, ClientGeneration::other);
  while (data.size() > 2) {
    const auto how = static_cast<unsigned char>(data[0]);
    const std::size_t size =
        std::min<std::size_t>(static_cast<unsigned char>(data[1]) * 4U, data.size() - 2);
    std::string_view piece = data.substr(2, size);
    Guest& guest = (how & 1U) != 0 ? first : second;
    const bool is_other = (how & 2U) != 0;
    if (is_other && (how & 4U) == 0) {
      guest.take(piece);
    } else {
      Message message{.id = (how >> 5U) & 3U,
                      .type = is_other ? "room.call" : std::string(kTypes[(how >> 2U) & 7U]),
                      .header = std::string(piece),
                      .attachment = "bytes"};
      for (const std::string& packet : to_packets(message)) guest.take(packet);
    }
    data.remove_prefix(2 + size);
    if ((how & 0x80U) != 0) settle(store, first, second);
  }
}

}  // namespace
}  // namespace errand::room

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace errand;
  asio::io_context io(1);
  ManualTimers timers;
  ManualClock clock;
  room::test::TestStore store;
  json::SchemaCache schemas;
  int last_id = 0;
  room::Room room({.home = Home(io),
                   .name = "r",
                   .session_id = "s",
                   .timers = timers,
                   .clock = clock,
                   .schemas = schemas,
                   .make_id = [&last_id] { return cat("id", ++last_id); },
                   .store = &store,
                   .call_agent =
                       [](const room::AgentCall& call, const room::Room::AgentCalled& done) {
                         if (call.name.empty() || call.url.empty()) std::abort();
                         done(Result<void>());
                       }});
  std::string_view text(reinterpret_cast<const char*>(data), size);
  Home(io).post([&] { room::play(text, room, store); });
  io.run();
  return 0;
}
