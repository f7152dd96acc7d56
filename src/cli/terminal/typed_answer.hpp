#pragma once

#include <optional>
#include <string>

#include "async/task.hpp"
#include "base/descriptor.hpp"

namespace errand::cli {

inline constexpr const char* kTerminal = "/dev/tty";  // that of this process

// The terminal at this path, to ask the user something; closed if there is none.
Descriptor open_terminal(const std::string& path);

// The next line that is typed, without blanks around it; nothing at the end of the input. The
// kernel hands out whole lines, and cuts those that are longer than it takes.
Task<std::optional<std::string>> read_answer(int terminal);

}  // namespace errand::cli
