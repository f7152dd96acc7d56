#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand {

inline constexpr std::string_view kOutputClosed = "output_closed";

// Writes all of it, however long the reader takes. cancelled with the reason kOutputClosed: the
// reader has closed its end. unavailable: the disk is full, or another failure of the system.
Result<void> write_fully(int fd, std::string_view text);

// A whole file. The message of an error names the file and says why it cannot be read.
// not_found: there is no such file. forbidden: this user may not read it. too_large: it has more
// than `bytes_max` bytes. unavailable: another failure of the system.
Result<std::string> read_whole_file(const std::filesystem::path& file, std::size_t bytes_max);

// Writes a file that only its owner may read. Whoever looks finds the old file or the new one,
// never a part of it, and the new one survives a power failure. unavailable: with the reason of the
// system.
Result<void> write_whole_file(const std::filesystem::path& file, std::string_view text);

}  // namespace errand
