#include "host/environment.hpp"

#include <cstdlib>
#include <optional>
#include <string>

namespace errand::host {

net::ClientOptions client_options_here() {
  return net::ClientOptions::from(environment_here());
}

net::Environment environment_here() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (!value) return {};
    return value;
  };
}

}  // namespace errand::host
