#include "server/rooms/memory_budget.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace errand::server::memory_budget_test {
namespace {

// A connection that takes nothing.
class DeafSocket final : public net::WebSocket {
 public:
  Task<std::optional<net::WebSocketMessage>> read(Growing) override { co_return std::nullopt; }
  void queue(Outgoing message) override { queued_ += message.bytes->size(); }
  void close(net::CloseFrame frame) override { end_ = std::to_string(frame.code); }
  void drop() override {
    end_ = end_ == "open" ? "dropped" : end_ + ", dropped";
    queued_ = 0;
  }
  Task<void> finish() override { co_return; }
  net::WebSocketEnd end() const override { return net::WebSocketEnd::open; }
  net::CloseFrame peer_close() const override { return {}; }
  std::size_t queued_bytes() const override { return queued_; }

  const std::string& how_it_ended() const { return end_; }

 private:
  std::size_t queued_ = 0;
  std::string end_ = "open";
};

class MemoryBudgetTest : public testing::Test {
 protected:
  struct Connection {
    explicit Connection(MemoryBudget& budget) : seat(budget, socket) {}
    std::shared_ptr<DeafSocket> socket = std::make_shared<DeafSocket>();
    MemoryBudget::Seat seat;

    void send(std::size_t bytes) {
      socket->send(std::string(bytes, 'x'));
      seat.sent(bytes);
    }
    const std::string& end() const { return socket->how_it_ended(); }
  };

  MemoryBudget budget_{{.half_bytes_max = 100, .unread_bytes_max = 1'000, .look_every_bytes = 100}};
};

TEST_F(MemoryBudgetTest, TheMessageThatBeganFirstMakesWay) {
  Connection first(budget_);
  Connection second(budget_);
  first.seat.hold(10);
  second.seat.hold(60);
  first.seat.hold(40);
  EXPECT_EQ(budget_.held_bytes(), 100U);
  second.seat.hold(61);
  EXPECT_EQ(first.end(), "1013, dropped");
  EXPECT_EQ(second.end(), "open");
  EXPECT_EQ(budget_.held_bytes(), 61U);
}

TEST_F(MemoryBudgetTest, AMessageThatHasEndedIsNotHeld) {
  Connection first(budget_);
  Connection second(budget_);
  for (int i = 0; i < 3; ++i) {
    first.seat.hold(90);
    first.seat.hold(0);
    second.seat.hold(90);
    second.seat.hold(0);
  }
  {
    Connection third(budget_);
    third.seat.hold(90);
  }
  EXPECT_EQ(budget_.held_bytes(), 0U);
  EXPECT_EQ(first.end() + second.end(), "openopen");
}

TEST_F(MemoryBudgetTest, WhoReadsLeastIsDropped) {
  Connection quick(budget_);
  Connection slow(budget_);
  Connection slower(budget_);
  quick.send(10);
  slow.send(300);
  slower.send(600);
  EXPECT_EQ(slower.end(), "open");
  slow.send(200);
  EXPECT_EQ(slower.end(), "dropped");
  EXPECT_EQ(slow.end(), "open");
  EXPECT_EQ(quick.end(), "open");
}

// A message to all is there once, however many have not read it.
TEST_F(MemoryBudgetTest, WhatConnectionsShareIsNotCounted) {
  Connection one(budget_);
  Connection other(budget_);
  auto bytes = std::make_shared<const std::string>(900, 'x');
  for (Connection* each : {&one, &other}) {
    each->socket->queue({.bytes = bytes, .written = each->seat.share(bytes->size())});
    each->seat.sent(bytes->size());
  }
  EXPECT_EQ(one.end() + other.end(), "openopen");
}

}  // namespace
}  // namespace errand::server::memory_budget_test
