#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand::host {

// In the data directory.
inline constexpr std::string_view kStoreFile = "errand.db";

// The database file that --data and --store name: "sqlite:PATH", or errand.db in the data directory
// if `store` is empty. invalid_argument: another kind of store.
Result<std::filesystem::path> store_file(const std::string& data, const std::string& store);

}  // namespace errand::host
