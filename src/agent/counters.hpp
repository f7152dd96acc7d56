#pragma once

#include <cstdint>

namespace errand::agent {

// What the agents of one home count. Plain numbers: touched on that home only.
struct Counters {
  std::uint64_t durable_waits = 0;  // times something waited for a commit
  std::uint64_t appends = 0;
  std::uint64_t model_calls = 0;
};

}  // namespace errand::agent
