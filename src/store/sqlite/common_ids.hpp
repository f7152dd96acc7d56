#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace errand::sqlite {

// Sorts after every id; and after one id, but before the next.
inline constexpr std::string_view kAfterAllIds = "\x7f";
inline constexpr char kJustAfterId = '\x01';

inline std::string just_after(const std::string& id) {
  return id + kJustAfterId;
}

// The last place before `bound` that all of `parts` indices have; empty if there is none. A place
// is an id, or an id with the time by which the indices are ordered before it. `find(part, bound)`
// gives the last place that an index has, as a Result<Place>. The search leaps from each index to
// the next place that the others may have, so its cost follows the index with the fewest places.
template <class Place, class Find>
Result<Place> find_common_place(std::size_t parts, Place bound, const Find& find) {
  Place candidate;
  // Parts in turn, until as many in a row as there are have the same.
  for (std::size_t part = 0, agreeing = 0; agreeing < parts; part = (part + 1) % parts) {
    ERRAND_TRY(Place found, find(part, std::as_const(bound)));
    if (found.empty()) return found;
    agreeing = found == candidate ? agreeing + 1 : 1;
    candidate = std::move(found);
    bound = just_after(candidate);
  }
  return candidate;
}

}  // namespace errand::sqlite
