#include "cli/command_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"

namespace errand::cli {
namespace {

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void PrintTo(const Outcome& outcome, std::ostream* stream) {
  *stream << outcome.exit_code << "\nout: " << outcome.out << "\nerr: " << outcome.err;
}

Outcome run(std::vector<std::string> words) {
  words.insert(words.begin(), "errand");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  int exit_code = run_command_line(static_cast<int>(argv.size()), argv.data());
  return {.exit_code = exit_code,
          .out = testing::internal::GetCapturedStdout(),
          .err = testing::internal::GetCapturedStderr()};
}

const std::vector<std::vector<std::string>> kCommands = {
    {},
    {"serve"},
    {"run"},
    {"runs"},
    {"runs", "list"},
    {"runs", "show"},
    {"runs", "tail"},
    {"runs", "cancel"},
    {"runs", "fork"},
    {"runs", "export"},
    {"runs", "replay"},
    {"keys"},
    {"keys", "create"},
    {"keys", "list"},
    {"keys", "revoke"},
    {"models"},
    {"backup"},
    {"restore"},
    {"check-data"},
    {"fake-model"},
    {"version"},
};

TEST(CommandLine, EveryHelpFitsOneScreenAndEndsWithAnExample) {
  for (std::vector<std::string> words : kCommands) {
    words.push_back("--help");
    Outcome help = run(words);
    EXPECT_EQ(help.exit_code, kExitOk);
    std::istringstream lines(help.out);
    std::string line;
    std::string before;
    int count = 0;
    for (std::string next; std::getline(lines, next); ++count) {
      EXPECT_LE(next.size(), 80U) << next;
      before = std::exchange(line, next);
    }
    EXPECT_LE(count, 24) << help.out;
    EXPECT_NE(help.out.find("\nExample:\n"), std::string::npos) << help.out;
    EXPECT_TRUE(line.starts_with("  ")) << help.out;
  }
}

TEST(CommandLine, AloneItPrintsTheHelpAndFails) {
  Outcome help = run({"--help"});
  EXPECT_EQ(run({}), (Outcome{.exit_code = kExitUsage, .out = help.out}));
  Outcome runs_help = run({"runs", "--help"});
  EXPECT_EQ(run({"runs"}), (Outcome{.exit_code = kExitUsage, .out = runs_help.out}));
}

TEST(CommandLine, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(run({"nope"}), (Outcome{.exit_code = kExitUsage,
                                    .err = "errand: there is no command \"errand nope\"\n"
                                           "hint: 'errand --help' shows what there is\n"}));
  EXPECT_EQ(run({"runs", "nope"}),
            (Outcome{.exit_code = kExitUsage,
                     .err = "errand: there is no command \"errand runs nope\"\n"
                            "hint: 'errand runs --help' shows what there is\n"}));
  EXPECT_EQ(run({"models", "--nope"}),
            (Outcome{.exit_code = kExitUsage,
                     .err = "errand: The following argument was not expected: --nope\n"
                            "hint: 'errand models --help' shows what there is\n"}));
}

TEST(CommandLine, RefusesWrongArguments) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"run"},
           {"run", "a", "b"},
           {"run", ""},
           {"run", "a", "--max-turns", "-1"},
           {"run", "a", "--max-turns", "many"},
           {"run", "a", "--files", "/nonexistent"},
           {"run", "a", "--server", "ftp://x", "--key", "k"},
           {"run", "a", "--embedded", "--server", "http://127.0.0.1:1"},
           {"run", "a", "--config", "/nonexistent", "--key", "k"},
           {"run", "a", "--config", "/nonexistent"},
           {"run", "a", "--output-schema", "/nonexistent"},
           {"run", "a", "--output-schema", "/"},
           {"run", "a", "--reasoning", "much"},
           {"run", "a", "--reasoning", "101"},
           {"run", "a", "--yes"},
           {"run", "a", "--allow-network", "10.0.0.0/8"},
           {"run", "a", "--web-fetch", "--allow-network", "everything"},
           {"runs", "list", "--limit", "0"},
           {"runs", "tail", "run_1", "--after", "-1"},
           {"runs", "show"},
           {"keys", "revoke"},
           {"serve", "--listen", "nowhere"},
           {"fake-model"},
           {"fake-model", "--script", "/nonexistent"},
           {"fake-model", "--script", "/nonexistent", "--listen", "nowhere"},
       }) {
    Outcome outcome = run(words);
    EXPECT_EQ(outcome.exit_code, kExitUsage) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(outcome.err.empty());
  }
}

TEST(CommandLine, SaysWhatToDoWithoutAServer) {
  Outcome expected{.exit_code = kExitUnreachable,
                   .err =
                       "errand: no server: there is no file /nonexistent/credentials\n"
                       "hint: start one with 'errand serve', or name one with --server URL "
                       "--key KEY\n"};
  EXPECT_EQ(run({"runs", "list", "--data", "/nonexistent"}), expected);
  EXPECT_EQ(run({"models", "--data", "/nonexistent"}), expected);
}

TEST(CommandLine, PrintsItsVersion) {
  Outcome expected{.out = "errand " ERRAND_VERSION "\n"};
  EXPECT_EQ(run({"version"}), expected);
  EXPECT_EQ(run({"--version"}), expected);
}

}  // namespace
}  // namespace errand::cli
