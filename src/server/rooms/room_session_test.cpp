#include "server/rooms/room_session.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "async/breath.hpp"
#include "async/task_group.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "support/held_pool.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::server::room_session_test {
namespace {

// A connection whose packets the test gives.
class PlayedSocket final : public net::WebSocket {
 public:
  explicit PlayedSocket(const Executor& home) : bell_(home) {}

  void give(std::string packet) {
    given_.push_back(std::move(packet));
    bell_.notify();
  }
  std::size_t sent() const { return sent_; }

  Task<std::optional<net::WebSocketMessage>> read(Growing) override {
    while (given_.empty() && !is_over_) co_await bell_.wait();
    if (given_.empty()) co_return std::nullopt;
    net::WebSocketMessage packet{.bytes = std::move(given_.front())};
    given_.pop_front();
    co_return packet;
  }
  void queue(Outgoing) override { ++sent_; }
  void close(net::CloseFrame) override { drop(); }
  void drop() override {
    is_over_ = true;
    bell_.notify();
  }
  Task<void> finish() override { co_return; }
  net::WebSocketEnd end() const override { return net::WebSocketEnd::open; }
  net::CloseFrame peer_close() const override { return {}; }
  std::size_t queued_bytes() const override { return 0; }

 private:
  std::deque<std::string> given_;
  std::size_t sent_ = 0;  // packets
  bool is_over_ = false;
  Wakeup bell_;
};

struct RoomSessionTest : testing::Test {
  RoomSessionTest() {
    room::ParticipantToken token{.identity = {.project = "", .key_id = "", .name = "ann"},
                                 .room = "r",
                                 .scope = room::parse_api_scope(json::parse("{}").value()).value()};
    auto session = std::make_shared<RoomSession>(RoomSession{.room = room,
                                                             .token = std::move(token),
                                                             .log = log,
                                                             .memory = memory,
                                                             .pool = pool.get(),
                                                             .is_admitted = [] { return true; }});
    tasks.spawn("session", run_room_session(std::move(session), socket));
    run_ready(io);
    greetings = socket->sent();
  }
  ~RoomSessionTest() override {
    socket->drop();
    pool.finish();
    run_ready(io);
  }
  // Asks for something unknown, with a header of this size. Every request is answered.
  void ask(std::size_t bytes) {
    const std::string header = cat(R"({"x":")", std::string(bytes, 'x'), "\"}");
    for (std::string& packet : room::to_packets({.id = 7, .type = "room.x", .header = header})) {
      socket->give(std::move(packet));
    }
    run_ready(io);
  }
  bool is_answered() const { return socket->sent() > greetings; }

  asio::io_context io{1};
  HeldPool pool;
  ManualTimers timers;
  ManualClock clock{1'800'000'000'000};
  Log log{clock, 2, LogFormat::text};
  json::SchemaCache schemas;
  MemoryBudget memory{{}};
  std::shared_ptr<PlayedSocket> socket = std::make_shared<PlayedSocket>(io.get_executor());
  std::shared_ptr<room::Room> room =
      std::make_shared<room::Room>(room::Room::Options{.home = Home(io),
                                                       .name = "r",
                                                       .session_id = "s",
                                                       .timers = timers,
                                                       .clock = clock,
                                                       .schemas = schemas,
                                                       .make_id = [] { return "id1"; }});
  TaskGroup tasks{io.get_executor(),
                  [](const char*, const std::string& what) { ADD_FAILURE() << what; }};
  std::size_t greetings = 0;
};

TEST_F(RoomSessionTest, AShortMessageIsReadAtOnce) {
  ask(100);
  EXPECT_TRUE(is_answered());
}

TEST_F(RoomSessionTest, ALongMessageIsReadOnThePool) {
  ask(kBytesInABreath + 1);
  EXPECT_FALSE(is_answered());

  pool.let_go();
  run_until(io, [this] { return is_answered(); });
}

}  // namespace
}  // namespace errand::server::room_session_test
