#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace errand::cli {

// How much room text takes on a terminal. The tables are our own, because those of the C library
// depend on which locales a machine has. Where terminals differ (joined emoji), the larger number
// is given: a line that is a little short is better than one that wraps.

// Columns of one line of clean UTF-8 text.
std::size_t width_of(std::string_view line);

// The line, or as much of its start as fits the columns with "…" behind it. Combining characters
// stay with the last character.
std::string fit_width(std::string_view line, std::size_t columns_max);

}  // namespace errand::cli
