#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "host/model_config.hpp"
#include "net/client/proxy.hpp"

namespace errand::host {

// A vendor whose key may be in the environment.
struct KeyedVendor {
  std::string name;
  std::string key_variable;            // such as "OPENAI_API_KEY"
  std::optional<VendorConfig> config;  // absent: the variable holds no key
};

// The models of a server whose configuration names none.
struct DiscoveredModels {
  std::vector<ModelConfig> of_keys;  // those worth listing of every vendor with a key
  std::vector<KeyedVendor> vendors;  // whose other models callers may name, too
  VendorConfig ollama;               // where an Ollama would be
  ModelConfig demo;                  // always there, even without any other model
};

// invalid_argument: a variable holds something that cannot be meant; the message names it.
Result<DiscoveredModels> discover_models(const net::Environment& environment);

}  // namespace errand::host
