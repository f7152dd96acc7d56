#pragma once

#include <cstddef>
#include <functional>

namespace errand::cli {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// How output may look.
struct Look {
  // Plain lines go to files, pipes and terminals that only know those; on others lines can change.
  enum class Kind { plain, live };
  Kind kind = Kind::plain;
  bool has_colour = false;
  // As it is at this moment: people resize their windows.
  std::function<TerminalSize()> size = [] { return TerminalSize(); };
};

// `term` and `no_color` are the variables TERM and NO_COLOR, null if they are not set.
Look choose_look(bool is_terminal, const char* term, const char* no_color);

// The look of what this process writes to stderr.
Look look_here();

}  // namespace errand::cli
