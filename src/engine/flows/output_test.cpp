// Runs whose answer has to follow a schema, and what models are asked for.
#include <gtest/gtest.h>

#include "engine/flows/test_world.hpp"

namespace errand::engine::testing::output_test {
namespace {

using Types = std::vector<std::string>;

constexpr std::string_view kGood = R"({"turns":[{"text":["{\"city\":","\"Oslo\"}"]}]})";
constexpr std::string_view kWrongThenGood =
    R"({"turns":[{"text":["{\"city\":7}"]},{"text":["{\"city\":\"Oslo\"}"]}]})";
constexpr std::string_view kWrongTwice = R"({"turns":[{"text":["Oslo"]},{"text":["{}"]}]})";

// One question to the model, as far as it matters here.
struct Question {
  std::string system;
  std::string last_said;
  bool has_schema = false;
  std::string name;
  std::optional<int> level;
  bool tools_off = false;

  friend bool operator==(const Question&, const Question&) = default;
};

struct OutputTest : ::testing::Test {
  Disk disk;
  Client client{.spec = spec_with_tools({})};
  std::vector<Question> asked;

  OutputTest() { client.spec.output_schema = city_schema(); }

  // Keeps what is asked; what `says_no` to is refused.
  void watch(World& world, std::function<bool(const llm::TurnRequest&)> says_no = {}) {
    world.refuses = [this, says_no = std::move(says_no)](const llm::TurnRequest& request) {
      asked.push_back({.system = *request.system_prompt,
                       .last_said = request.messages.back()->text,
                       .has_schema = request.output_schema != nullptr,
                       .name = request.output_name,
                       .level = request.reasoning_level,
                       .tools_off = request.tools_off});
      return says_no && says_no(request);
    };
  }

  void run(World& world) {
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_EQ(world.bugs, std::vector<std::string>());
    EXPECT_EQ(findings_of(disk), std::vector<std::string>());
  }

  Types types() const {
    Types out;
    for (const std::string& line : client.seen) out.emplace_back(type_of_line(line));
    return out;
  }

  json::Object end() const { return json::parse(client.seen.back())->as_object(); }
};

json::Object structured(bool enforced, std::string_view mechanism, bool fell_back = false) {
  return {{"schemaRequested", true},
          {"schemaEnforced", enforced},
          {"enforcementMechanism", mechanism},
          {"unconstrainedFallbackOccurred", fell_back}};
}

TEST_F(OutputTest, AnswerThatFitsIsTheResult) {
  World world(disk, kGood);
  watch(world);
  run(world);
  EXPECT_EQ(types(), (Types{"assistant_delta", "assistant_delta", "assistant_message", "result"}));
  EXPECT_EQ(end()["text"], R"({"city":"Oslo"})");
  EXPECT_EQ(end()["structuredOutput"], structured(true, "none"));
  EXPECT_EQ(asked,
            (std::vector<Question>{{.last_said = "go", .has_schema = true, .name = "place"}}));
}

TEST_F(OutputTest, AnswerThatDoesNotFitIsAskedForOnceMore) {
  World world(disk, kWrongThenGood);
  watch(world);
  run(world);
  EXPECT_EQ(types(), (Types{"assistant_delta", "assistant_message", "assistant_delta",
                            "assistant_message", "result"}));
  EXPECT_EQ(end()["text"], R"({"city":"Oslo"})");
  EXPECT_EQ(end()["turns"], 2);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_TRUE(asked[1].tools_off);
  EXPECT_EQ(asked[1].last_said,
            "Your answer does not fit the schema that it has to follow:\n"
            "/city: expected a string, got 7\n\n"
            "Give the whole answer again with this put right, and nothing besides it.");
}

TEST_F(OutputTest, AnswerThatIsWrongTwiceEndsTheRunWithItsText) {
  for (Enforcement enforcement : {Enforcement::best_effort, Enforcement::strict}) {
    disk.data = make_memory_store_data();
    client = {.spec = client.spec};
    client.spec.output_schema = city_schema(enforcement);
    World world(disk, kWrongTwice);
    run(world);
    EXPECT_EQ(types(), (Types{"assistant_delta", "assistant_message", "assistant_delta",
                              "assistant_message", "error"}));
    json::Object error = end();
    EXPECT_EQ(error["errorClass"], "output_invalid");
    EXPECT_EQ(error["partialText"], "{}");
    EXPECT_EQ(error["finishReason"], "end_turn");
    EXPECT_EQ(error["structuredOutput"], structured(false, "none"));
  }
}

