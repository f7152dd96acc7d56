#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand {

// Longer names are not compared: nobody types them.
constexpr std::size_t kComparedBytesMax = 64;
// As many names are proposed at most.
constexpr std::size_t kProposedMax = 3;

// Those of `known` that somebody may have meant who wrote `asked`, the closest first: they differ
// by case, by a typo in every three characters (two swapped neighbours are one), or one begins with
// the other. None if nothing is close. The views are those of `known`.
std::vector<std::string_view> close_names(std::string_view asked,
                                          const std::vector<std::string_view>& known);

// "did you mean fast or faster?"; empty if nothing is close.
std::string did_you_mean(std::string_view asked, const std::vector<std::string_view>& known);
std::string did_you_mean(std::string_view asked, const std::vector<std::string>& known);

}  // namespace errand
