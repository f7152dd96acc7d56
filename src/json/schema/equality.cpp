#include "json/schema/equality.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <string_view>

#include "json/parse.hpp"
#include "json/schema/number.hpp"

namespace errand::json::schema {
namespace {

// For up to this many values, comparing each pair is as fast as hashing.
constexpr std::size_t kFewMax = 8;

std::uint64_t mix(std::uint64_t hash) {
  hash ^= hash >> 33;
  hash *= 0xff51afd7ed558ccdULL;
  hash ^= hash >> 33;
  hash *= 0xc4ceb9fe1a85ec53ULL;
  return hash ^ (hash >> 33);
}

std::uint64_t hash_text(std::string_view text) {
  return std::hash<std::string_view>()(text);
}

// Equal numbers have equal hashes, whatever type stores them.
std::uint64_t hash_number(const Value& number) {
  if (number.is_int64()) return mix(static_cast<std::uint64_t>(number.get_int64()));
  if (number.is_uint64()) return mix(number.get_uint64());
  double real = number.get_double();
  if (std::trunc(real) == real && real >= -0x1p63 && real < 0x1p64) {
    return mix(real < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(real))
                        : static_cast<std::uint64_t>(real));
  }
  return mix(std::bit_cast<std::uint64_t>(real));
}

// Values below the depth limit are left out of the hash, which only causes more comparisons.
std::uint64_t hash(const Value& value, Budget& budget, std::size_t depth = 0) {
  if (depth > kDepthMax || !budget.spend(1)) return 0;
  switch (value.kind()) {
    case boost::json::kind::null: return 1;
    case boost::json::kind::bool_: return value.get_bool() ? 3 : 2;
    case boost::json::kind::int64:
    case boost::json::kind::uint64:
    case boost::json::kind::double_: return hash_number(value);
    case boost::json::kind::string: {
      budget.spend(value.get_string().size() / kTextBytesPerStep);
      return hash_text(view(value.get_string()));
    }
    case boost::json::kind::array: {
      std::uint64_t out = 4;
      for (const Value& item : value.get_array()) out = mix(out ^ hash(item, budget, depth + 1));
      return out;
    }
    case boost::json::kind::object: {
      std::uint64_t out = 5;
      for (const auto& member : value.get_object()) {
        std::string_view key(member.key().data(), member.key().size());
        budget.spend(key.size() / kTextBytesPerStep);
        out += mix(hash_text(key) ^ mix(hash(member.value(), budget, depth + 1)));
      }
      return out;
    }
  }
  return 0;
}

bool equal_within(const Value& a, const Value& b, Budget& budget, std::size_t depth);

bool equal_arrays(const Array& a, const Array& b, Budget& budget, std::size_t depth) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!equal_within(a[i], b[i], budget, depth + 1)) return false;
  }
  return true;
}

bool equal_objects(const Object& a, const Object& b, Budget& budget, std::size_t depth) {
  if (a.size() != b.size()) return false;
  for (const auto& member : a) {
    const Value* other = b.if_contains(member.key());
    if (!other || !equal_within(member.value(), *other, budget, depth + 1)) return false;
  }
  return true;
}

bool equal_within(const Value& a, const Value& b, Budget& budget, std::size_t depth) {
  if (!budget.spend(1)) return false;
  if (depth > kDepthMax) {
    budget.exhaust();
    return false;
  }
  if (a.is_number() && b.is_number()) return compare(a, b) == std::strong_ordering::equal;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case boost::json::kind::bool_: return a.get_bool() == b.get_bool();
    case boost::json::kind::string:
      budget.spend(a.get_string().size() / kTextBytesPerStep);
      return a.get_string() == b.get_string();
    case boost::json::kind::array: return equal_arrays(a.get_array(), b.get_array(), budget, depth);
    case boost::json::kind::object:
      return equal_objects(a.get_object(), b.get_object(), budget, depth);
    default: return true;  // null
  }
}

using Hashed = std::pair<std::uint64_t, std::size_t>;

std::vector<Hashed> sorted_hashes(const auto& values, Budget& budget) {
  std::vector<Hashed> out;
  out.reserve(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out.emplace_back(hash(values[i], budget), i);
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<std::pair<std::size_t, std::size_t>> first_pair(const Array& items, Budget& budget) {
  for (std::size_t j = 1; j < items.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (equal(items[i], items[j], budget)) return std::pair(i, j);
    }
  }
  return {};
}

}  // namespace

bool equal(const Value& a, const Value& b, Budget& budget) {
  return equal_within(a, b, budget, 0);
}

Constants::Constants(std::vector<Value> values) : values_(std::move(values)) {
  if (values_.size() <= kFewMax) return;
  Budget unlimited(INT64_MAX);
  by_hash_ = sorted_hashes(values_, unlimited);
}

bool Constants::contains(const Value& value, Budget& budget) const {
  auto equals = [&](const Value& constant) { return equal(constant, value, budget); };
  if (by_hash_.empty()) return std::any_of(values_.begin(), values_.end(), equals);
  std::uint64_t wanted = hash(value, budget);
  auto at = std::lower_bound(by_hash_.begin(), by_hash_.end(), Hashed(wanted, 0));
  for (; at != by_hash_.end() && at->first == wanted; ++at) {
    if (equals(values_[at->second])) return true;
  }
  return false;
}

std::optional<std::pair<std::size_t, std::size_t>> find_duplicate(const Array& items,
                                                                  Budget& budget) {
  if (items.size() <= kFewMax) return first_pair(items, budget);
  auto hashes = sorted_hashes(items, budget);
  for (std::size_t i = 0; i < hashes.size() && !budget.spent(); ++i) {
    for (std::size_t j = i + 1; j < hashes.size() && hashes[j].first == hashes[i].first; ++j) {
      auto [first, second] = std::pair(hashes[i].second, hashes[j].second);
      if (equal(items[first], items[second], budget)) return std::pair(first, second);
      if (budget.spent()) return {};
    }
  }
  return {};
}

}  // namespace errand::json::schema