TEST_F(OutputTest, ToolsThatAreCalledInsteadOfARepairAreNotRun) {
  World world(disk, R"({"turns":[{"text":["Oslo"]},{"toolCalls":[{"name":"look"}]}]})");
  client.spec.tools = share_tools({client_tool("look")});
  run(world);
  EXPECT_EQ(types(), (Types{"assistant_delta", "assistant_message", "assistant_message", "error"}));
  EXPECT_EQ(end()["errorClass"], "output_invalid");
}

TEST_F(OutputTest, AnswerThatIsCutOffIsNotAskedForAgain) {
  World world(disk, R"({"turns":[{"text":["{\"city\":"],"finishReason":"max_tokens"}]})");
  run(world);
  EXPECT_EQ(types(), (Types{"assistant_delta", "assistant_message", "error"}));
  EXPECT_EQ(end()["errorClass"], "truncation");
  EXPECT_EQ(end()["partialText"], R"({"city":)");
}

TEST_F(OutputTest, SchemaThatTheVendorRefusesIsToldInWords) {
  World world(disk, R"({"turns":[{"text":["Oslo"]},{"text":["{\"city\":\"Oslo\"}"]}]})");
  world.mechanism = OutputMechanism::native;
  watch(world, [](const llm::TurnRequest& request) { return request.output_schema != nullptr; });
  client.spec.system_prompt = "Be brief.";
  run(world);
  EXPECT_EQ(end()["structuredOutput"], structured(true, "none", true));
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_TRUE(asked[0].has_schema);
  EXPECT_FALSE(asked[1].has_schema);
  EXPECT_TRUE(asked[1].system.starts_with(
      "Be brief.\n\nGive the final answer as JSON of this JSON Schema, and nothing else: {"));
  EXPECT_FALSE(asked[2].has_schema) << "it is not refused twice";
  EXPECT_EQ(asked[2].system, asked[1].system);
}

TEST_F(OutputTest, FilesStayInTheRequestWhenTheSchemaIsToldInWords) {
  World world(disk, kGood);
  world.mechanism = OutputMechanism::native;
  watch(world, [](const llm::TurnRequest& request) { return request.output_schema != nullptr; });
  client.spec = spec_with_files({}, {sent_file("a.txt", "bytes of a")});
  client.spec.output_schema = city_schema();
  run(world);
  ASSERT_EQ(asked.size(), 2U);
  EXPECT_FALSE(asked[1].has_schema);
  EXPECT_EQ(world.shown_files, std::vector<std::string>{"a.txt: bytes of a"});
}

TEST_F(OutputTest, VendorThatRefusesTheSchemaFailsAStrictRun) {
  World world(disk, kGood);
  world.mechanism = OutputMechanism::answer_tool;
  watch(world, [](const llm::TurnRequest& request) { return request.output_schema != nullptr; });
  client.spec.output_schema = city_schema(Enforcement::strict);
  run(world);
  EXPECT_EQ(types(), Types{"error"});
  EXPECT_EQ(end()["errorClass"], "invalid_request");
  EXPECT_EQ(end()["apiStatus"], 400);
  EXPECT_EQ(end()["structuredOutput"], structured(false, "synthetic_tool"));
  EXPECT_EQ(asked.size(), 1U);
}

TEST_F(OutputTest, RefusalThatIsNotAboutTheSchemaStaysOne) {
  World world(disk, kGood);
  world.mechanism = OutputMechanism::native;
  watch(world, [](const llm::TurnRequest&) { return true; });
  run(world);
  EXPECT_EQ(end()["errorClass"], "invalid_request");
  EXPECT_EQ(asked.size(), 2U);
}

TEST_F(OutputTest, SchemaThatCannotBeUsedIsRefusedWithItsPlace) {
  World world(disk, kGood);
  client.spec.output_schema->schema = share_schema({{"properties", {{"a", {{"type", "strin"}}}}}});
  auto created = world.result_of(world.engine.create(someone(), client.spec, {}));
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(created.error().pointer(), "/outputSchema/schema/properties/a/type");
}

TEST_F(OutputTest, ReasoningLevelIsPassedOnAndNamedAtTheEnd) {
  struct Case {
    std::optional<int> level;
    json::Value effort;
  };
  client.spec.output_schema.reset();
  for (const Case& one : {Case{{}, nullptr}, Case{0, "off"}, Case{36, "medium"}}) {
    disk.data = make_memory_store_data();
    client = {.spec = client.spec};
    client.spec.reasoning_level = one.level;
    asked.clear();
    World world(disk, R"({"turns":[{"thinking":["hm"],"text":["a"]}]})");
    watch(world);
    run(world);
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].level, one.level);
    json::Object model = end()["model"].as_object();
    EXPECT_EQ(model["reasoningEffort"], one.effort);
    EXPECT_EQ(types()[0], one.level.value_or(0) > 0 ? "thinking_delta" : "assistant_delta");
  }
}

}  // namespace
}  // namespace errand::engine::testing::output_test
