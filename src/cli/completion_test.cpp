#include "cli/completion.hpp"

#include <gtest/gtest.h>

namespace errand::cli {
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
                 {.name = "--fast", .description = "Quick"}};
  CommandInfo replay{.name = "errand replay", .description = "Play."};
  replay.arguments = {{.name = "FILE", .kind = "FILE"}};
  CommandInfo root{.name = "errand"};
  root.commands = {serve, replay};
  return root;
}

TEST(Completion, FishGetsALineForEachWord) {
  std::string script = completion_script("fish", small_tree());
  constexpr std::string_view kLines =
      "complete -c errand -f\n"
      "complete -c errand -n \"__errand_is 'errand'\" -a serve -d 'Run the server; it\\'s safe.'\n"
      "complete -c errand -n \"__errand_is 'errand'\" -a replay -d 'Play.'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l data -x -a "
      "'(__fish_complete_directories)' -d 'Data'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l listen -x -d 'Where'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l log-format -x -a 'text json' -d "
      "'Logs'\n"
      "complete -c errand -n \"__errand_is 'errand serve'\" -l fast -d 'Quick'\n"
      "complete -c errand -n \"__errand_is 'errand replay'\" -F\n";
  EXPECT_TRUE(script.ends_with(kLines)) << script;
}

TEST(Completion, ZshGetsWordsWithWhatTheyMean) {
  std::string script = completion_script("zsh", small_tree());
  EXPECT_NE(script.find("        'serve:Run the server; it'\\''s safe.'\n"), std::string::npos);
  EXPECT_NE(script.find("    'errand serve --log-format') compadd -- text json; return ;;\n"),
            std::string::npos);
  EXPECT_NE(script.find("    'errand serve --data') _files -/; return ;;\n"), std::string::npos);
}

}  // namespace
}  // namespace errand::cli
