#pragma once

#include <span>

namespace errand::cli {

struct CodeRange {
  char32_t first;
  char32_t last;
};

// Ranges of code points in ascending order: those that take no column of a terminal, and those that
// take two.
std::span<const CodeRange> zero_width_ranges();
std::span<const CodeRange> wide_ranges();

}  // namespace errand::cli
