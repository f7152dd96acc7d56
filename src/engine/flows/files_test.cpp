// Files that come with a run and with answers.
#include <gtest/gtest.h>

#include "crypto/digest.hpp"
#include "engine/flows/test_world.hpp"
#include "engine/history/replay.hpp"
#include "json/write.hpp"

namespace errand::engine::testing::files_test {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kOneCall = R"({"turns":[
  {"text":["Look."],"toolCalls":[{"name":"look"}]},{"text":["Seen."]},{"text":["More."]}]})";

struct FilesTest : ::testing::Test {
  Disk disk;
  Client client{.spec = spec_with_files({client_tool("look")}, {sent_file("a.txt", "bytes of a")}),
                .files = {sent_file("b.txt", "bytes of b")}};

  // Follows the run to its end, and gives the files of the last question.
  Lines run_to_end(World& world) {
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_TRUE(client.done);
    EXPECT_EQ(findings_of(disk), Lines());
    return world.shown_files;
  }

  // A run that is created, and then the process dies.
  StoredRun created_run() {
    World world(disk, kOneCall, {.at = 2});
    world.tasks.spawn("client", client.go(&world));
    world.settle();
    auto rows =
        read_disk<std::vector<RunRow>>(disk, [](Store* store) { return store->all_runs({}, 10); });
    return stored_run(disk, rows.at(0).id);
  }

  // What is found about the run when its file has these bytes.
  static Lines findings_with(const StoredRun& run, std::vector<RunBlob> blobs) {
    Disk other;
    read_disk<CreateOutcome>(other, [&](Store* store) {
      return store->create(
          {.row = run.row, .first = *run.segments.at(0), .effects = {.blobs = blobs}});
    });
    return findings_of(other);
  }

  std::string text_of(const RunId& run) {
    std::string text;
    for (const SegmentPtr& segment : stored_run(disk, run).segments) {
      append(text, segment->journal, segment->events);
    }
    return text;
  }
};

TEST_F(FilesTest, TheModelGetsThemWithEveryQuestion) {
  World world(disk, kOneCall);
  EXPECT_EQ(run_to_end(world), (Lines{"a.txt: bytes of a", "b.txt: bytes of b"}));
  EXPECT_EQ(
      client.seen.at(3),
      cat(R"({"seq":4,"type":"local_tool_result_in","toolUseId":")", *client.acknowledged.begin(),
          R"(","name":"look","result":"answer to )", *client.acknowledged.begin(),
          R"(","output":"answer to )", *client.acknowledged.begin(),
          R"(","files":[{"filename":"b.txt","mimeType":"text/plain","size":10}]})"));
}

