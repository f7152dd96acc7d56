#pragma once

#include <compare>

#include "json/value.hpp"

namespace errand::json::schema {

// Numbers as mathematics has them, whichever of the three kinds a value is stored as. The arguments
// are numbers.

// 1.0 is an integer.
bool is_integer(const Value& number);

std::strong_ordering compare(const Value& a, const Value& b);

// `divisor` is greater than zero. A double means its shortest decimal form, so that 0.0075 is a
// multiple of 0.0001, and nothing overflows.
bool is_multiple(const Value& number, const Value& divisor);

}  // namespace errand::json::schema
