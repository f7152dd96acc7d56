#include "cli/command_info.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.hpp"

namespace errand::cli {
namespace {

// The parser shows the accepted values as "TEXT:{text,json}".
std::vector<std::string> choices_of(const CLI::Option* option) {
  std::string shown = option->get_type_name();
  std::size_t open = shown.find('{');
  std::size_t close = shown.rfind('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(shown.substr(open + 1, close - open - 1), ',');
}

FlagInfo describe_option(const CLI::Option* option) {
  bool is_flag = option->get_expected_max() == 0;
  bool is_argument = option->get_positional();
  return {.name = is_argument ? option->get_name(true) : "--" + option->get_lnames().front(),
          .kind = is_flag       ? ""
                  : is_argument ? option->get_name(true)
                                : option->get_option_text(),
          .description = option->get_description(),
          .choices = choices_of(option)};
}

std::string example_of(const CLI::App* command) {
  std::string footer = command->get_footer();
  constexpr std::string_view kLabel = "Example:";
  std::size_t label = footer.find(kLabel);
  if (label == std::string::npos) return "";
  std::string_view rest = std::string_view(footer).substr(label + kLabel.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \n"), rest.size()));
  return std::string(rest);
}

}  // namespace

std::string full_name(const CLI::App* command) {
  if (!command->get_parent()) return command->get_name();
  return cat(full_name(command->get_parent()), " ", command->get_name());
}

CommandInfo describe(const CLI::App* command) {
  CommandInfo out{.name = full_name(command),
                  .description = command->get_description(),
                  .example = example_of(command)};
  for (const CLI::Option* option : command->get_options()) {
    auto& list = option->get_positional() ? out.arguments : out.flags;
    list.push_back(describe_option(option));
  }
  for (const CLI::App* below : command->get_subcommands({})) {
    out.commands.push_back(describe(below));
  }
  return out;
}

std::vector<const CommandInfo*> flattened(const CommandInfo& command) {
  std::vector<const CommandInfo*> out{&command};
  for (const CommandInfo& below : command.commands) {
    auto more = flattened(below);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace errand::cli
