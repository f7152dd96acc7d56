#pragma once

#include <functional>

#include "sdk/internal/data_client.hpp"

namespace errand::cli {

// Works with the server that the flags mean, or with this process for a data directory that no
// server uses; returns the exit code. See sdk::open_data.
int with_data(const sdk::DataPlace& place, const std::function<int(sdk::ApiClient&)>& work);

}  // namespace errand::cli
