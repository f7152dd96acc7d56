#include "cli/chat/chat_line.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/terminal_text.hpp"
#include "base/text.hpp"

namespace errand::cli {
namespace {

using Kind = ChatLine::Kind;

constexpr auto kCommands = std::to_array<std::pair<std::string_view, Kind>>({
    {"/help", Kind::help},
    {"/tools", Kind::tools},
    {"/model", Kind::model},
    {"/save", Kind::save},
    {"/quit", Kind::quit},
    {"/exit", Kind::quit},
});

}  // namespace

ChatLine parse_chat_line(std::string_view line) {
  if (trim(line).empty()) return {};
  if (line.starts_with("//")) {
    return {.kind = Kind::message, .text = std::string(line.substr(1))};
  }
  if (!line.starts_with('/')) return {.kind = Kind::message, .text = std::string(line)};
  std::size_t end = std::min(line.find_first_of(" \t\n"), line.size());
  std::string_view name = line.substr(0, end);
  const auto* found = std::find_if(kCommands.begin(), kCommands.end(),
                                   [&](const auto& command) { return command.first == name; });
  if (found == kCommands.end()) return {.kind = Kind::unknown, .text = std::string(name)};
  return {.kind = found->second, .text = std::string(trim(line.substr(end)))};
}

SaveTarget parse_save_target(std::string_view text, std::string_view home) {
  constexpr std::string_view kForce = " --force";
  SaveTarget target{.force = text.ends_with(kForce)};
  if (target.force) text = trim(text.substr(0, text.size() - kForce.size()));
  bool is_at_home = text.starts_with("~/") && !home.empty();
  target.file = is_at_home ? cat(home, text.substr(1)) : std::string(text);
  return target;
}

std::string shown_line(std::string_view text) {
  constexpr std::size_t kCharsMax = 120;
  return clean_line(text, kCharsMax);
}

const std::string_view kChatHelp =
    "/tools        what the model may call\n"
    "/model [ID]   the model, or another one from the next message on\n"
    "/save FILE    write the conversation as Markdown; --force after FILE replaces it\n"
    "/quit         end; Ctrl-D does so too\n"
    "//...         a message that starts with a slash\n"
    "A line that ends with \\ continues. Ctrl-C stops an answer, or clears the line.\n";

}  // namespace errand::cli
