#pragma once

#include <filesystem>

#include "base/clock.hpp"
#include "cli/doctor/findings.hpp"

namespace errand::cli {

// What `errand doctor` finds on this machine, without a server. None of them changes anything.

// Whether a server can keep its data there: rights, owner, and room on the disk.
Finding check_data_directory(const std::filesystem::path& data);
// The database: its version, whether it is whole, and who has it open.
Finding check_store(const std::filesystem::path& data);
// The credentials file: whether it can be read, and by whom. Without one there is nothing to find.
Findings check_credentials(const std::filesystem::path& data);
// Whether the clock is later than this program.
Finding check_clock(const Clock& clock);
Finding check_descriptors();
// Certificates of authorities, without which no vendor is trusted.
Finding check_certificates();

}  // namespace errand::cli
