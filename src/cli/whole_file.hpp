#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.hpp"

namespace errand::cli {

// Writes a file that only its owner may read. Whoever looks finds the old file or the new one,
// never a part of it. unavailable: with the reason of the system.
Result<void> write_whole_file(const std::filesystem::path& file, std::string_view text);

}  // namespace errand::cli
