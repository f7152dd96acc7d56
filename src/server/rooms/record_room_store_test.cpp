#include "server/rooms/record_room_store.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>
#include <string>

#include "base/text.hpp"
#include "store/memory/memory_store.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::server::record_room_store_test {
namespace {

class RecordRoomStoreTest : public testing::Test {
 protected:
  std::shared_ptr<RecordRoomStore> open(std::string room = "room_1") {
    return std::make_shared<RecordRoomStore>(store, tasks, here, std::move(room));
  }
  // Until everything is done.
  void settle() { run_task(io, tasks.join()); }
  void add(RecordRoomStore& kept, std::string queue, std::uint64_t seq) {
    kept.add_item(std::move(queue), {.seq = seq, .body = cat("{\"n\":", seq, "}")},
                  room::WithQueue::no, done());
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

  std::vector<room::StoredFile> files() {
    std::vector<room::StoredFile> all;
    auto kept = open();
    kept->load_files(
        [&all](Result<std::vector<room::StoredFile>> found) { all = std::move(found).value(); });
    settle();
    return all;
  }
  // The first part of a content; nothing if it is gone.
  std::string part(const std::string& content) {
    auto found = run_task(io, open()->find_part(content, 0));
    return found ? *found : "";
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

TEST_F(RecordRoomStoreTest, AMessageBringsItsQueueAlong) {
  auto kept = open();
  kept->add_item("q", {.seq = 1, .body = "{}"}, room::WithQueue::yes, done());
  settle();
  EXPECT_EQ(read(), "q: 1{};");
}

// The room of an id goes and comes back while something is still under way.
TEST_F(RecordRoomStoreTest, TheNextRoomReadsAfterWhatTheLastOneAskedFor) {
  auto kept = open();
  kept->add_queue("q", done());
  for (std::uint64_t seq = 1; seq <= 20; ++seq) add(*kept, "q", seq);
  kept->detach();
  kept->attach();
  std::size_t items = 0;
  kept->load_queues([&items](const Result<std::vector<room::StoredQueue>>& queues) {
    items = queues.value().at(0).items.size();
  });
  settle();
  EXPECT_EQ(items, 20U);
  EXPECT_EQ(seen, "");
}

TEST_F(RecordRoomStoreTest, RefusesWhatIsTooMuch) {
  auto kept = open();
  for (std::size_t i = 0; i <= RecordRoomStore::kOrdersMax; ++i) kept->add_queue("q", done());
  settle();
  EXPECT_EQ(seen.find("failed "), seen.rfind("failed "));
  EXPECT_NE(seen.find("failed "), std::string::npos);
  seen.clear();
  kept->add_part("c", 0, std::string(RecordRoomStore::kOrderBytesMax, 'x'), done());
  kept->add_part("c", 0, "small", done());
  settle();
  EXPECT_EQ(seen, "failed done ");
}

TEST_F(RecordRoomStoreTest, KeepsFiles) {
  auto kept = open();
  const room::StoredFile file{.path = "a b/ü",
                              .content = "c1",
                              .size = 7,
                              .part_bytes = 4,
                              .mime_type = "text/plain",
                              .created_at = from_millis(1),
                              .updated_at = from_millis(2)};
  kept->begin_content("c1", done());
  kept->add_part("c1", 0, "four", done());
  kept->add_part("c1", 1, "and", done());
  kept->change_files({.put = {file}, .removed = {}}, done());
  // A file names the content, which therefore stays.
  kept->drop_content("c1");
  settle();
  EXPECT_EQ(files(), std::vector{file});
  EXPECT_EQ(run_task(io, open()->find_file("a b/ü")).value(), file);
  EXPECT_EQ(run_task(io, open()->find_part("c1", 1)).value(), "and");
  kept->change_files({.put = {}, .removed = {"a b/ü"}, .dropped = {"c1"}}, done());
  kept->drop_content("c1");
  settle();
  EXPECT_EQ(files(), std::vector<room::StoredFile>());
  EXPECT_EQ(part("c1"), "");
}

TEST_F(RecordRoomStoreTest, RemovesWhatAnUploadOfAnEarlierProcessHasLeft) {
  auto kept = open();
  kept->begin_content("c1", done());
  for (std::uint64_t n = 0; n < 20; ++n) kept->add_part("c1", n, "bytes", done());
  settle();
  EXPECT_EQ(part("c1"), "bytes");
  auto next = open();
  next->load_files([](const Result<std::vector<room::StoredFile>>&) {});
  // Uploads that begin now are left alone by later looks.
  next->begin_content("c2", done());
  next->add_part("c2", 0, "new", done());
  next->load_files([](const Result<std::vector<room::StoredFile>>&) {});
  settle();
  EXPECT_EQ(part("c1"), "");
  EXPECT_EQ(part("c2"), "new");
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
}  // namespace errand::server::record_room_store_test
