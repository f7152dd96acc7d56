#include "tool/builtin/shell_tool.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "support/run_task.hpp"
#include "tool/builtin/kept_output.hpp"
#include "tool/builtin/shell_environment.hpp"

namespace errand::shell_tool_test {
namespace {

// Says what it is told to say, and keeps what it was asked.
class ScriptedApprover final : public Approver {
 public:
  Task<bool> approve(ApprovalRequest request) override {
    asked.push_back(std::move(request.what));
    co_return answer;
  }

  bool answer = true;
  std::vector<std::string> asked;
};

class ShellToolTest : public testing::Test {
 protected:
  ShellToolTest() {
    std::string folder = (std::filesystem::temp_directory_path() / "errand-XXXXXX").string();
    folder_ = std::filesystem::canonical(::mkdtemp(folder.data())).string();
    tool_.emplace(ShellOptions{.directory = folder_,
                               .environment = {"PATH=/usr/bin:/bin", "LANG=C", "API_KEY=s3cret"},
                               .grace = milliseconds(20)},
                  approver_);
  }
  ~ShellToolTest() override { std::filesystem::remove_all(folder_); }

  static ToolCall call(json::Object arguments) {
    return {.run = *RunId::parse("run_1"),
            .id = *ToolUseId::parse("tu_1"),
            .arguments = std::move(arguments)};
  }
  // "ok: text" or "failed: text".
  std::string outcome(json::Object arguments) {
    ToolOutcome result = run_task(io_, tool_->invoke(call(std::move(arguments)), {}));
    return cat(result.ok() ? "ok: " : "failed: ", text_of(result));
  }
  std::string outcome(std::string_view command) { return outcome({{"command", command}}); }

