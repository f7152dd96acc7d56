// What a session remembers of the calls of its runs.
#include "engine/flows/test_session.hpp"

namespace errand::engine::testing::retain_test {
namespace {

constexpr std::string_view kLook = R"({"turns":[
    {"text":["Wait."],"toolCalls":[{"name":"look","args":{"at":1}},{"name":"peek","args":{}}]},
    {"text":["Seen."]},{"text":["Again."]},{"text":["Once more."]}]})";

struct RetainTest : SessionTest {
  // What the model was told with its last question: "user: Hi", "look {}", "= one".
  Lines told;

  static LocalTool tool(std::string name, bool retain) {
    return {.name = std::move(name), .annotations = {.retain = retain}};
  }

  void watch(World& world) {
    world.refuses = [this](const llm::TurnRequest& request) {
      told.clear();
      for (const llm::MessagePtr& message : request.messages) {
        bool is_bare = message->text.empty();
        if (!is_bare) told.push_back(cat(to_string(message->role), ": ", message->text));
        for (const ToolCallPart& call : message->calls) {
          told.push_back(cat(call.name, " ", call.arguments));
        }
        for (const ToolResultPart& result : message->results) {
          told.push_back(cat(result.ok ? "= " : "! ", result.text));
        }
      }
      return false;
    };
  }

  // Answers every call of a run: of "look" with the text, of others with an error.
  void answer_calls(World& world, const RunId& run, std::string text) {
    auto view = world.result_of(world.engine.get(someone(), run));
    for (const PendingCall& call : view->pending) {
      bool is_look = call.box.name == "look";
      ToolAnswer answer{.ok = is_look, .text = is_look ? text : "too dark"};
      CallAnswer params{.tool_use_id = call.box.slot, .answer = std::move(answer), .claim_id = {}};
      ASSERT_TRUE(world.result_of(world.engine.answer(someone(), run, std::move(params))));
    }
    world.settle();
  }
};

TEST_F(RetainTest, LaterRunsAreToldOfCallsThatAreRetained) {
  World world(disk, kLook);
  watch(world);
  begin(world, spec_with_tools({tool("look", true), tool("peek", false)}));
  RunId run = *send(world, "Look.");
  world.settle();
  answer_calls(world, run, "one");
  EXPECT_EQ(history(world),
            (Lines{"user: Look.", R"(call: look {"at":1})", "result: one", "assistant: Seen."}));
  ASSERT_TRUE(send(world, "And?"));
  world.settle();
  EXPECT_EQ(told, (Lines{"user: Look.", "assistant: Wait.", R"(look {"at":1})", "= one",
                         "assistant: Seen.", "user: And?"}));
  check();
}

TEST_F(RetainTest, LongResultsAreCutWithANote) {
  World world(disk, kLook);
  begin(world, spec_with_tools({tool("look", true), tool("peek", false)}));
  RunId run = *send(world, "Look.");
  world.settle();
  answer_calls(world, run, std::string(9000, 'x'));
  EXPECT_EQ(history(world).at(2),
            cat("result: ", std::string(8192, 'x'), "\n[cut here: the result had 9000 bytes]"));
  check();
}

TEST_F(RetainTest, SessionThatRetainsAllKeepsEveryCallWhole) {
  World world(disk, kLook);
  watch(world);
  Spec spec = spec_with_tools({tool("look", false), tool("peek", false)});
  spec.retains_all = true;
  begin(world, spec);
  RunId run = *send(world, "Look.");
  world.settle();
  const std::string text(9000, 'x');
  answer_calls(world, run, text);
  ASSERT_TRUE(send(world, "And?"));
  world.settle();
  EXPECT_EQ(told, (Lines{"user: Look.", "assistant: Wait.", R"(look {"at":1})", "peek {}",
                         cat("= ", text), "! too dark", "assistant: Seen.", "user: And?"}));
  // The next run is told of both, and adds nothing of them to the history again.
  ASSERT_TRUE(send(world, "More?"));
  world.settle();
  EXPECT_EQ(told.size(), 10U);
  EXPECT_EQ(history(world).size(), 10U);
  check();
}

TEST_F(RetainTest, NothingIsRetainedUnlessAsked) {
  World world(disk, kLook);
  begin(world, spec_with_tools({tool("look", false), tool("peek", false)}));
  RunId run = *send(world, "Look.");
  world.settle();
  answer_calls(world, run, "one");
  EXPECT_EQ(history(world), (Lines{"user: Look.", "assistant: Seen."}));
}

TEST_F(RetainTest, ForkOfARunIsToldOfThemToo) {
  World world(disk, kLook);
  watch(world);
  begin(world, spec_with_tools({tool("look", true), tool("peek", false)}));
  RunId run = *send(world, "Look.");
  world.settle();
  answer_calls(world, run, "one");
  RunId second = *send(world, "And?");
  world.settle();
  ForkParams params{.from_seq = {}, .overrides = {.prompt = "Or?"}};
  auto fork = world.result_of(world.engine.fork(someone(), second, params, {}));
  ASSERT_TRUE(fork) << fork.error().describe();
  world.settle();
  EXPECT_EQ(told, (Lines{"user: Look.", "assistant: Wait.", R"(look {"at":1})", "= one",
                         "assistant: Seen.", "user: And?", "assistant: Again.", "user: Or?"}));
  check();
}

}  // namespace
}  // namespace errand::engine::testing::retain_test
