#include "cli/completion.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "cli/commands/known_values.hpp"

namespace errand::cli {
namespace {

// Text in single quotes, for a shell in which `escaped` stands for a quote.
std::string quoted(std::string_view text, std::string_view escaped) {
  std::string out = "'";
  for (char c : text) append(out, c == '\'' ? escaped : std::string_view(&c, 1));
  return out + "'";
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) append(out, out.empty() ? "" : between, word);
  return out;
}

// What may follow as the value of a flag or as an argument.
enum class Values { none, choices, files, directories, known };

// The kind itself if the server knows its values, "" for other kinds. The value of "[CHAT]" may be
// left out on the line.
std::string_view known_kind(std::string_view kind) {
  if (kind == "[CHAT]") return "SESSION";
  std::span<const std::string_view> kinds = value_kinds();
  bool is_known = std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
  return is_known ? kind : "";
}

Values values_of(const FlagInfo& flag) {
  if (!flag.choices.empty()) return Values::choices;
  if (!known_kind(flag.kind).empty()) return Values::known;
  if (flag.kind == "FILE") return Values::files;
  return flag.kind == "DIR" ? Values::directories : Values::none;
}

// "errand serve --data" for every flag that takes a value of this kind, as patterns of a `case`.
std::string value_flags(const CommandInfo& root, Values values) {
  std::vector<std::string> out;
  for (const CommandInfo* command : flattened(root)) {
    for (const FlagInfo& flag : command->flags) {
      bool is_wanted = !flag.kind.empty() && values_of(flag) == values;
      if (is_wanted) out.push_back(cat("'", command->name, " ", flag.name, "'"));
    }
  }
  return joined(out, " | ");
}

std::string command_names(const CommandInfo& root, std::string_view between) {
  std::vector<std::string> out;
  for (const CommandInfo* command : flattened(root)) {
    if (command != &root) out.push_back(cat("'", command->name, "'"));
  }
  return joined(out, between);
}

// Finds the command on the line, for `command`, and the flags that name its server, for `place`.
// bash and zsh differ only in where words start.
std::string find_command(const CommandInfo& root, int first, std::string_view current,
                         std::string_view words) {
  std::string out = cat("  local command=errand i\n  local -a place=()\n  for ((i = ", first,
                        "; i < ", current, "; i++)); do\n    case \"${", words,
                        "[i]}\" in\n      --server | --key | --workspace | --data) place+=(\"${",
                        words, "[i]}\" \"${", words, "[i + 1]}\") ;;\n    esac\n",
                        "    case \"$command ${", words, "[i]}\" in\n");
  for (Values values :
       {Values::none, Values::choices, Values::files, Values::directories, Values::known}) {
    std::string flags = value_flags(root, values);
    if (!flags.empty()) append(out, "      ", flags, ") ((i++)) ;;\n");
  }
  append(out, "      ", command_names(root, " | "), ") command=\"$command ${", words,
         "[i]}\" ;;\n    esac\n  done\n");
  return out;
}

struct ValueLines {
  std::string_view files;
  std::string_view directories;
  std::string_view choices;  // before the words
  std::string_view choices_end;
  std::string_view known;  // before the kind
};

// Completes the value of the previous flag, and returns.
std::string complete_values(const CommandInfo& root, std::string_view previous,
                            const ValueLines& lines) {
  std::string out = cat("  case \"$command ", previous, "\" in\n");
  for (const CommandInfo* command : flattened(root)) {
    for (const FlagInfo& flag : command->flags) {
      std::string_view known = known_kind(flag.kind);
      if (values_of(flag) == Values::choices) {
        append(out, "    '", command->name, " ", flag.name, "') ", lines.choices,
               joined(flag.choices, " "), lines.choices_end, "; return ;;\n");
      } else if (!known.empty()) {
        append(out, "    '", command->name, " ", flag.name, "') ", lines.known, known,
               "; return ;;\n");
      }
    }
  }
  const std::pair<Values, std::string> others[] = {
      {Values::files, cat(lines.files, "; return")},
      {Values::directories, cat(lines.directories, "; return")},
      {Values::none, "return"}};
  for (const auto& [values, line] : others) {
    std::string flags = value_flags(root, values);
    if (!flags.empty()) append(out, "    ", flags, ") ", line, " ;;\n");
  }
  return out + "  esac\n";
}

// The words that may follow a command: its subcommands, choices of its arguments, and flags.
std::vector<FlagInfo> words_of(const CommandInfo& command) {
  std::vector<FlagInfo> out;
  for (const CommandInfo& below : command.commands) {
    out.push_back({.name = below.word(), .description = below.description});
  }
  for (const FlagInfo& argument : command.arguments) {
    for (const std::string& choice : argument.choices) out.push_back({.name = choice});
  }
  out.insert(out.end(), command.flags.begin(), command.flags.end());
  return out;
}

// The kind of the first argument, if the server knows its values.
std::string_view known_argument(const CommandInfo& command) {
  return command.arguments.empty() ? "" : known_kind(command.arguments.front().kind);
}

bool takes_files(const CommandInfo& command) {
  return !command.arguments.empty() && values_of(command.arguments.front()) == Values::files;
}

std::string bash_script(const CommandInfo& root) {
  std::string out =
      "# Completes errand in bash: source <(errand completion bash)\n"
      "_errand_values() {\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$(\"${COMP_WORDS[0]/#\\~/$HOME}\" completion "
      "--values \"$1\" \"${place[@]}\" 2> /dev/null)\" -- \"$current\")\n"
      "}\n"
      "_errand() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" words='' files='' values=''\n";
  out += find_command(root, 1, "COMP_CWORD", "COMP_WORDS");
  out += complete_values(root, "${COMP_WORDS[COMP_CWORD - 1]}",
                         {.files = "compopt -o filenames 2> /dev/null; "
                                   "mapfile -t COMPREPLY < <(compgen -f -- \"$current\")",
                          .directories = "compopt -o filenames 2> /dev/null; "
                                         "mapfile -t COMPREPLY < <(compgen -d -- \"$current\")",
                          .choices = "mapfile -t COMPREPLY < <(compgen -W '",
                          .choices_end = "' -- \"$current\")",
                          .known = "_errand_values "});
  out += "  case \"$command\" in\n";
  for (const CommandInfo* command : flattened(root)) {
    std::vector<std::string> names;
    for (const FlagInfo& word : words_of(*command)) names.push_back(word.name);
    append(out, "    '", command->name, "') words='", joined(names, " "), "'",
           takes_files(*command) ? " files=yes" : "");
    if (auto kind = known_argument(*command); !kind.empty()) append(out, " values=", kind);
    append(out, " ;;\n");
  }
  out +=
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "  if [[ $values && $current != -* ]]; then _errand_values \"$values\"; fi\n"
      "  if [[ $files && $current != -* ]]; then\n"
      "    compopt -o filenames 2> /dev/null\n"
      "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
      "  fi\n"
      "}\n"
      "complete -F _errand errand\n";
  return out;
}

std::string zsh_script(const CommandInfo& root) {
  std::string out =
      "#compdef errand\n"
      "# Completes errand in zsh: source <(errand completion zsh)\n"
      "_errand_values() {\n"
      "  local -a found=(\"${(@f)$(${~words[1]} completion --values $1 $place 2> /dev/null)}\")\n"
      "  compadd -- \"${(@)found:#}\"\n"
      "}\n"
      "_errand() {\n"
      "  local -a proposed\n";
  out += find_command(root, 2, "CURRENT", "words");
  out += complete_values(root, "${words[CURRENT-1]}",
                         {.files = "_files",
                          .directories = "_files -/",
                          .choices = "compadd -- ",
                          .choices_end = "",
                          .known = "_errand_values "});
  out += "  case \"$command\" in\n";
  for (const CommandInfo* command : flattened(root)) {
    append(out, "    '", command->name, "')\n      proposed=(\n");
    for (const FlagInfo& word : words_of(*command)) {
      std::string told = word.description.empty() ? "" : cat(":", word.description);
      append(out, "        ", quoted(cat(word.name, told), "'\\''"), "\n");
    }
    append(out, "      )\n", takes_files(*command) ? "      _files\n" : "");
    if (auto kind = known_argument(*command); !kind.empty()) {
      append(out, "      _errand_values ", kind, "\n");
    }
    append(out, "      ;;\n");
  }
  out +=
      "  esac\n"
      "  _describe -t commands errand proposed\n"
      "}\n"
      "if [[ \"${funcstack[1]}\" = _errand ]]; then\n"
      "  _errand \"$@\"\n"
      "else\n"
      "  compdef _errand errand\n"
      "fi\n";
  return out;
}

std::string fish_value(const FlagInfo& flag) {
  switch (values_of(flag)) {
    case Values::choices: return cat(" -x -a '", joined(flag.choices, " "), "'");
    case Values::files: return " -r -F";
    case Values::directories: return " -x -a '(__fish_complete_directories)'";
    case Values::known: return cat(" -x -a '(__errand_values ", known_kind(flag.kind), ")'");
    case Values::none: return flag.kind.empty() ? "" : " -x";
  }
  return "";
}

std::string fish_script(const CommandInfo& root) {
  std::string out =
      "# Completes errand in fish: errand completion fish | source\n"
      "set -g __errand_commands ";
  append(out, command_names(root, " "),
         "\n"
         "function __errand_is -d 'Whether the line holds this command'\n"
         "    set -l command errand\n"
         "    for word in (commandline -opc)[2..]\n"
         "        if contains -- \"$command $word\" $__errand_commands\n"
         "            set command \"$command $word\"\n"
         "        end\n"
         "    end\n"
         "    test \"$command\" = \"$argv[1]\"\n"
         "end\n"
         "function __errand_values -d 'The values of this kind that the server knows'\n"
         "    set -l words (commandline -opc)\n"
         "    set -l place\n"
         "    for i in (seq (count $words))\n"
         "        if contains -- $words[$i] --server --key --workspace --data\n"
         "            set place $place $words[$i..(math $i + 1)]\n"
         "        end\n"
         "    end\n"
         "    $words[1] completion --values $argv[1] $place 2>/dev/null\n"
         "end\n"
         "complete -c errand -f\n");
  for (const CommandInfo* command : flattened(root)) {
    std::string where = cat("complete -c errand -n \"__errand_is '", command->name, "'\"");
    if (takes_files(*command)) append(out, where, " -F\n");
    if (auto kind = known_argument(*command); !kind.empty()) {
      append(out, where, " -a '(__errand_values ", kind, ")'\n");
    }
    for (const FlagInfo& word : words_of(*command)) {
      bool is_flag = word.name.starts_with("--");
      append(out, where, is_flag ? " -l " : " -a ", is_flag ? word.name.substr(2) : word.name,
             is_flag ? fish_value(word) : "");
      if (!word.description.empty()) append(out, " -d ", quoted(word.description, "\\'"));
      out += "\n";
    }
  }
  return out;
}

}  // namespace

std::string completion_script(std::string_view shell, const CommandInfo& root) {
  if (shell == "bash") return bash_script(root);
  if (shell == "zsh") return zsh_script(root);
  ERRAND_ASSERT(shell == "fish");
  return fish_script(root);
}

}  // namespace errand::cli
