#pragma once

#include <string>

#include <errand/error.hpp>

#include "base/error.hpp"

namespace errand::sdk {

// An error as users see it; `run_id` is that of the run that it is about.
v1::Error public_error(const Error& error, std::string run_id = {});

}  // namespace errand::sdk
