#include "cli/usage_error.hpp"

#include <algorithm>
#include <array>

#include "base/close_names.hpp"
#include "base/text.hpp"

namespace errand::cli {
namespace {

constexpr std::size_t kShownBytesMax = 80;

// Flags of MeshAgent's agents, with what to use instead.
struct DeclinedFlag {
  std::string_view name;
  std::string_view sentence;
};
constexpr auto kDeclinedFlags = std::to_array<DeclinedFlag>({
    {"--advanced-shell",
     "--advanced-shell is not offered: --shell lets the model run commands that you approve"},
    {"--discovery",
     "--discovery is not needed: a run with --room and without --require-toolkit has the tools of "
     "all public toolkits of the room"},
    {"--document-authoring",
     "--document-authoring is not offered, because rooms have no documents: --mcp SERVER and "
     "--require-toolkit NAME lend the model tools that write files"},
    {"--storage",
     "--storage is not offered: 'errand room host ROOM --files DIR' lends files to the room, and "
     "--files DIR lends them to this run alone"},
});

std::string in_quotes(std::string_view word) {
  return cat("\"", utf8_prefix(word, kShownBytesMax), "\"");
}

// What to do, after what may have been meant.
std::string hint(const CommandInfo& command, const std::string& first) {
  return cat(first, first.empty() ? "" : " ", "'", command.name, " --help' shows what there is");
}

Error unknown_flag(const CommandInfo& command, const std::string& word) {
  std::string flag = word.substr(0, word.find('='));
  std::vector<std::string> known;
  for (const FlagInfo& one : command.flags) known.push_back(one.name);
  const bool joins_rooms = std::find(known.begin(), known.end(), "--room") != known.end();
  for (const DeclinedFlag& declined : kDeclinedFlags) {
    if (joins_rooms && flag == declined.name) {
      return usage_error(command, std::string(declined.sentence));
    }
  }
  return Error(ErrorCode::invalid_argument, cat(command.name, " has no flag ", in_quotes(flag)))
      .hint(hint(command, did_you_mean(flag, known)));
}

}  // namespace

Error usage_error(const CommandInfo& command, const std::string& message) {
  return Error(ErrorCode::invalid_argument, message).hint(hint(command, ""));
}

Error unknown_words(const CommandInfo& command, const std::vector<std::string>& words) {
  auto flag = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    return word.size() > 1 && word.starts_with('-');
  });
  if (flag != words.end()) return unknown_flag(command, *flag);
  const std::string& word = words.front();
  if (command.commands.empty()) {
    return Error(ErrorCode::invalid_argument,
                 cat(in_quotes(word), " is one argument too many for ", command.name))
        .hint(hint(command, "put text with spaces into quotes;"));
  }
  std::vector<std::string> known;
  for (const CommandInfo& below : command.commands) known.push_back(below.word());
  return Error(ErrorCode::invalid_argument,
               cat("there is no command ", in_quotes(cat(command.name, " ", word))))
      .hint(hint(command, did_you_mean(word, known)));
}

}  // namespace errand::cli
