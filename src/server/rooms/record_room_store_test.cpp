#include "server/rooms/record_room_store.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "store/memory/memory_store.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::server {
namespace {

class RecordRoomStoreTest : public testing::Test {
 protected:
  std::shared_ptr<RecordRoomStore> open(std::string room = "room_1") {
    return std::make_shared<RecordRoomStore>(store, tasks, here, std::move(room));
  }
  // Until everything is done.
  void settle() { run_task(io, tasks.join()); }
  void add(RecordRoomStore& kept, std::string queue, std::uint64_t seq) {
    kept.add_item(std::move(queue), {.seq = seq, .body = cat("{\"n\":", seq, "}")}, done());
  }
  room::RoomStore::Done done() {
    return [this](const Result<void>& result) { append(seen, result ? "done " : "failed "); };
  }
  // The queues as the next process reads them.
  std::string read(const std::string& room = "room_1") {
    std::string text;
    auto kept = open(room);
    kept->load_queues([&text](const Result<std::vector<room::StoredQueue>>& queues) {
      for (const room::StoredQueue& queue : queues.value()) {
        append(text, queue.name, ":");
        for (const room::StoredItem& item : queue.items) append(text, " ", item.seq, item.body);
        text += ";";
      }
    });
    settle();
    return text;
  }

  asio::io_context io;
  ManualClock clock{1'800'000'000'000};
  MemoryStore store{make_memory_store_data(), clock};
  const WorkspaceSlug here = *WorkspaceSlug::parse("acme");
  std::string seen;
  TaskGroup tasks{io.get_executor(), [](const char*, const std::string&) { std::abort(); }};
};

TEST_F(RecordRoomStoreTest, KeepsQueuesAndTheirMessagesInOrder) {
  auto kept = open();
  kept->add_queue("jobs/à la carte", done());
  add(*kept, "jobs/à la carte", 9);
  add(*kept, "jobs/à la carte", 10);
  add(*kept, "jobs/à la carte", 300);
  kept->add_queue("jobs", done());
  settle();
  EXPECT_EQ(seen, "done done done done done ");
  EXPECT_EQ(read(), "jobs:;jobs/à la carte: 9{\"n\":9} 10{\"n\":10} 300{\"n\":300};");
  EXPECT_EQ(read("room_2"), "");
}

TEST_F(RecordRoomStoreTest, RemovesMessagesAndQueues) {
  auto kept = open();
  kept->add_queue("a", done());
  kept->add_queue("a/b", done());
  for (std::uint64_t seq = 1; seq <= 3; ++seq) add(*kept, "a", seq);
  add(*kept, "a/b", 1);
  kept->remove_items("a", {1, 3}, done());
  settle();
  EXPECT_EQ(read(), "a: 2{\"n\":2};a/b: 1{\"n\":1};");
  kept->remove_queue("a", done());
  settle();
  EXPECT_EQ(read(), "a/b: 1{\"n\":1};");
}

TEST_F(RecordRoomStoreTest, ReadsMoreThanAPage) {
  auto kept = open();
  kept->add_queue("q", done());
  for (std::uint64_t seq = 1; seq <= 1'201; ++seq) add(*kept, "q", seq);
  settle();
  EXPECT_NE(read().find(" 1201{\"n\":1201};"), std::string::npos);
  kept->remove_queue("q", done());
  settle();
  EXPECT_EQ(read(), "");
}

TEST_F(RecordRoomStoreTest, RemovesAllOfOneRoomAlone) {
  auto kept = open("room_1");
  auto other = open("room_10");
  for (const auto& one : {kept, other}) {
    one->add_queue("q", done());
    add(*one, "q", 1);
  }
  settle();
  EXPECT_TRUE(run_task(io, kept->remove_all()));
  EXPECT_EQ(read("room_1"), "");
  EXPECT_EQ(read("room_10"), "q: 1{\"n\":1};");
}

TEST_F(RecordRoomStoreTest, CallsNobodyBackWhoIsGone) {
  auto kept = open();
  kept->add_queue("q", done());
  kept->detach();
  settle();
  EXPECT_EQ(seen, "");
  EXPECT_EQ(read(), "q:;");
}

}  // namespace
}  // namespace errand::server
