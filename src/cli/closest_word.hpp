#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace errand::cli {

// The known word that was probably meant: the one that takes the fewest letters to be added, left
// out or replaced, and no more than a third of the word's, rounded up. Nothing if there is none
// such.
std::optional<std::string> closest_word(std::string_view word,
                                        const std::vector<std::string>& known);

}  // namespace errand::cli
