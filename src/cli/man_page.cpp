#include "cli/man_page.hpp"

#include <string_view>

#include "base/text.hpp"
#include "base/version.hpp"

namespace errand::cli {
namespace {

// Escapes text for roff, for the middle of a line or its start.
std::string roff(std::string_view text) {
  std::string out = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

void append_flag(std::string& out, const FlagInfo& flag) {
  append(out, ".TP\n\\fB", roff(flag.name), "\\fR");
  bool is_argument = !flag.name.starts_with('-');
  if (!is_argument && !flag.kind.empty()) append(out, " \\fI", roff(flag.kind), "\\fR");
  append(out, "\n", roff(flag.description), "\n");
  if (flag.choices.empty()) return;
  out += "One of";
  for (const std::string& choice : flag.choices) append(out, " ", roff(choice));
  out += ".\n";
}

void append_command(std::string& out, const CommandInfo& command) {
  append(out, ".SS \"", roff(command.name));
  for (const FlagInfo& argument : command.arguments) append(out, " ", roff(argument.name));
  append(out, "\"\n", roff(command.description), "\n");
  for (const FlagInfo& argument : command.arguments) append_flag(out, argument);
  for (const FlagInfo& flag : command.flags) {
    if (flag.name != "--help") append_flag(out, flag);
  }
  append(out, ".PP\nExample: \\fB", roff(command.example), "\\fR\n");
}

constexpr std::string_view kEnd = R"(.SH ENVIRONMENT
.TP
\fBERRAND_SERVER\fR, \fBERRAND_API_KEY\fR
The server to use, and its key.
.TP
\fBNO_COLOR\fR
Turns colour off.
.SH FILES
.TP
\fI.errand/credentials\fR
The server of a folder and of those below it. \fBerrand serve\fR writes it.
.TP
\fI$XDG_CONFIG_HOME/errand/credentials\fR
The server of a user. \fBerrand login\fR writes it.
.SH EXIT STATUS
.TP
0
Success.
.TP
1
The run failed, or the server refused.
.TP
2
Wrong usage, or a wrong configuration file.
.TP
3
The server cannot be reached, or refuses the key.
.TP
130
Interrupted.
)";

}  // namespace

std::string man_page(const CommandInfo& root) {
  std::string out = cat(".TH ERRAND 1 \"\" \"errand ", version(), "\" \"User Commands\"\n",
                        ".SH NAME\nerrand \\- run LLM agents durably\n",
                        ".SH SYNOPSIS\n\\fBerrand\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n",
                        ".SH DESCRIPTION\n", roff(root.description), "\n.SH COMMANDS\n");
  for (const CommandInfo* command : flattened(root)) {
    if (command->commands.empty()) append_command(out, *command);
  }
  return cat(out, kEnd);
}

}  // namespace errand::cli
