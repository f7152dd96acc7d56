#include "cli/terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace errand::cli {
namespace {

// A terminal that does not know its size has the usual one.
TerminalSize size_of_stderr() {
  TerminalSize size;
  winsize said{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &said) != 0) return size;
  if (said.ws_col > 0) size.columns = said.ws_col;
  if (said.ws_row > 0) size.rows = said.ws_row;
  return size;
}

}  // namespace

Look choose_look(bool is_terminal, const char* term, const char* no_color) {
  std::string_view kind = term ? term : "";
  Look look;
  if (!is_terminal || kind.empty() || kind == "dumb") return look;
  look.kind = Look::Kind::live;
  look.has_colour = !no_color || *no_color == '\0';
  return look;
}

Look look_here() {
  Look look =
      choose_look(::isatty(STDERR_FILENO) == 1, std::getenv("TERM"), std::getenv("NO_COLOR"));
  look.size = size_of_stderr;
  return look;
}

}  // namespace errand::cli
