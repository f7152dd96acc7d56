#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace errand::sqlite {

// Sorts after every id; and after one id, but before the next.
inline constexpr std::string_view kAfterAllIds = "\x7f";
inline constexpr char kJustAfterId = '\x01';

// The last id before `bound` that all of `parts` indices have; empty if there is none.
// `find(part, bound)` gives the last one that an index has, as a Result<std::string>. The search
// leaps from each index to the next id that the others may have, so its cost follows the index with
// the fewest ids.
template <class Find>
Result<std::string> find_common_id(std::size_t parts, std::string bound, const Find& find) {
  std::string candidate;
  // Parts in turn, until as many in a row as there are have the same.
  for (std::size_t part = 0, agreeing = 0; agreeing < parts; part = (part + 1) % parts) {
    ERRAND_TRY(std::string found, find(part, std::string_view(bound)));
    if (found.empty()) return found;
    agreeing = found == candidate ? agreeing + 1 : 1;
    candidate = std::move(found);
    bound = candidate + kJustAfterId;
  }
  return candidate;
}

}  // namespace errand::sqlite
