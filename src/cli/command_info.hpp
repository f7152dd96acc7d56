#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace errand::cli {

// A flag or a positional argument of a command.
struct FlagInfo {
  std::string name;                  // "--data", or "RUN" for an argument
  std::string kind;                  // of the value, such as "DIR"; empty if the flag takes none
  std::string description;           // one line
  std::vector<std::string> choices;  // the accepted values; empty if any value is accepted
};

// A command as the completion scripts and the errors about mistyped words see it.
struct CommandInfo {
  std::string name;  // in full: "errand runs list"
  std::string description;
  std::string example;          // the last line of the help
  std::vector<FlagInfo> flags;  // including flags that the help leaves out
  std::vector<FlagInfo> arguments;
  std::vector<CommandInfo> commands;  // the subcommands

  // The last word of the name.
  std::string word() const { return name.substr(name.rfind(' ') + 1); }
};

std::string full_name(const CLI::App* command);
// `command` with all of its subcommands.
CommandInfo describe(const CLI::App* command);

// The command and all of its subcommands, outer commands first.
std::vector<const CommandInfo*> flattened(const CommandInfo& command);

}  // namespace errand::cli
