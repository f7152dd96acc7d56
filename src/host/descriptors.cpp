#include "host/descriptors.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace errand::host {
namespace {

constexpr std::size_t kClientsMax = 20'000;
constexpr std::size_t kSharesMin = 4;
// One workspace leaves this fraction to the others.
constexpr std::size_t kLeftToOthers = 8;
// Used if the system does not report a limit.
constexpr std::size_t kUsualLimit = 1024;

std::size_t share_of_one(std::size_t all) {
  return all - all / kLeftToOthers;
}

}  // namespace

DescriptorShares share_descriptors(std::size_t descriptors_max) {
  return {.clients = std::max(descriptors_max / 2, kSharesMin),
          .models = std::max(descriptors_max / 4, kSharesMin)};
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kUsualLimit;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

void bound_by_descriptors(Config& config, std::size_t descriptors_max) {
  const DescriptorShares shares = share_descriptors(descriptors_max);
  if (!config.connections_max) config.connections_max = std::min(kClientsMax, shares.clients);
  std::size_t& turns = config.limits.turns.turns;
  turns = std::min(turns, shares.models);
  // A run that would only wait for a connection waits for a slot instead, and so is shown as
  // queued.
  engine::SlotLimits& slots = config.limits.slots;
  if (!slots.in_all) slots.in_all = turns;
  if (!slots.per_workspace) slots.per_workspace = share_of_one(*slots.in_all);
  config.limits.turns.per_workspace = share_of_one(turns);
}

}  // namespace errand::host
