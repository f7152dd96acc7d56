// The process dies before and after every write and at every effect; a new one goes on.
#include <gtest/gtest.h>

#include "engine/test_world.hpp"

namespace errand::engine::testing {
namespace {

struct Flow {
  const char* name;
  std::string_view script;
  std::vector<ToolRef> tools;
};

std::vector<Flow> flows() {
  return {
      {"text only", R"({"turns":[{"text":["a","b","c"]}]})", {}},
      {"paced text", R"({"turns":[{"deltaDelayMs":10,"text":["a","b","c"]}]})", {}},
      {"two parallel client calls",
       R"({"turns":[
         {"text":["x"],"toolCalls":[{"name":"look"},{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look")}},
      {"read-only client calls, paced",
       R"({"turns":[
         {"deltaDelayMs":10,"text":["x"],"toolCalls":[{"name":"look"},{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look", true)}},
      {"frozen turn",
       R"({"turns":[
         {"deltaDelayMs":10,"text":["x"],"cutAfter":3,
          "toolCalls":[{"name":"look"},{"name":"look"},{"name":"look"}]},
         {"toolCalls":[{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look")}},
      {"tools of this process",
       R"({"turns":[
         {"toolCalls":[{"name":"idempotent"},{"name":"careless"},{"name":"look"}]},
         {"text":["done"]}]})",
       {client_tool("look"), HostTool{"careless"}, HostTool{"idempotent"}}},
  };
}

// Every promise that must hold however the run got to its end.
void check_log(const Disk& disk, const Client& client, const std::vector<std::string>& log) {
  EXPECT_EQ(client.seen, log) << "what clients saw, joined, is the log";
  int ends = 0;
  std::int64_t turns = 0;
  std::map<std::string, int> offered;  // by how many assistant messages a call is listed
  std::map<std::string, std::string> answers;
  for (std::size_t i = 0; i < log.size(); ++i) {
    EventLine line = split_event_line(log[i]);
    EXPECT_EQ(line.seq, static_cast<EventSeq>(i + 1)) << "seq has neither gap nor repeat";
    ends += line.type == "result" || line.type == "error" || line.type == "cancelled";
    json::Value event = *json::parse(log[i]);
    if (line.type == "local_tool_call")
      offered[std::string(event.at("toolUseId").as_string())] += 0;
    if (line.type == "assistant_message") {
      EXPECT_EQ(event.at("turn").as_int64(), turns++) << "one message a turn, in order";
      const json::Value* calls = event.as_object().if_contains("toolCalls");
      for (const json::Value& call : calls ? calls->as_array() : json::Array()) {
        ++offered[std::string(call.at("id").as_string())];
      }
    }
    if (line.type != "local_tool_result_in") continue;
    std::string id(event.at("toolUseId").as_string());
    EXPECT_TRUE(answers.emplace(id, std::string(event.at("result").as_string())).second)
        << "an answer is taken once";
  }
  EXPECT_EQ(ends, 1) << "a run ends once";
  for (const auto& [id, messages] : offered) EXPECT_EQ(messages, 1) << "a call belongs to one turn";
  ASSERT_FALSE(log.empty());
  EXPECT_EQ(split_event_line(log.back()).type, "result");
  for (const std::string& id : client.acknowledged) {
    EXPECT_EQ(answers[id], "answer to " + id) << "an accepted answer is never lost";
  }
  EXPECT_LE(disk.careless.begun, 1) << "an effect that cannot be repeated is not repeated";
  EXPECT_LE(disk.idempotent.keys.size(), 1U) << "one key on every attempt";
}

// False once the run gets through before the crash is due.
bool crash_and_recover(const Flow& flow, int at) {
  SCOPED_TRACE(cat(flow.name, ", dies at step ", at));
  Disk disk;
  Client client{.spec = spec_with_tools(flow.tools)};
  bool crashed = false;
  {
    World world(disk, flow.script, {.at = at});
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    crashed = world.crash.is_dead();
  }
  if (!crashed) {
    EXPECT_TRUE(client.done);
    return false;
  }
  {
    World world(disk, flow.script);
    world.tasks.spawn("recover", world.engine.recover());
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_TRUE(client.done);
    EXPECT_EQ(world.bugs, std::vector<std::string>());
  }
  if (client.run) check_log(disk, client, log_of(disk, *client.run));
  return true;
}

TEST(Crash, EveryStepOfEveryFlowCanBeTheLastOne) {
  int points = 0;
  for (const Flow& flow : flows()) {
    for (int at = 1; crash_and_recover(flow, at); ++at) ++points;
  }
  RecordProperty("points", points);
  EXPECT_GT(points, 60);
}

// Two crashes, the second one at every step of the recovery from the first.
TEST(Crash, RecoveryItselfCanDie) {
  Flow flow = flows()[4];
  for (int first : {3, 6, 9}) {
    for (int second = 1; second < 14; ++second) {
      SCOPED_TRACE(cat("dies at ", first, " and ", second));
      Disk disk;
      Client client{.spec = spec_with_tools(flow.tools)};
      for (int at : {first, second, 0}) {
        World world(disk, flow.script, {.at = at});
        world.tasks.spawn("recover", world.engine.recover());
        world.tasks.spawn("client", client.go(&world));
        world.run_until([&] { return client.done; });
      }
      ASSERT_TRUE(client.done);
      check_log(disk, client, log_of(disk, *client.run));
    }
  }
}

TEST(Crash, RunThatTakesTheProcessDownThreeTimesIsGivenUp) {
  Disk disk;
  Client client{.spec = spec_with_tools({})};
  constexpr std::string_view kSlow = R"({"turns":[{"delayMs":1000,"text":["never"]}]})";
  for (int i = 0; i < 4; ++i) {
    World world(disk, kSlow);
    world.tasks.spawn("recover", world.engine.recover());
    world.tasks.spawn("client", client.go(&world));
    world.settle();
  }
  World world(disk, kSlow);
  world.tasks.spawn("recover", world.engine.recover());
  world.tasks.spawn("client", client.go(&world));
  world.run_until([&] { return client.done; });
  ASSERT_TRUE(client.done);
  EXPECT_NE(client.seen.back().find("the server ended 3 times"), std::string::npos);
}

}  // namespace
}  // namespace errand::engine::testing
