// Tools that are kept beside the journal, once for all runs that have them.
#include <gtest/gtest.h>

#include "crypto/digest.hpp"
#include "engine/flows/test_world.hpp"
#include "engine/residency/whole_log.hpp"

namespace errand::engine::testing::tools_beside_test {
namespace {

using Lines = std::vector<std::string>;

constexpr std::string_view kOneCall = R"({"turns":[
  {"text":["Look."],
   "toolCalls":[{"name":"look","args":{"at":1}},{"name":"look","args":{"at":"x"}}]},
  {"text":["Seen."]},{"text":["More."]}]})";

// Two tools, with line breaks between, and one whose description is as long as it must be.
std::string large_tools() {
  return cat(R"([{"kind":"local","name":"look","parameters":{"type":"object","properties":)",
             R"({"at":{"type":"integer"}}}},)", "\n",
             R"({"kind":"local","name":"other","description":")",
             std::string(kToolsBesideBytesMin, 'd'), "\"}]");
}

struct ToolsBesideTest : ::testing::Test {
  Disk disk;
  Client client;
  const std::string hash = crypto::to_hex(crypto::sha256(large_tools()));

  static Spec large_spec(World& world) {
    return parse_spec(cat(R"({"prompt":"p","tools":)", large_tools(), "}"),
                      world.engine.tool_sets())
        .value();
  }
  void run_to_end(World& world) {
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_TRUE(client.done);
    EXPECT_EQ(findings_of(disk), Lines());
  }
  std::string stored_journal(const RunId& run) {
    return journal_of(stored_run(disk, run).segments);
  }
  std::string whole_journal(const RunId& run) {
    return journal_of(read_disk<std::vector<SegmentPtr>>(
        disk, [&](Store* store) { return read_whole_log(store, key_of(run)); }));
  }
};

TEST_F(ToolsBesideTest, TheJournalNamesThemAndIsReadWhole) {
  World world(disk, kOneCall);
  client.spec = large_spec(world);
  run_to_end(world);
  EXPECT_EQ(hashes_of_tools(stored_journal(*client.run)), std::vector<std::string>{hash});
  EXPECT_LT(stored_journal(*client.run).size(), kToolsBesideBytesMin);
  std::string whole = whole_journal(*client.run);
  EXPECT_TRUE(hashes_of_tools(whole).empty());
  auto entries = parse_journal(whole);
  ASSERT_TRUE(entries) << entries.error().describe();
  EXPECT_EQ(std::get<CreatedEntry>(entries->front()).tools->size(), 2U);
}

TEST_F(ToolsBesideTest, SmallOnesStayInTheJournal) {
  World world(disk, kOneCall);
  client.spec = parse_spec(R"({"prompt":"p","tools":[{"kind":"local","name":"look"}]})",
                           world.engine.tool_sets())
                    .value();
  run_to_end(world);
  EXPECT_TRUE(hashes_of_tools(stored_journal(*client.run)).empty());
  EXPECT_EQ(stored_journal(*client.run), whole_journal(*client.run));
}

TEST_F(ToolsBesideTest, ARunGoesOnWithThemInTheNextProcess) {
  {
    World world(disk, kOneCall);
    client.spec = large_spec(world);
    client.answers = false;
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return !client.pending.empty(); });
  }
  client.answers = true;
  World next(disk, kOneCall);
  next.tasks.spawn("recover", next.engine.recover());
  run_to_end(next);
  // The second call broke the schema, which is known again.
  EXPECT_EQ(client.acknowledged.size(), 1U);
  EXPECT_EQ(type_of_line(client.seen.back()), "result");
}

TEST_F(ToolsBesideTest, AForkHasThemToo) {
  World world(disk, kOneCall);
  client.spec = large_spec(world);
  run_to_end(world);
  auto forked = world.result_of(world.engine.fork(someone(), *client.run, {}, {}));
  ASSERT_TRUE(forked) << forked.error().describe();
  Client reader{.run = forked->run};
  world.tasks.spawn("client", reader.go(&world));
  world.run_until([&] { return reader.done; });
  auto entries = parse_journal(whole_journal(forked->run)).value();
  EXPECT_EQ(std::get<CreatedEntry>(entries.front()).tools->size(), 2U);
  EXPECT_EQ(findings_of(disk), Lines());
}

TEST_F(ToolsBesideTest, LostAndDamagedOnesAreFound) {
  StoredRun run;
  {
    World world(disk, kOneCall, {.at = 2});
    client.spec = large_spec(world);
    world.tasks.spawn("client", client.go(&world));
    world.settle();
    auto rows =
        read_disk<std::vector<RunRow>>(disk, [](Store* store) { return store->all_runs({}, 10); });
    run = stored_run(disk, rows.at(0).id);
  }
  auto findings_with = [&](std::vector<RunBlob> blobs) {
    Disk other;
    read_disk<CreateOutcome>(other, [&](Store* store) {
      return store->create(
          {.row = run.row, .first = *run.segments.at(0), .effects = {.blobs = blobs}});
    });
    Lines found = findings_of(other);
    return found.empty() ? std::string() : found.back();
  };
  auto bytes = [](std::string text) {
    return std::make_shared<const std::string>(std::move(text));
  };
  EXPECT_EQ(findings_with({{hash, bytes(large_tools())}}), "");
  EXPECT_EQ(findings_with({}), cat(run.row.id.view(), " file_missing: the bytes of \"the run's ",
                                   "tools\" (", hash, ") are missing"));
  EXPECT_EQ(findings_with({{hash, bytes("[]")}}),
            cat(run.row.id.view(), " file_damaged: the bytes of \"the run's tools\" (", hash,
                ") are not those that were sent"));
}

}  // namespace
}  // namespace errand::engine::testing::tools_beside_test
