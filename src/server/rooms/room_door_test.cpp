#include "server/rooms/room_door.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "store/memory/memory_store.hpp"
#include "store/memory/test_faulty_store.hpp"
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

  // A queue in the room with this id.
  void keep_queue(const std::string& id) {
    std::vector<RecordChange> changes;
    changes.push_back(
        {.key = {.workspace = here_, .kind = "room_queue", .id = cat(id, "/q")}, .body = "{}"});
    ASSERT_TRUE(run_task(io_, store_.change_records(std::move(changes))));
  }
  std::size_t kept_queues(const std::string& id) {
    auto found = run_task(io_, store_.find_record({here_, "room_queue", cat(id, "/q")}));
    return found ? 1 : 0;
  }
  std::size_t kept(std::string kind) {
    const WorkspaceSlug place = *WorkspaceSlug::parse("default");
    return run_task(io_, store_.list_records({.workspace = place, .kind = std::move(kind)}))
        .value()
        .size();
  }

  asio::io_context io_{1};
  Home home_{io_};
  AsioTimers timers_{home_};
  ManualClock clock_{1'800'000'000'000};
  MemoryStore memory_{make_memory_store_data(), clock_};
  std::optional<std::size_t> changes_left_;  // until the store fails
  FaultyStore store_{memory_, [this](FaultyStore::Operation operation) {
                       if (operation.kind != FaultyStore::Kind::change_records || !changes_left_) {
                         return FaultyStore::Fault::none;
                       }
                       if (*changes_left_ == 0) return FaultyStore::Fault::fail_before;
                       --*changes_left_;
                       return FaultyStore::Fault::none;
                     }};
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

TEST_F(RoomDoorTest, ADeletionThatFailsCanBeRepeated) {
  EXPECT_EQ(join(here_, "a"), "in");
  const std::string id = run_task(io_, door().find_room(here_, "a")).value().id;
  keep_queue(id);
  EXPECT_EQ(kept_queues(id), 1U);
  // The note and the record are changed; then the store fails.
  changes_left_ = 2;
  EXPECT_FALSE(run_task(io_, door().remove_room(here_, "a")));
  EXPECT_EQ(kept_queues(id), 1U);

  changes_left_ = std::nullopt;
  EXPECT_TRUE(run_task(io_, door().remove_room(here_, "a")));

  EXPECT_EQ(kept_queues(id), 0U);
  auto again = run_task(io_, door().remove_room(here_, "a"));
  EXPECT_EQ(again.error().code(), ErrorCode::not_found);
}

TEST_F(RoomDoorTest, TheNextProcessFinishesADeletion) {
  EXPECT_EQ(join(here_, "a"), "in");
  EXPECT_EQ(join(here_, "b"), "in");
  const std::string gone = run_task(io_, door().find_room(here_, "a")).value().id;
  const std::string stays = run_task(io_, door().find_room(here_, "b")).value().id;
  keep_queue(gone);
  keep_queue(stays);
  changes_left_ = 2;
  EXPECT_FALSE(run_task(io_, door().remove_room(here_, "a")));
  // A deletion whose record is still there has not begun for anybody.
  changes_left_ = 1;
  EXPECT_FALSE(run_task(io_, door().remove_room(here_, "b")));
  changes_left_ = std::nullopt;

  reopen();
  door().resume_removals();
  for (int look = 0; look < 1'000 && kept("room_going") > 0; ++look) continue;

  EXPECT_EQ(kept_queues(gone), 0U);
  EXPECT_EQ(kept_queues(stays), 1U);
  EXPECT_EQ(kept("room_going"), 0U);
}

TEST_F(RoomDoorTest, AWorkspaceCanRefuseToMakeRoomsByJoining) {
  options_.makes_rooms = [this](const WorkspaceSlug& workspace) { return workspace != here_; };
  auto refused = run_task(io_, door().enter(here_, "a", "ann"));
  EXPECT_EQ(refused.error().code(), ErrorCode::not_found);
  EXPECT_EQ(join(elsewhere_, "a"), "in");
}

}  // namespace
}  // namespace errand::server::room_door_test
