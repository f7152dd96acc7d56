#pragma once

#include <functional>
#include <string_view>

#include "async/task_group.hpp"

namespace errand::sdk {

// Gets a sentence about each failure beside the work of a client that is reported nowhere else.
// Called on the home; throws nothing.
using Teller = std::function<void(std::string_view sentence)>;

// For owners of tasks: tells of a bug in one of them.
TaskGroup::OnBug bugs_to(Teller tell);

}  // namespace errand::sdk
