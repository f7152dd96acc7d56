#pragma once

#include <cstdint>

namespace errand::agent {

// What the agents of one home count. Plain numbers: touched on that home only.
struct Counters {
  std::uint64_t durable_waits = 0;  // times something waited for a commit
  std::uint64_t appends = 0;
  std::uint64_t model_calls = 0;
  std::uint64_t call_looks = 0;  // times the store was asked for calls that wait for a client
};

}  // namespace errand::agent
