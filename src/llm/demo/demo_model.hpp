#pragma once

#include <memory>

#include "async/timers.hpp"
#include "llm/model.hpp"

namespace errand::llm {

// The model that needs nothing: it calls a tool by the words of the question and tells what came
// back. The same conversation gives the same answer, so that recovery and forks replay exactly.
std::unique_ptr<Model> make_demo_model(Timers& timers, Executor home);

}  // namespace errand::llm
