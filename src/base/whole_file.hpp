#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.hpp"

namespace errand {

inline constexpr std::string_view kOutputClosed = "output_closed";

// Writes all of it, however long the reader takes. cancelled with the reason kOutputClosed: the
// reader has closed its end. unavailable: the disk is full, or another failure of the system.
Result<void> write_fully(int fd, std::string_view text);

// Writes a file that only its owner may read. Whoever looks finds the old file or the new one,
// never a part of it. unavailable: with the reason of the system.
Result<void> write_whole_file(const std::filesystem::path& file, std::string_view text);

}  // namespace errand
