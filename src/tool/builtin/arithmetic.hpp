#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace errand {

// Longer or deeper expressions are refused.
constexpr std::size_t kExpressionBytesMax = 2000;
constexpr int kExpressionDepthMax = 100;

// The value of an expression such as "2 + 3 * sqrt(4)": numbers, + - * / % ^ (** is the same),
// parentheses, pi, e, and the functions that arithmetic_functions() names. ^ binds tightest and
// from the right, % is the remainder. invalid_argument: with the place of the mistake; also if the
// value is not a finite number.
Result<double> evaluate(std::string_view expression);

// "abs, ceil, ...", for people and models.
std::string arithmetic_functions();

// The number with up to 15 digits, without zeros that say nothing: 14, 0.1, 1.5e+300.
std::string shown_number(double value);

}  // namespace errand