  asio::io_context io_{1};
  std::string folder_;
  ScriptedApprover approver_;
  std::optional<ShellTool> tool_;
};

TEST_F(ShellToolTest, TellsTheExitCodeAndWhatWasPrinted) {
  EXPECT_EQ(outcome("echo out; echo err >&2"), "ok: Exit code 0.\nout\nerr\n");
  EXPECT_EQ(outcome("echo no such thing; exit 2"), "failed: Exit code 2.\nno such thing\n");
  EXPECT_EQ(outcome("true"), "ok: Exit code 0. It printed nothing.");
  EXPECT_EQ(outcome("kill -9 $$"), "failed: The command was ended by SIGKILL. It printed nothing.");
}

TEST_F(ShellToolTest, RunsInTheDirectoryWithoutInput) {
  EXPECT_EQ(outcome("pwd; cat; echo x > file"), cat("ok: Exit code 0.\n", folder_, "\n"));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/file"));
}

TEST_F(ShellToolTest, SecretsOfTheEnvironmentStayHere) {
  EXPECT_EQ(outcome("echo $LANG ${API_KEY-none}"), "ok: Exit code 0.\nC none\n");
}

TEST_F(ShellToolTest, NothingRunsWithoutTheUsersWord) {
  approver_.answer = false;
  EXPECT_EQ(outcome("touch here"),
            "failed: The user refused to let this command run. Nothing was done. Do not try it "
            "again in another form; go on without it, or ask what to do instead.");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/here"));
  EXPECT_EQ(approver_.asked, (std::vector<std::string>{"run touch here"}));
}

TEST_F(ShellToolTest, TheUserSeesTheWholeCommandOnOneLine) {
  outcome("echo a\n\x1b[2Kecho b");
  EXPECT_EQ(approver_.asked, (std::vector<std::string>{"run echo a\\n\\x1b[2Kecho b"}));
}

TEST_F(ShellToolTest, WrongArgumentsAreNotAskedAbout) {
  EXPECT_EQ(outcome(json::Object{}),
            "failed: \"command\" is missing: expected a string (at /command)");
  EXPECT_EQ(outcome({{"command", "true"}, {"timeoutSeconds", 601}}),
            "failed: expected an integer from 1 to 600, got 601 (at /timeoutSeconds)");
  EXPECT_EQ(outcome(std::string_view("a\0b", 3)),
            "failed: a command cannot hold a NUL character (at /command)");
  EXPECT_EQ(outcome(std::string(20'001, 'x')),
            "failed: the command is longer than 20000 bytes: write it in smaller steps "
            "(at /command)");
  EXPECT_TRUE(approver_.asked.empty());
}

TEST_F(ShellToolTest, ACommandThatTakesTooLongIsEnded) {
  EXPECT_EQ(outcome({{"command", "echo begun; trap '' TERM; sleep 1000"}, {"timeoutSeconds", 1}}),
            "failed: The command took longer than 1 s and was ended.\nbegun\n");
}

TEST_F(ShellToolTest, WhatRunsInTheBackgroundDoesNotHoldItUp) {
  EXPECT_EQ(outcome("sleep 1000 & echo done"), "ok: Exit code 0.\ndone\n");
}

TEST_F(ShellToolTest, BinaryOutputIsCountedAndNotShown) {
  EXPECT_EQ(outcome("head -c 5000 /dev/zero"), "ok: Exit code 0.\n[binary output, 5000 bytes]");
  EXPECT_EQ(outcome("printf 'caf\\351 is an old word in an old file'"),
            "ok: Exit code 0.\ncaf\xEF\xBF\xBD is an old word in an old file");
}

TEST_F(ShellToolTest, ADirectoryThatIsGoneIsAFailureOfTheCall) {
  std::filesystem::remove_all(folder_);
  EXPECT_EQ(outcome("true"),
            cat("failed: cannot start /bin/sh in ", folder_, ": No such file or directory"));
}

TEST_F(ShellToolTest, ACallThatIsCancelledEndsItsCommand) {
  TaskGroup group(io_.get_executor(), [](const char*, const std::string& what) { FAIL() << what; });
  std::string started = folder_ + "/started";
  auto ignore = [](Tool* tool, ToolCall of) -> Task<void> {
    co_await tool->invoke(std::move(of), {});
  };
  group.spawn("call", ignore(&*tool_, call({{"command",
                                             "echo $$ > part; mv part started; "
                                             "sleep 1000"}})));
  while (!std::filesystem::exists(started)) run_ready(io_);
  run_task(io_, group.stop(CancelReason::user_stop));
  io_.restart();
  io_.run();  // comes to its end once the command has ended and been waited for
  std::string number;
  std::ifstream(started) >> number;
  EXPECT_FALSE(std::filesystem::exists(cat("/proc/", number)));
}

TEST_F(ShellToolTest, SaysThatItHasEffectsAndGoesAlone) {
  EXPECT_EQ(tool_->decl().annotations,
            (ToolAnnotations{.parallel_safe = false,
                             .destructive = true,
                             .timeout = std::chrono::hours(1) + std::chrono::minutes(10)}));
  EXPECT_EQ(tool_->decl().site, ToolSite::host);
}

TEST(KeptOutput, KeepsBeginningAndEndAndCountsTheRest) {
  KeptOutput output;
  output.add(std::string(10'000, 'a'));
  for (int i = 0; i < 1000; ++i) output.add(std::string(100, 'b'));
  output.add(std::string(20'000, 'c'));
  EXPECT_EQ(output.text(),
            cat(std::string(9'999, 'a'), "\n[100001 of 130000 bytes are left out here]\n",
                std::string(20'000, 'c')));
}

TEST(KeptOutput, KeepsAllOfWhatFits) {
  KeptOutput output;
  for (int i = 0; i < 300; ++i) output.add(std::string(100, 'x'));
  EXPECT_EQ(output.text(), std::string(30'000, 'x'));
}

TEST(KeptOutput, CutsBetweenCharacters) {
  KeptOutput output;
  for (int i = 0; i < 30'000; ++i) output.add("\xE2\x82\xAC");
  std::string euros;
  for (int i = 0; i < 6'666; ++i) euros += "\xE2\x82\xAC";
  EXPECT_EQ(output.text(),
            cat(euros.substr(0, 9'999), "\n[60003 of 90000 bytes are left out here]\n", euros));
}

TEST(KeptOutput, NulBytesAnywhereMakeItBinary) {
  KeptOutput output;
  output.add(std::string(20'000, 'x'));
  output.add(std::string(1, '\0'));
  output.add(std::string(40'000, 'x'));
  EXPECT_EQ(output.text(), "[binary output, 60001 bytes]");
}

TEST(ShellEnvironment, SecretsAreKnownByTheirNames) {
  for (std::string_view name :
       {"OPENAI_API_KEY", "GH_TOKEN", "github_token", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
        "PGPASSWORD", "MYSQL_PASS", "DB_PASSWD", "ERRAND_DATA", "APIKEY", "DEPLOY_KEYS",
        "GOOGLE_APPLICATION_CREDENTIALS", "SECRET", "PAT", "SIGNING_PASSPHRASE"}) {
    EXPECT_TRUE(holds_secret(name, "x")) << name;
  }
  for (std::string_view name :
       {"PATH", "HOME", "LANG", "TERM", "SSH_AUTH_SOCK", "PATTERN", "TOKENIZERS_PARALLELISM",
        "KEYBOARD", "COMPASS_DIR", "XDG_RUNTIME_DIR"}) {
    EXPECT_FALSE(holds_secret(name, "x")) << name;
  }
}

TEST(ShellEnvironment, PasswordsInUrlsAreSecrets) {
  EXPECT_TRUE(holds_secret("DATABASE_URL", "postgres://me:pw@db/x"));
  EXPECT_FALSE(holds_secret("DATABASE_URL", "postgres://db:5432/x"));
  EXPECT_FALSE(holds_secret("REPOSITORY", "ssh://git@example.com:22/x"));
  EXPECT_EQ(shell_environment({"A=1", "B_TOKEN=2", "broken", "C="}),
            (std::vector<std::string>{"A=1", "C="}));
}

}  // namespace
}  // namespace errand::shell_tool_test
