#include "cli/agent/run_body.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace errand::cli {
namespace {

namespace fs = std::filesystem;

class RunBodyTest : public testing::Test {
 protected:
  RunBodyTest() {
    std::string pattern = (fs::temp_directory_path() / "errand-body-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RunBodyTest() override { fs::remove_all(folder_); }

  std::string write(std::string_view text) {
    fs::path file = folder_ / "schema.json";
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  static std::string body(const RunOptions& options) {
    auto made = make_run_body(options, {});
    return made ? *made : made.error().message();
  }
  std::string with_schema(std::string_view text) {
    std::string shown = body({.prompt = "Go.", .output_schema = write(text)});
    std::size_t name = shown.find(folder_.string());
    return name == std::string::npos ? shown : shown.erase(name, folder_.string().size() + 1);
  }

  fs::path folder_;
};

TEST_F(RunBodyTest, HasWhatTheFlagsSay) {
  EXPECT_EQ(body({.prompt = "Go."}), R"({"prompt":"Go."})");
  AgentOptions agent{.model = "fast", .system = "Be kind.", .reasoning = "low", .max_turns = 3};
  EXPECT_EQ(body({.prompt = "Go.", .agent = agent, .output_schema = write(R"({"type":"object"})")}),
            R"({"modelId":"fast","systemPrompt":"Be kind.","budgets":{"maxToolTurns":3},)"
            R"("reasoningLevel":"low","outputSchema":{"schema":{"type":"object"}},)"
            R"("prompt":"Go."})");
}

TEST_F(RunBodyTest, ACommandMayWaitForItsUser) {
  EXPECT_EQ(body({.prompt = "Go.", .agent = {.shell = true}}),
            R"({"budgets":{"localToolTimeoutMs":3600000},"prompt":"Go."})");
}

TEST_F(RunBodyTest, AReasoningLevelIsAWordOrANumber) {
  EXPECT_EQ(body({.prompt = "Go.", .agent = {.reasoning = "0"}}),
            R"({"reasoningLevel":0,"prompt":"Go."})");
  EXPECT_EQ(body({.prompt = "Go.", .agent = {.reasoning = "100"}}),
            R"({"reasoningLevel":100,"prompt":"Go."})");
  EXPECT_EQ(body({.prompt = "Go.", .agent = {.reasoning = "101"}}),
            "--reasoning 101: expected off, low, medium, high, or 0 to 100");
  EXPECT_EQ(body({.prompt = "Go.", .agent = {.reasoning = "much"}}),
            "--reasoning much: expected off, low, medium, high, or 0 to 100");
}

TEST_F(RunBodyTest, ASchemaFileThatIsNoneIsNamed) {
  EXPECT_EQ(with_schema("[]"),
            "--output-schema schema.json: expected a JSON Schema, which is an object");
  EXPECT_TRUE(with_schema("{").starts_with("--output-schema schema.json: "));
  EXPECT_EQ(with_schema(std::string(2'000'000, ' ')),
            "--output-schema schema.json: the file is too large for a schema");
  EXPECT_EQ(body({.prompt = "Go.", .output_schema = "/nonexistent"}),
            "--output-schema: cannot read the file /nonexistent");
}

TEST_F(RunBodyTest, AnEmptyPromptIsRefused) {
  EXPECT_EQ(body({.prompt = ""}), "the prompt is empty");
}

}  // namespace
}  // namespace errand::cli
