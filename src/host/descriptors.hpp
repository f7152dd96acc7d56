#pragma once

#include <cstddef>

#include "host/config.hpp"

namespace errand::host {

// How the descriptors that a process may have open are shared out. The rest is for the store, for
// tools and for child processes.
struct DescriptorShares {
  std::size_t clients = 0;  // half of them
  std::size_t models = 0;   // a quarter of them
};
DescriptorShares share_descriptors(std::size_t descriptors_max);

// Raises the limit of this process as far as it may, because thousands of streams need thousands of
// descriptors. Returns the limit.
std::size_t raise_descriptor_limit();

// Bounds that the configuration leaves open, so that neither clients nor models take every
// descriptor: connections of clients, turns with models, and runs in flight. Of turns and runs, one
// workspace gets seven eighths, so that others find room at once, however many runs it has.
void bound_by_descriptors(Config& config, std::size_t descriptors_max);

}  // namespace errand::host
