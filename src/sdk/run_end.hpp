#pragma once

#include <optional>
#include <string>

#include "run/log/event.hpp"

namespace errand::sdk {

// How a run ended, and what it took.
struct RunEnd {
  enum class Kind { succeeded, failed, cancelled };
  Kind kind = Kind::succeeded;
  std::string message = {};  // what is wrong, for people
  RunTotals totals = {};
};

// Nothing unless the event is the last one of its run.
std::optional<RunEnd> end_of(const Event& event);

}  // namespace errand::sdk
