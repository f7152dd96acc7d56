#include <errand/toolkits.hpp>

#include <gtest/gtest.h>

#include <errand/runtime.hpp>
#include <errand/testing.hpp>

namespace errand::v1::toolkits_test {
namespace {

std::vector<std::string> names_of(const Toolkit& toolkit) {
  std::vector<std::string> names;
  for (const Tool& tool : toolkit.tools()) names.push_back(tool.name());
  return names;
}

ToolResult call(const Toolkit& toolkit, std::string_view name, const Json& arguments) {
  ToolContext context;
  return toolkit.execute(context, name, arguments);
}

TEST(Toolkits, FilesInMemoryAreReadAndWrittenByARun) {
  toolkits::MemoryFiles memory({{"plan.md", "bake bread"}});
  auto model = scripted(
      {{.calls = {{"read_file", Json::object({{"path", "plan.md"}})},
                  {"write_file", Json::object({{"path", "done.md"}, {"content", "baked"}})}}},
       {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  runtime.run({.prompt = "Go.", .toolkits = {toolkits::files(memory)}});
  EXPECT_EQ(model->questions().at(1).messages.back().results.at(0).text, "bake bread");
  EXPECT_EQ(memory.all(),
            (std::map<std::string, std::string>{{"done.md", "baked"}, {"plan.md", "bake bread"}}));
}

TEST(Toolkits, FilesOfADirectoryAreReadOnlyUnlessAsked) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(toolkits::files(testing::TempDir())),
            (Names{"read_file", "list_files", "search_files"}));
  EXPECT_EQ(names_of(toolkits::files(testing::TempDir(), toolkits::Access::write)),
            (Names{"read_file", "list_files", "search_files", "write_file", "edit_file"}));
  EXPECT_THROW(toolkits::files("/nonexistent"), Error);
}

TEST(Toolkits, TheShellAsksBeforeEachCommand) {
  std::vector<std::string> asked;
  Toolkit shell =
      toolkits::shell({.directory = testing::TempDir(), .approve = [&](const std::string& command) {
                         asked.push_back(command);
                         return command == "echo hi";
                       }});
  ToolResult allowed = call(shell, "shell", Json::object({{"command", "echo hi"}}));
  EXPECT_TRUE(allowed.ok());
  EXPECT_NE(allowed.text().find("hi"), std::string::npos) << allowed.text();
  EXPECT_FALSE(call(shell, "shell", Json::object({{"command", "echo no"}})).ok());
  EXPECT_EQ(asked, (std::vector<std::string>{"echo hi", "echo no"}));
  EXPECT_THROW(toolkits::shell({}), Error);
}

TEST(Toolkits, SmallOnesAreCalled) {
  EXPECT_EQ(
      call(toolkits::calculator(), "calculator", Json::object({{"expression", "6*7"}})).text(),
      "42");
  EXPECT_TRUE(call(toolkits::time(), "current_time", Json::object()).ok());
}

TEST(Toolkits, TheWebIsReachedByItsRules) {
  EXPECT_FALSE(
      call(toolkits::web_fetch(), "web_fetch", Json::object({{"url", "http://127.0.0.1:9/"}}))
          .ok());
  EXPECT_THROW(toolkits::web_fetch({.allow_networks = {"nowhere"}}), Error);
  EXPECT_THROW(toolkits::web_search({.provider = "nobody", .key = "k"}), Error);
  EXPECT_EQ(names_of(toolkits::web_search({.provider = "exa", .key = "k"})),
            (std::vector<std::string>{"web_search"}));
}

TEST(Toolkits, TheyAreComposed) {
  Toolkit both = toolkits::time().plus(toolkits::calculator());
  EXPECT_EQ(names_of(both), (std::vector<std::string>{"current_time", "calculator"}));
}

}  // namespace
}  // namespace errand::v1::toolkits_test
