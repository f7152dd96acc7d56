#pragma once

#include <optional>
#include <vector>

#include "base/result.hpp"
#include "host/model_config.hpp"
#include "net/client/proxy.hpp"

namespace errand::host {

// The models of a server whose configuration names none.
struct DiscoveredModels {
  std::vector<ModelConfig> of_keys;  // of every vendor whose key is in the environment
  VendorConfig ollama;               // where an Ollama would be
  ModelConfig demo;                  // what is left without all of them
};

// invalid_argument: a variable holds something that cannot be meant; the message names it.
Result<DiscoveredModels> discover_models(const net::Environment& environment);

}  // namespace errand::host
