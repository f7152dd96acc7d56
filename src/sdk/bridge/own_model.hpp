#pragma once

#include <memory>

#include <errand/model.hpp>

#include "llm/model.hpp"
#include "sdk/bridge/handlers.hpp"

namespace errand::sdk {

// A model of the program as the engine asks it: on a thread of `handlers`, which outlives it.
std::unique_ptr<llm::Model> bridge_model(Handlers& handlers, std::shared_ptr<v1::Model> model);

}  // namespace errand::sdk
