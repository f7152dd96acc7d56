#include "agent/turn_room.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace errand::agent {
namespace {

struct TurnRoomTest : testing::Test {
  TurnRoom room{{.turns = 3, .file_bytes = 100}};
  std::vector<std::unique_ptr<TurnRoom::Place>> places;
  Wakeup* no_bell = nullptr;

  void ask(std::size_t file_bytes) {
    places.push_back(std::make_unique<TurnRoom::Place>(room, file_bytes, no_bell));
  }
  // '+' for a place in the room, '.' for one in the queue, ' ' for one that has left.
  std::string shown() const {
    std::string out;
    for (const auto& place : places) out += !place ? ' ' : place->is_in() ? '+' : '.';
    return out;
  }
};

TEST_F(TurnRoomTest, TurnsBeyondTheLimitWaitInOrder) {
  for (int i = 0; i < 5; ++i) ask(0);
  EXPECT_EQ(shown(), "+++..");
  EXPECT_EQ(room.waiting(), 2U);
  places[1].reset();
  EXPECT_EQ(shown(), "+ ++.");
  places[4].reset();
  places[0].reset();
  EXPECT_EQ(shown(), "  ++ ");
  EXPECT_EQ(room.turns(), 2U);
}

TEST_F(TurnRoomTest, FilesBeyondTheLimitWaitAndDelayNobodyWithoutFiles) {
  ask(60);
  ask(60);
  ask(30);
  ask(0);
  EXPECT_EQ(shown(), "+..+");
  places[0].reset();
  EXPECT_EQ(shown(), " +++");
  EXPECT_EQ(room.file_bytes(), 90U);
}

TEST_F(TurnRoomTest, FilesLargerThanTheRoomGetInAlone) {
  ask(10);
  ask(500);
  EXPECT_EQ(shown(), "+.");
  places[0].reset();
  EXPECT_EQ(shown(), " +");
  ask(10);
  EXPECT_EQ(shown(), " +.");
  places[1].reset();
  EXPECT_EQ(shown(), "  +");
}

}  // namespace
}  // namespace errand::agent