TEST_F(FilesTest, LogsNameThemAndDoNotHoldThem) {
  World world(disk, kOneCall);
  run_to_end(world);
  std::string text = text_of(*client.run);
  EXPECT_EQ(text.find("bytes of"), std::string::npos);
  for (const char* bytes : {"bytes of a", "bytes of b"}) {
    EXPECT_NE(text.find(cat(R"("size":10,"sha256":")", crypto::to_hex(crypto::sha256(bytes)))),
              std::string::npos);
  }
}

TEST_F(FilesTest, ARunThatWaitsHoldsNoBytes) {
  client.answers = false;
  World world(disk, kOneCall);
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  ASSERT_EQ(client.pending.size(), 1U);
  EXPECT_EQ(client.spec.messages[0].files[0].bytes.use_count(), 1);
}

TEST_F(FilesTest, ARunWhoseModelThinksHoldsNoBytes) {
  World world(disk, R"({"turns":[{"text":["Seen."],"delayMs":1000}]})");
  std::weak_ptr<const llm::TurnFiles> files;
  bool had_files = false;
  world.refuses = [&](const llm::TurnRequest& request) {
    files = request.files;
    had_files = !files.expired();
    return false;
  };
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  EXPECT_EQ(world.asked, 1);
  EXPECT_TRUE(had_files);
  EXPECT_TRUE(files.expired());
}

TEST_F(FilesTest, AForkSharesThem) {
  World world(disk, kOneCall);
  run_to_end(world);
  auto forked = world.result_of(
      world.engine.fork(someone(), *client.run, {.overrides = {.prompt = "And?"}}, {}));
  ASSERT_TRUE(forked);
  auto pruned = world.result_of(world.store.prune({.ended_before = world.store.now() + seconds(1),
                                                   .spared = {forked->run},
                                                   .segments_max = 1000}));
  EXPECT_EQ(pruned->runs, 1U);
  Client reader{.run = forked->run};
  world.tasks.spawn("client", reader.go(&world));
  world.run_until([&] { return reader.done; });

  EXPECT_EQ(world.shown_files, (Lines{"a.txt: bytes of a", "b.txt: bytes of b"}));
  EXPECT_EQ(findings_of(disk), Lines());
}

TEST_F(FilesTest, AStoreThatCannotReadThemNowIsAskedAgain) {
  World world(disk, kOneCall);
  int failures = 0;
  world.fault = [&](FaultyStore::Operation op) {
    bool fails = op.kind == FaultyStore::Kind::read_blob && failures++ < 2;
    return fails ? FaultyStore::Fault::fail_before : FaultyStore::Fault::none;
  };
  EXPECT_EQ(run_to_end(world), (Lines{"a.txt: bytes of a", "b.txt: bytes of b"}));
  EXPECT_GT(failures, 2);
  EXPECT_EQ(type_of_line(client.seen.back()), "result");
}

TEST_F(FilesTest, TheNewestAreSentIfTheyAreTooLargeTogether) {
  std::vector<FilePart> files;
  for (int i = 0; i < 6; ++i) {
    files.push_back(sent_file(cat(i), std::string(4U * 1024 * 1024, static_cast<char>('a' + i))));
  }
  client.spec = spec_with_files({}, files);
  World world(disk, R"({"turns":[{"text":["done"]}]})");
  Lines shown = run_to_end(world);
  ASSERT_EQ(shown.size(), 6U);
  EXPECT_EQ(shown[0], "0: nothing");
  for (std::size_t i = 1; i < 6; ++i) EXPECT_EQ(shown[i].size(), 3U + 4U * 1024 * 1024);
}

TEST_F(FilesTest, LostAndDamagedBytesAreFound) {
  StoredRun run = created_run();
  std::string hash = crypto::to_hex(crypto::sha256("bytes of a"));
  auto bytes = [](const char* text) { return std::make_shared<const std::string>(text); };

  EXPECT_EQ(findings_with(run, {{hash, bytes("bytes of a")}}), Lines());
  EXPECT_EQ(findings_with(run, {}), Lines{cat(run.row.id.view(), " file_missing: the bytes of \"",
                                              "a.txt\" (", hash, ") are missing")});
  EXPECT_EQ(findings_with(run, {{hash, bytes("bytes of b")}}),
            Lines{cat(run.row.id.view(), " file_damaged: the bytes of \"a.txt\" (", hash,
                      ") are not those that were sent")});
}

TEST_F(FilesTest, ARunWithFilesIsReplayedWithoutTheirBytes) {
  World world(disk, kOneCall);
  run_to_end(world);
  RunExport out{.run = json::Object()};
  for (const std::string& line : client.seen) out.events.push_back(*json::parse(line));
  for (const SegmentPtr& segment : stored_run(disk, *client.run).segments) {
    for (std::string_view rest = segment->journal; !rest.empty();) {
      out.journal.push_back(*json::parse(take_line(rest)));
    }
  }
  auto report = replay(out);
  ASSERT_TRUE(report) << report.error().describe();
  EXPECT_FALSE(report->difference) << report->difference->recorded << "\n"
                                   << report->difference->replayed;
}

}  // namespace
}  // namespace errand::engine::testing::files_test
