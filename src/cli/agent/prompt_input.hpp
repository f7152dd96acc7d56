#pragma once

#include <string>

#include "base/result.hpp"

namespace errand::cli {

// Whether text on stdin goes with a prompt of the command line.
enum class StdinUse { joined, ignored };

// What the model is asked: the prompt, and after an empty line what a pipe or a file on stdin
// holds. A prompt of "-" is stdin alone, whatever stdin is. Blocks until stdin ends, and says so on
// stderr if nothing comes for a second. invalid_argument: nothing is asked, or too much, or
// something that is no text.
Result<std::string> read_prompt(const std::string& prompt, StdinUse use);

}  // namespace errand::cli
