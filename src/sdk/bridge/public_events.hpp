#pragma once

#include <optional>

#include <errand/event.hpp>
#include <errand/run.hpp>

#include "engine/models/model_list.hpp"
#include "run/log/event.hpp"
#include "sdk/run_api.hpp"

namespace errand::sdk {

v1::Event public_event(const RunId& run, const StampedEvent& event);

v1::RunInfo public_info(const RunInfo& info);
v1::RunPage public_page(const RunPage& page);
v1::ModelList public_models(const engine::ModelList& list);

}  // namespace errand::sdk
