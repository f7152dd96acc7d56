#include "cli/completion.hpp"

#include <gtest/gtest.h>

namespace errand::cli::completion_test {
namespace {

// Two commands, one of them with everything that can be completed.
CommandInfo small_tree() {
  CommandInfo serve{.name = "errand serve", .description = "Run the server; it's safe."};
  serve.flags = {{.name = "--data", .kind = "DIR", .description = "Data"},
                 {.name = "--listen", .kind = "HOST:PORT", .description = "Where"},
                 {.name = "--log-format",
                  .kind = "FORMAT",
                  .description = "Logs",
                  .choices = {"text", "json"}},
                 {.name = "--fast", .description = "Quick"},
                 {.name = "--model", .kind = "MODEL", .description = "Model"}};
  CommandInfo replay{.name = "errand replay", .description = "Play."};
  replay.arguments = {{.name = "FILE", .kind = "FILE"}};
  CommandInfo root{.name = "errand"};
  CommandInfo show{.name = "errand show", .description = "Show."};
  show.arguments = {{.name = "RUN", .kind = "RUN"}};
  root.commands = {serve, replay, show};
  return root;
}

TEST(Completion, FishGetsALineForEachWord) {
  std::string script = completion_script("fish", small_tree());
  constexpr std::string_view kLines =
      "complete -c errand -f\n"
      "complete -c errand -n \"__errand_is 'errand'\" -a serve -d 'Run the server; it\\'s safe.'\n"
      "complete -c errand -n \"__errand_is 'errand'\" -a replay -d 'Play.'\n"
      "complete -c errand -n \"__errand_is 'errand'\" -a show -d 'Show.'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l data -x -a "
      "'(__fish_complete_directories)' -d 'Data'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l listen -x -d 'Where'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l log-format -x -a 'text json' -d "
      "'Logs'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l fast -d 'Quick'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l model -x -a "
      "'(__errand_values MODEL)' -d 'Model'\n"
      "complete -c errand -n \"__errand_is 'errand replay'\" -F\n"
      "complete -c errand -n \"__errand_is 'errand show'\" -a '(__errand_values RUN)'\n";
  EXPECT_TRUE(script.ends_with(kLines)) << script;
}

TEST(Completion, ZshGetsWordsWithWhatTheyMean) {
  std::string script = completion_script("zsh", small_tree());
  EXPECT_NE(script.find("        'serve:Run the server; it'\\''s safe.'\n"), std::string::npos);
  EXPECT_NE(script.find("    'errand serve --log-format') compadd -- text json; return ;;\n"),
            std::string::npos);
  EXPECT_NE(script.find("    'errand serve --data') _files -/; return ;;\n"), std::string::npos);
  EXPECT_NE(script.find("    'errand serve --model') _errand_values MODEL; return ;;\n"),
            std::string::npos);
  EXPECT_NE(script.find("      )\n      _errand_values RUN\n      ;;\n"), std::string::npos);
}

}  // namespace
}  // namespace errand::cli::completion_test
