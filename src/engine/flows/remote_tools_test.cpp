// Tools of servers that have to be asked what they offer.
#include "engine/flows/test_run.hpp"
#include "engine/residency/whole_log.hpp"
#include "run/tools/tool_set.hpp"
#include "tool/no_tools.hpp"

namespace errand::engine::testing::remote_tools_test {
namespace {

// A server of tools that answers when a test lets it.
class FakeServer final : public RemoteToolSource {
 public:
  explicit FakeServer(Timers& timers) : timers_(timers) {}

  Task<Result<std::vector<ToolDecl>>> ask(ToolRef, Principal) override {
    ++asked;
    if (takes > milliseconds(0)) co_await timers_.sleep_until(timers_.now() + takes);
    if (!is_up) co_return Error(ErrorCode::unavailable, "nobody answers");
    if (offered.empty()) {
      co_return Error(ErrorCode::not_found, "it has no tools").reason(kNoTools);
    }
    co_return offered;
  }
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal&) override {
    opened.push_back(cat(std::get<McpServer>(ref).url, " ", binding.origin.upstream));
    return std::make_shared<CountingTool>(binding, log, [] {});
  }

  std::vector<ToolDecl> offered;
  milliseconds takes{0};
  bool is_up = true;
  int asked = 0;
  std::vector<std::string> opened;
  ToolLog log;

 private:
  Timers& timers_;
};

ToolDecl remote_tool(std::string name, std::string upstream) {
  ToolDecl decl{.name = std::move(name), .description = "Far away."};
  decl.origin.upstream = std::move(upstream);
  return decl;
}

ToolRef server_ref() {
  return McpServer{.name = "far", .url = "https://far.example/mcp"};
}

struct RemoteToolsTest : RunTest {
  static void serve(World& world, FakeServer& server) {
    world.sources.add_remote("mcp", {"mcp"}, server);
  }
  bool saw(std::string_view part) const {
    return std::any_of(client.seen.begin(), client.seen.end(), [&](const std::string& line) {
      return line.find(part) != std::string::npos;
    });
  }
};

constexpr std::string_view kOneCall =
    R"({"turns":[{"toolCalls":[{"name":"far_count"}]},{"text":["ok"]}]})";

TEST_F(RemoteToolsTest, AreBoundBeforeTheFirstTurnAndCalledByTheirOwnNames) {
  World world(disk, kOneCall);
  FakeServer server(world.timers);
  server.offered = {remote_tool("far_count", "count")};
  serve(world, server);
  client.spec = spec_with_tools({server_ref()});
  run(world);
  EXPECT_EQ(types_of(client.seen), (Types{"tool_call", "assistant_message", "tool_result",
                                          "assistant_delta", "assistant_message", "result"}));
  EXPECT_EQ(server.asked, 1);
  EXPECT_EQ(server.opened, Types{"https://far.example/mcp count"});
}

TEST_F(RemoteToolsTest, ServerThatDoesNotAnswerIsToldToTheModel) {
  for (bool is_slow : {false, true}) {
    disk = Disk();
    client = Client{.spec = spec_with_tools({server_ref()})};
    World world(disk, R"({"turns":[{"toolCalls":[{"name":"far_unavailable"}]},{"text":["ok"]}]})");
    FakeServer server(world.timers);
    server.is_up = is_slow;
    server.takes = is_slow ? std::chrono::hours(1) : milliseconds(0);
    serve(world, server);
    run(world);
    EXPECT_TRUE(saw("is unavailable in this run")) << is_slow;
    EXPECT_EQ(types_of(client.seen).back(), "result");
  }
}

TEST_F(RemoteToolsTest, ServerWithoutToolsIsNotToldAsOneThatIsDown) {
  World world(disk, R"({"turns":[{"toolCalls":[{"name":"far_unavailable"}]},{"text":["ok"]}]})");
  FakeServer server(world.timers);
  serve(world, server);
  client.spec = spec_with_tools({server_ref()});
  run(world);
  EXPECT_TRUE(saw("is unavailable in this run: it has no tools."));
  EXPECT_FALSE(saw("cannot reach it"));
}

TEST_F(RemoteToolsTest, CancelDoesNotWaitForAServer) {
  World world(disk, kOneCall);
  FakeServer server(world.timers);
  server.takes = std::chrono::hours(1);
  serve(world, server);
  client.spec = spec_with_tools({server_ref()});
  world.tasks.spawn("client", client.go(&world));
  world.settle();
  EXPECT_TRUE(world.result_of(world.engine.cancel(someone(), *client.run)));
  world.settle();
  EXPECT_TRUE(client.done);
  EXPECT_EQ(types_of(client.seen), Types{"cancelled"});
  EXPECT_EQ(findings_of(disk), std::vector<std::string>());
}

TEST_F(RemoteToolsTest, ClashingNamesGetANumber) {
  World world(disk, R"({"turns":[{"toolCalls":[{"name":"count_2"}]},{"text":["ok"]}]})");
  FakeServer server(world.timers);
  server.offered = {remote_tool("count", "")};
  serve(world, server);
  client.spec = spec_with_tools({client_tool("count"), server_ref()});
  run(world);
  EXPECT_EQ(server.opened, Types{"https://far.example/mcp count"});
}

TEST_F(RemoteToolsTest, ManyToolsAreKeptBesideTheJournal) {
  World world(disk, kOneCall);
  FakeServer server(world.timers);
  server.offered = {remote_tool("far_count", "count"), remote_tool("far_more", "more")};
  server.offered[1].description = std::string(kToolsBesideBytesMin, 'x');
  serve(world, server);
  client.spec = spec_with_tools({server_ref()});
  run(world);
  std::string stored = journal_of(stored_run(disk, *client.run).segments);
  EXPECT_LT(stored.size(), kToolsBesideBytesMin);
  const std::string whole = journal_of(read_disk<std::vector<SegmentPtr>>(
      disk, [&](Store* store) { return read_whole_log(store, key_of(*client.run)); }));
  EXPECT_NE(whole.find(server.offered[1].description), std::string::npos);
}

TEST_F(RemoteToolsTest, AreBoundOnceWheneverTheProcessDies) {
  for (int at = 1;; ++at) {
    disk = Disk();
    client = Client{.spec = spec_with_tools({server_ref()})};
    bool has_crashed = false;
    int made = 0;
    for (int life = 0; life < 2 && !client.done; ++life) {
      World world(disk, kOneCall, life == 0 ? Crash{.at = at} : Crash());
      FakeServer server(world.timers);
      server.offered = {remote_tool("far_count", "count")};
      // The next process finds another server, which a run that is bound does not ask again.
      if (life == 1) server.offered.push_back(remote_tool("far_other", "other"));
      serve(world, server);
      world.tasks.spawn("recover", world.engine.recover());
      world.settle();
      world.tasks.spawn("client", client.go(&world));
      world.run_until([&] { return client.done; });
      has_crashed = has_crashed || world.crash.is_dead();
      made += server.log.begun;
    }
    EXPECT_TRUE(client.done) << "killed at step " << at;
    EXPECT_LE(made, 1) << "killed at step " << at;
    EXPECT_EQ(findings_of(disk), std::vector<std::string>()) << "killed at step " << at;
    if (!has_crashed || HasFailure()) break;
  }
}

}  // namespace
}  // namespace errand::engine::testing::remote_tools_test
