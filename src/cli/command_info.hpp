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
  std::string kind;                  // of its value, such as "DIR"; empty for a flag without one
  std::string description;           // one line
  std::vector<std::string> choices;  // if only these values are right
};

// What is known about a command: for completion scripts and for whoever mistypes it.
struct CommandInfo {
  std::string name;  // in full: "errand runs list"
  std::string description;
  std::string example;          // what stands at the end of its help
  std::vector<FlagInfo> flags;  // also those that the help leaves out
  std::vector<FlagInfo> arguments;
  std::vector<CommandInfo> commands;  // below this one

  // The last word of its name.
  std::string word() const { return name.substr(name.rfind(' ') + 1); }
};

std::string full_name(const CLI::App* command);
// `command` and everything below it.
CommandInfo describe(const CLI::App* command);

// The command with all those below it, the outer ones first.
std::vector<const CommandInfo*> flattened(const CommandInfo& command);

}  // namespace errand::cli
