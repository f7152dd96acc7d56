#pragma once

#include <string>

#include "base/result.hpp"
#include "run/file_part.hpp"

namespace errand::cli {

// A file that goes with a prompt. Its kind follows from its name, or else from whether it is text.
// invalid_argument: it cannot be read or is too large; the message says so.
Result<FilePart> read_attached_file(const std::string& file);

}  // namespace errand::cli
