#include "server/rooms/room_door.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "store/memory/memory_store.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::server::room_door_test {
namespace {

class RoomDoorTest : public testing::Test {
 protected:
  ~RoomDoorTest() override { reopen(); }
  RoomDoor& door() {
    if (!door_) {
      door_ = std::make_unique<RoomDoor>(RoomDoor::Deps{.home = home_,
                                                        .timers = timers_,
                                                        .clock = clock_,
                                                        .store = store_,
                                                        .records = records_,
                                                        .log = log_},
                                         options_);
    }
    return *door_;
  }
  // As after a restart.
  void reopen() {
    if (!door_) return;
    run_task(io_, door_->stop());
    door_.reset();
  }
  static Task<bool> leave(std::shared_ptr<room::Connection> connection) {
    connection->close();
    co_await connection->finish();
    co_return true;
  }
  // "in", or why somebody who joins the room is not.
  std::string join(const WorkspaceSlug& workspace, std::string room) {
    auto entered = run_task(io_, door().enter(workspace, std::move(room), "ann"));
    if (!entered) return std::string(entered.error().reason());
    run_task(io_, leave(std::move(*entered)));
    return "in";
  }

  asio::io_context io_{1};
  Home home_{io_};
  AsioTimers timers_{home_};
  ManualClock clock_{1'800'000'000'000};
  MemoryStore store_{make_memory_store_data(), clock_};
  IdSource ids_{clock_, [n = std::uint64_t{0}]() mutable { return ++n; }};
  engine::PassingKeys masters_;
  engine::RecordBooks records_{store_, ids_, masters_};
  Log log_{clock_, STDERR_FILENO, LogFormat::text, LogLevel::error};
  RoomDoor::Options options_;
  std::unique_ptr<RoomDoor> door_;
  const WorkspaceSlug here_ = *WorkspaceSlug::parse("acme");
  const WorkspaceSlug elsewhere_ = *WorkspaceSlug::parse("other");
};

TEST_F(RoomDoorTest, JoiningMakesOnlySoManyRoomsOfAWorkspace) {
  options_.rooms_made_by_joining_max = 2;
  EXPECT_EQ(join(here_, "a"), "in");
  EXPECT_EQ(join(here_, "b"), "in");
  EXPECT_EQ(join(here_, "c"), "too_many_rooms");
  EXPECT_EQ(join(here_, "a"), "in");
  EXPECT_EQ(join(elsewhere_, "c"), "in");
  reopen();
  EXPECT_EQ(join(here_, "c"), "too_many_rooms");
  // A room that is made in another way counts, and one that is deleted does no more.
  EXPECT_TRUE(run_task(io_, door().ensure_room(here_, "c")));
  EXPECT_EQ(join(here_, "c"), "in");
  for (const char* name : {"a", "b"}) {
    EXPECT_TRUE(run_task(io_, door().remove_room(here_, name)));
  }
  EXPECT_EQ(join(here_, "d"), "in");
  EXPECT_EQ(join(here_, "e"), "too_many_rooms");
}

TEST_F(RoomDoorTest, AWorkspaceCanRefuseToMakeRoomsByJoining) {
  options_.makes_rooms = [this](const WorkspaceSlug& workspace) { return workspace != here_; };
  auto refused = run_task(io_, door().enter(here_, "a", "ann"));
  EXPECT_EQ(refused.error().code(), ErrorCode::not_found);
  EXPECT_EQ(join(elsewhere_, "a"), "in");
}

}  // namespace
}  // namespace errand::server::room_door_test
