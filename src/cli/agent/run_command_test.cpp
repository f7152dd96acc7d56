#include "cli/agent/run_command.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/agent/agent_session.hpp"
#include "json/write.hpp"

namespace errand::cli::run_command_test {
namespace {

namespace fs = std::filesystem;

class RunSpecTest : public testing::Test {
 protected:
  RunSpecTest() {
    std::string pattern = (fs::temp_directory_path() / "errand-spec-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RunSpecTest() override { fs::remove_all(folder_); }

  std::string write(std::string_view text) {
    fs::path file = folder_ / "schema.json";
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
  // The spec as JSON, or what is wrong.
  static std::string spec(const RunOptions& options) {
    auto agent = make_agent_spec(options.agent);
    auto made = agent ? make_run_spec(options, *agent) : agent;
    return made ? json::write(to_json(*made)) : made.error().message();
  }
  std::string with_schema(std::string_view text) {
    std::string shown = spec({.prompt = "Go.", .output_schema = write(text)});
    std::size_t name = shown.find(folder_.string());
    return name == std::string::npos ? shown : shown.erase(name, folder_.string().size() + 1);
  }

  fs::path folder_;
};

TEST_F(RunSpecTest, HasWhatTheFlagsSay) {
  EXPECT_EQ(spec({.prompt = "Go."}), R"({"prompt":"Go.","tools":[]})");
  AgentOptions agent{.model = "fast", .system = "Be kind.", .reasoning = "low", .max_turns = 3};
  EXPECT_EQ(spec({.prompt = "Go.", .agent = agent, .output_schema = write(R"({"type":"object"})")}),
            R"({"modelId":"fast","systemPrompt":"Be kind.","prompt":"Go.","tools":[],)"
            R"("budgets":{"maxToolTurns":3},"reasoningLevel":30,)"
            R"("outputSchema":{"schema":{"type":"object"}}})");
}

TEST_F(RunSpecTest, AModelIsToldOfACommandThatNobodyAnswers) {
  EXPECT_EQ(spec({.prompt = "Go.", .agent = {.shell = true}}),
            R"({"prompt":"Go.","tools":[],"budgets":{"onLocalToolTimeout":"continue"}})");
}

TEST_F(RunSpecTest, AReasoningLevelIsAWordOrANumber) {
  EXPECT_EQ(spec({.prompt = "Go.", .agent = {.reasoning = "0"}}),
            R"({"prompt":"Go.","tools":[],"reasoningLevel":0})");
  EXPECT_EQ(spec({.prompt = "Go.", .agent = {.reasoning = "100"}}),
            R"({"prompt":"Go.","tools":[],"reasoningLevel":100})");
  EXPECT_EQ(spec({.prompt = "Go.", .agent = {.reasoning = "101"}}),
            "--reasoning 101: expected off, low, medium, high, or 0 to 100");
  EXPECT_EQ(spec({.prompt = "Go.", .agent = {.reasoning = "much"}}),
            "--reasoning much: expected off, low, medium, high, or 0 to 100");
}

TEST_F(RunSpecTest, ASchemaFileThatIsNoneIsNamed) {
  EXPECT_EQ(with_schema("[]"),
            "--output-schema schema.json: expected a JSON Schema, which is an object");
  EXPECT_TRUE(with_schema("{").starts_with("--output-schema: schema.json:1:"));
  EXPECT_EQ(with_schema(std::string(2'000'000, ' ')),
            "--output-schema: the file schema.json has more than 1048576 bytes");
  EXPECT_EQ(spec({.prompt = "Go.", .output_schema = "/nonexistent"}),
            "--output-schema: cannot read the file /nonexistent: No such file or directory");
}

TEST_F(RunSpecTest, AnEmptyPromptIsRefused) {
  EXPECT_EQ(spec({.prompt = ""}), "the prompt is empty");
}

}  // namespace
}  // namespace errand::cli::run_command_test
