#include "cli/command_line.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/version.hpp"
#include "cli/terminal/exit_code.hpp"

namespace errand::cli::command_line_test {
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

// The words of a command, quotes understood as a shell does.
std::vector<std::string> split(std::string_view line) {
  std::vector<std::string> out;
  bool is_quoted = false;
  bool is_open = false;
  for (char c : line) {
    if (c == '"') is_quoted = !is_quoted;
    bool ends_word = c == ' ' && !is_quoted;
    if (!ends_word && !is_open) out.emplace_back();
    is_open = !ends_word;
    if (!ends_word && c != '"') out.back() += c;
  }
  return out;
}

TEST(CommandLine, EveryHelpFitsOneScreenAndEndsWithAnExample) {
  CommandInfo root = describe_commands();
  for (const CommandInfo* command : flattened(root)) {
    std::vector<std::string> words = split(command->name);
    words.erase(words.begin());
    words.push_back("--help");
    Outcome help = run(words);
    EXPECT_EQ(help.exit_code, kExitOk);
    std::istringstream lines(help.out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80U) << line;
    // An agent has so many flags that they take two screens.
    bool has_agent = command->name == "errand run" || command->name == "errand chat";
    EXPECT_LE(count, has_agent ? 48 : 24) << help.out;
    // The list of all commands leaves no room for a line of its own.
    std::string_view label = command == &root ? "\nExample: " : "\n\nExample:\n  ";
    std::string end = cat(label, command->example, "\n");
    EXPECT_TRUE(help.out.ends_with(end)) << help.out;
  }
}

// Follows the words of an example through the commands: its command, and how many arguments it has;
// or the word that is wrong.
std::string follow_example(const CommandInfo& root, std::string_view example) {
  std::string_view line = example.substr(example.find("errand"));
  line = line.substr(0, line.find_first_of(")<>"));
  const CommandInfo* command = &root;
  std::size_t arguments = 0;
  std::vector<std::string> words = split(line);
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto below = std::find_if(command->commands.begin(), command->commands.end(),
                              [&](const CommandInfo& one) { return one.word() == words[i]; });
    if (below != command->commands.end()) {
      command = &*below;
      continue;
    }
    if (!words[i].starts_with("--")) {
      ++arguments;
      continue;
    }
    auto flag = std::find_if(command->flags.begin(), command->flags.end(),
                             [&](const FlagInfo& one) { return one.name == words[i]; });
    if (flag == command->flags.end()) return cat("there is no ", words[i]);
    i += flag->kind.empty() ? 0 : 1;
  }
  return cat(command->name, " with ", arguments, " arguments");
}

TEST(CommandLine, EveryExampleIsOneOfItsCommand) {
  CommandInfo root = describe_commands();
  for (const CommandInfo* command : flattened(root)) {
    std::string found = follow_example(root, command->example);
    if (!command->commands.empty()) {
      EXPECT_TRUE(found.starts_with(command->name)) << found;  // that of one below it
      continue;
    }
    EXPECT_EQ(found, cat(command->name, " with ", command->arguments.size(), " arguments"));
  }
}

TEST(CommandLine, AloneItPrintsTheHelpAndFails) {
  Outcome help = run({"--help"});
  EXPECT_EQ(run({}), (Outcome{.exit_code = kExitUsage, .out = help.out}));
  Outcome runs_help = run({"runs", "--help"});
  EXPECT_EQ(run({"runs"}), (Outcome{.exit_code = kExitUsage, .out = runs_help.out}));
}

Outcome refused(const std::string& message, const std::string& hint) {
  return {.exit_code = kExitUsage, .err = cat("errand: ", message, "\nhint: ", hint, "\n")};
}

TEST(CommandLine, NamesWhatItDoesNotKnowAndWhatMayBeMeant) {
  EXPECT_EQ(run({"nope"}),
            refused("there is no command \"errand nope\"", "'errand --help' shows what there is"));
  EXPECT_EQ(run({"sevre"}), refused("there is no command \"errand sevre\"",
                                    "did you mean serve? 'errand --help' shows what there is"));
  EXPECT_EQ(run({"runs", "lst", "--json"}), refused("errand runs has no flag \"--json\"",
                                                    "'errand runs --help' shows what there is"));
  EXPECT_EQ(run({"runs", "lst"}),
            refused("there is no command \"errand runs lst\"",
                    "did you mean list? 'errand runs --help' shows what there is"));
  EXPECT_EQ(run({"models", "--nope"}), refused("errand models has no flag \"--nope\"",
                                               "'errand models --help' shows what there is"));
  EXPECT_EQ(run({"run", "--modle=fast"}),
            refused("errand run has no flag \"--modle\"",
                    "did you mean --model? 'errand run --help' shows what there is"));
  EXPECT_EQ(run({"run", "Hi.", "--yess"}),
            refused("errand run has no flag \"--yess\"",
                    "did you mean --yes? 'errand run --help' shows what there is"));
  EXPECT_EQ(run({"run", "say", "hello"}),
            refused("\"hello\" is one argument too many for errand run",
                    "put text with spaces into quotes; 'errand run --help' shows what there is"));
  EXPECT_EQ(run({"run", "Hi.", "--model"}),
            refused("--model needs a value", "'errand run --help' shows what there is"));
}

TEST(CommandLine, SaysWhatToUseInPlaceOfFlagsOfOtherAgents) {
  EXPECT_EQ(run({"run", "Hi.", "--discovery"}),
            refused("--discovery is not needed: a run with --room and without --require-toolkit "
                    "has the tools of all public toolkits of the room",
                    "'errand run --help' shows what there is"));
  EXPECT_EQ(run({"chat", "--storage"}),
            refused("--storage is not offered: 'errand room host ROOM --files DIR' lends files to "
                    "the room, and --files DIR lends them to this run alone",
                    "'errand chat --help' shows what there is"));
  EXPECT_EQ(run({"run", "Hi.", "--advanced-shell"}),
            refused("--advanced-shell is not offered: --shell lets the model run commands that you "
                    "approve",
                    "'errand run --help' shows what there is"));
  EXPECT_EQ(run({"chat", "--document-authoring"}),
            refused("--document-authoring is not offered, because rooms have no documents: --mcp "
                    "SERVER and --require-toolkit NAME lend the model tools that write files",
                    "'errand chat --help' shows what there is"));
  EXPECT_EQ(run({"models", "--storage"}), refused("errand models has no flag \"--storage\"",
                                                  "'errand models --help' shows what there is"));
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
           {"run", "a", "--attach", "/nonexistent"},
           {"run", "a", "--detach", "--embedded"},
           {"run", "\xff"},
           {"runs", "list", "--limit", "0"},
           {"runs", "list", "--status", "bogus"},
           {"config", "check", "/nonexistent"},
           {"help", "nope"},
           {"runs", "tail", "run_1", "--after", "-1"},
           {"runs", "show"},
           {"keys", "revoke"},
           {"serve", "--listen", "nowhere"},
           {"completion", "tcsh"},
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
  EXPECT_EQ(run({"keys", "list", "--data", "/nonexistent"}), expected);
}

TEST(CommandLine, PrintsItsVersion) {
  Outcome expected{.out = cat("errand ", version(), "\n")};
  EXPECT_EQ(run({"version"}), expected);
  EXPECT_EQ(run({"--version"}), expected);
}

}  // namespace
}  // namespace errand::cli::command_line_test
