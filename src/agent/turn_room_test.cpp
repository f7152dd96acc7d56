#include "agent/turn_room.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace errand::agent::turn_room_test {
namespace {

struct TurnRoomTest : testing::Test {
  explicit TurnRoomTest(TurnLimits limits = {.turns = 3, .file_bytes = 100}) : room(limits) {}

  TurnRoom room;
  std::vector<std::unique_ptr<TurnRoom::Place>> places;
  Wakeup* no_bell = nullptr;

  void ask(std::size_t file_bytes, const char* workspace = "a") {
    TurnRoom::Need need{.workspace = *WorkspaceSlug::parse(workspace), .file_bytes = file_bytes};
    places.push_back(std::make_unique<TurnRoom::Place>(room, need, no_bell));
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

TEST_F(TurnRoomTest, WorkspacesTakeTurnsHoweverManyTurnsOneWaitsFor) {
  for (int i = 0; i < 6; ++i) ask(0, "a");
  for (int i = 0; i < 2; ++i) ask(0, "b");
  ask(0, "c");
  EXPECT_EQ(shown(), "+++......");
  for (int i = 0; i < 3; ++i) places[static_cast<std::size_t>(i)].reset();
  EXPECT_EQ(shown(), "   +..+.+");
}

TEST_F(TurnRoomTest, SmallFilesOfOthersDoNotKeepLargeOnesOut) {
  ask(60, "a");
  ask(90, "b");
  ask(10, "a");
  ask(10, "c");
  EXPECT_EQ(shown(), "+...");
  places[0].reset();
  EXPECT_EQ(shown(), " ++.");
  places[1].reset();
  EXPECT_EQ(shown(), "  ++");
}

TEST_F(TurnRoomTest, TheNextWithFilesMayLeave) {
  ask(60, "a");
  ask(90, "b");
  ask(10, "c");
  EXPECT_EQ(shown(), "+..");
  places[1].reset();
  EXPECT_EQ(shown(), "+ +");
}

TEST_F(TurnRoomTest, SaysBeforehandWhoWouldGetInAtOnce) {
  const WorkspaceSlug workspace = *WorkspaceSlug::parse("a");
  ask(60);
  EXPECT_TRUE(room.is_free({.workspace = workspace}));
  EXPECT_TRUE(room.is_free({.workspace = workspace, .file_bytes = 40}));
  EXPECT_FALSE(room.is_free({.workspace = workspace, .file_bytes = 41}));
  ask(0);
  ask(0);
  EXPECT_FALSE(room.is_free({.workspace = workspace}));
}

struct SharedTurnRoomTest : TurnRoomTest {
  SharedTurnRoomTest() : TurnRoomTest({.turns = 4, .file_bytes = 100, .per_workspace = 2}) {}
};

TEST_F(SharedTurnRoomTest, AWorkspaceLeavesRoomForOthers) {
  for (int i = 0; i < 4; ++i) ask(0, "a");
  EXPECT_EQ(shown(), "++..");
  ask(0, "b");
  EXPECT_EQ(shown(), "++..+");
  places[0].reset();
  EXPECT_EQ(shown(), " ++.+");
}

TEST_F(SharedTurnRoomTest, FilesThatWaitForATurnOfTheirWorkspaceDelayNobody) {
  ask(60, "b");
  ask(50, "a");
  ask(0, "a");
  ask(0, "a");
  ask(10, "c");
  EXPECT_EQ(shown(), "+.++.");
  places[0].reset();
  EXPECT_EQ(shown(), " .+++");
  places[2].reset();
  EXPECT_EQ(shown(), " + ++");
}

}  // namespace
}  // namespace errand::agent::turn_room_test
