#pragma once

#include <memory>

#include "async/blocking_pool.hpp"
#include "async/timers.hpp"
#include "llm/model.hpp"

namespace errand::llm {

// The model that needs nothing: it answers by rules, on `pool` if there is one (see PlayedModel).
// The same conversation gives the same answer, so that recovery and forks replay exactly.
std::unique_ptr<Model> make_demo_model(Timers& timers, Executor home, BlockingPool* pool);

}  // namespace errand::llm
