#include "engine/id_bounds.hpp"

#include <algorithm>
#include <string>

#include "base/id.hpp"

namespace errand::engine {
namespace {

// The smallest id that an IdSource can make at this moment.
std::string first_id(std::string_view prefix, WallTime at) {
  struct Moment final : Clock {
    explicit Moment(WallTime time) : at(time) {}
    WallTime now() const override { return at; }
    SteadyTime steady_now() const override { return {}; }
    WallTime at;
  };
  const Moment moment(std::max(at, from_millis(1)));
  struct BoundTag {};
  return IdSource(moment, [] { return std::uint64_t{0}; }).make<BoundTag>(prefix).str();
}

}  // namespace

void set_id_bounds(CreatedBetween& created, std::string_view prefix) {
  if (created.from) created.first = first_id(prefix, *created.from);
  if (created.until) created.last = first_id(prefix, *created.until + kIdsMayLag);
}

}  // namespace errand::engine
