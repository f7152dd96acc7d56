#include "json/schema/number.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

namespace errand::json::schema {
namespace {

__extension__ using Wide = unsigned __int128;

// The magnitude digits * 10^exponent.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

std::uint64_t magnitude(std::int64_t number) {
  return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

// The shortest decimal form has at most 17 digits, which fit.
Decimal shortest(double number) {
  char text[40];
  auto end =
      std::to_chars(text, text + sizeof text, std::fabs(number), std::chars_format::scientific).ptr;
  Decimal out;
  int behind_point = 0;
  bool point = false;
  const char* at = text;
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      point = true;
      continue;
    }
    out.digits = out.digits * 10 + static_cast<std::uint64_t>(*at - '0');
    if (point) ++behind_point;
  }
  if (at == end) return {};  // infinity and NaN are not in JSON
  ++at;
  if (*at == '+') ++at;
  std::from_chars(at, end, out.exponent);
  out.exponent -= behind_point;
  return out;
}

Decimal decimal(const Value& number) {
  if (number.is_int64()) return {.digits = magnitude(number.get_int64())};
  if (number.is_uint64()) return {.digits = number.get_uint64()};
  return shortest(number.get_double());
}

std::uint64_t times(std::uint64_t a, std::uint64_t b, std::uint64_t modulus) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % modulus);
}

std::uint64_t power_of_ten(int exponent, std::uint64_t modulus) {
  std::uint64_t out = 1 % modulus;
  std::uint64_t base = 10 % modulus;
  for (; exponent > 0; exponent >>= 1) {
    if (exponent & 1) out = times(out, base, modulus);
    base = times(base, base, modulus);
  }
  return out;
}

long double exact(const Value& number) {
  static_assert(std::numeric_limits<long double>::digits >= 64, "holds every 64-bit integer");
  if (number.is_int64()) return static_cast<long double>(number.get_int64());
  if (number.is_uint64()) return static_cast<long double>(number.get_uint64());
  return static_cast<long double>(number.get_double());
}

}  // namespace

bool is_integer(const Value& number) {
  return !number.is_double() || std::trunc(number.get_double()) == number.get_double();
}

std::strong_ordering compare(const Value& a, const Value& b) {
  if (a.is_int64() && b.is_int64()) return a.get_int64() <=> b.get_int64();
  long double left = exact(a);
  long double right = exact(b);
  if (left < right) return std::strong_ordering::less;
  return left > right ? std::strong_ordering::greater : std::strong_ordering::equal;
}

bool is_multiple(const Value& number, const Value& divisor) {
  Decimal of = decimal(number);
  Decimal by = decimal(divisor);
  if (by.digits == 0) return false;
  if (of.digits == 0) return true;
  int shift = of.exponent - by.exponent;
  if (shift >= 0) {
    return times(of.digits % by.digits, power_of_ten(shift, by.digits), by.digits) == 0;
  }
  Wide unit = by.digits;
  for (; shift < 0; ++shift) {
    unit *= 10;
    if (unit > of.digits) return false;
  }
  return of.digits % static_cast<std::uint64_t>(unit) == 0;
}

}  // namespace errand::json::schema
