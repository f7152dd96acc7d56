#pragma once

#include <string>

#include "base/clock.hpp"

namespace errand {

// A pause before the model of a run is asked again. It is no event of the run: only those who
// follow the run meanwhile hear of it, and no log keeps it.
struct ModelRetry {
  std::string why;     // for people
  SteadyTime until{};  // the model is asked again

  // How long that is yet; not positive: the pause is over.
  milliseconds left(SteadyTime now) const { return std::chrono::ceil<milliseconds>(until - now); }
};

}  // namespace errand
