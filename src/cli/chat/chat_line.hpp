#pragma once

#include <string>
#include <string_view>

namespace errand::cli {

// What a line of a chat asks for.
struct ChatLine {
  enum class Kind { nothing, message, help, tools, model, save, quit, unknown };
  Kind kind = Kind::nothing;
  std::string text = {};  // the message; what follows the command; or the command that is unknown

  friend bool operator==(const ChatLine&, const ChatLine&) = default;
};

// A line that starts with a slash is a command, one that starts with two of them a message that
// starts with one.
ChatLine parse_chat_line(std::string_view line);

// "FILE --force" of /save.
struct SaveTarget {
  std::string file;
  bool force = false;

  friend bool operator==(const SaveTarget&, const SaveTarget&) = default;
};
// `home` replaces "~" in "~/"; if it is empty, "~/" is kept.
SaveTarget parse_save_target(std::string_view text, std::string_view home);

// A name or a sentence as a chat shows it.
std::string shown_line(std::string_view text);

// What /help shows.
extern const std::string_view kChatHelp;

}  // namespace errand::cli
