#pragma once

#include <functional>
#include <optional>
#include <string>

namespace errand::sdk {

// The value of an environment variable; nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

// The variables of this process.
Environment environment_here();

}  // namespace errand::sdk
