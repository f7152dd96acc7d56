#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "json/schema/budget.hpp"
#include "json/value.hpp"

namespace errand::json::schema {

// Equality as JSON Schema has it: 1 equals 1.0, the order of members does not count. Gives up with
// false when the budget is spent, or exhausts it when the values are nested too deeply.
bool equal(const Value& a, const Value& b, Budget& budget);

// The values of "enum" or "const", found without comparing with each of them.
class Constants final {
 public:
  explicit Constants(std::vector<Value> values);

  bool contains(const Value& value, Budget& budget) const;
  const std::vector<Value>& values() const { return values_; }

 private:
  std::vector<Value> values_;
  std::vector<std::pair<std::uint64_t, std::size_t>> by_hash_;  // sorted; empty if there are few
};

// The first two items that are equal.
std::optional<std::pair<std::size_t, std::size_t>> find_duplicate(const Array& items,
                                                                  Budget& budget);

}  // namespace errand::json::schema
