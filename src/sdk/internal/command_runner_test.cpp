#include "sdk/internal/command_runner.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "support/run_task.hpp"

namespace errand::sdk::command_runner_test {
namespace {

class NoApprover final : public Approver {
 public:
  Task<bool> approve(ApprovalRequest) override { co_return false; }
};

// A runner of this process whose model reads two files and runs a command.
class CommandRunnerTest : public testing::Test {
 protected:
  CommandRunnerTest() {
    std::string pattern = testing::TempDir() + "command-runner-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    write("plan.md", "bake bread");
    write("withheld", "k3y");
    write("turns.json", R"({"turns":[
        {"toolCalls":[{"name":"read_file","args":{"path":"plan.md"}},
                      {"name":"read_file","args":{"path":"withheld"}},
                      {"name":"shell","args":{"command":"true"}}]},
        {"text":["Done."]}]})");
    write("errand.json", R"({"models":[{"id":"s","provider":"scripted","script":"turns.json"}]})");
  }
  ~CommandRunnerTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // What the tools have said, each with the name of its tool, and how the run ended.
  Task<std::vector<std::string>> said(CommandRunner* runner) {
    std::vector<std::string> out;
    Spec spec{.prompt = "Go.", .tools = runner->lent()};
    auto made = co_await runner->api().create(std::move(spec));
    if (!made) co_return std::vector{made.error().describe()};
    FollowedRun run = runner->follow(*made);
    for (;;) {
      auto item = co_await run->next();
      if (!item) co_return std::vector{item.error().describe()};
      if (const auto* result = std::get_if<ToolResultEvent>(&item->event.event)) {
        out.push_back(cat(result->name, ": ", result->text.substr(0, result->text.find('.'))));
      }
      auto end = end_of(item->event.event);
      if (!end) continue;
      out.push_back(end->message);
      co_await runner->leave(run);
      co_await runner->stop(pool_);
      co_return out;
    }
  }

  std::filesystem::path folder_;
  asio::io_context io_{1};
  BlockingPool pool_{1, 1};
  NoApprover approver_;
};

TEST_F(CommandRunnerTest, LendsToolkitsToARunOfItsLoop) {
  auto runner = CommandRunner::here(io_, {}, (folder_ / "errand.json").string());
  ASSERT_TRUE(runner) << runner.error().describe();
  auto lent = (*runner)->lend({.files = folder_.string(),
                               .withheld = folder_ / "withheld",
                               .shell = true,
                               .approver = &approver_});
  ASSERT_TRUE(lent) << lent.error().describe();
  ASSERT_TRUE((*runner)->open(STDERR_FILENO));
  std::vector<std::string> lines = run_task(io_, said(runner->get()));
  std::sort(lines.begin(), lines.end());  // calls of one turn end in any order
  EXPECT_EQ(lines,
            (std::vector<std::string>{"", "read_file: \"withheld\" is not shared: it holds a key",
                                      "read_file: bake bread",
                                      "shell: The user refused to let this command run"}));
}

TEST_F(CommandRunnerTest, NamesTheFlagOfAToolThatCannotBeLent) {
  auto error = [&](CommandTools asked) {
    auto runner = CommandRunner::here(io_, {}, (folder_ / "errand.json").string());
    return (*runner)->lend(asked).error().message();
  };
  EXPECT_TRUE(error({.files = "/nonexistent"}).starts_with("--files: "));
  EXPECT_TRUE(error({.web_fetch = true, .allow_networks = {"x"}}).starts_with("--allow-network: "));
}

}  // namespace
}  // namespace errand::sdk::command_runner_test
