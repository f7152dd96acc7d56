#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <errand/error.hpp>

namespace errand::ERRAND_V1 {

// A text of up to 63 bytes or an integer, as a template argument.
struct Literal {
  static constexpr std::size_t kBytesMax = 63;

  template <std::size_t N>
  consteval Literal(const char (&value)[N]) : size(N - 1), is_text(true) {
    static_assert(N - 1 <= kBytesMax, "errand: a literal has at most 63 bytes");
    for (std::size_t i = 0; i + 1 < N; ++i) text[i] = value[i];
  }
  consteval Literal(int value) : number(value) {}
  consteval Literal(long value) : number(value) {}
  consteval Literal(long long value) : number(value) {}

  constexpr std::string_view view() const { return {text, size}; }
  constexpr bool operator==(const Literal&) const = default;

  char text[kBytesMax + 1] = {};
  std::size_t size = 0;
  std::int64_t number = 0;
  bool is_text = false;
};

namespace detail {
[[noreturn]] void throw_no_literal(std::string_view text);
[[noreturn]] void throw_no_literal(std::int64_t number);
}  // namespace detail

// One of a fixed set of texts or numbers: OneOf<"celsius", "fahrenheit"> or OneOf<1, 2, 4>.
// The first is the default. OneOf<"circle"> is a constant, which can tell the structs of a variant
// apart.
template <Literal... Values>
class OneOf final {
  static_assert(sizeof...(Values) > 0, "errand: OneOf needs at least one value");

 public:
  static constexpr std::array<Literal, sizeof...(Values)> kValues = {Values...};

  constexpr OneOf() = default;
  // Throws an Error (invalid_argument) if the value is not one of the set.
  constexpr OneOf(std::string_view text) : index_(find(text)) {
    if (index_ == kValues.size()) detail::throw_no_literal(text);
  }
  constexpr OneOf(const char* text) : OneOf(std::string_view(text)) {}
  constexpr OneOf(std::int64_t number) : index_(find(number)) {
    if (index_ == kValues.size()) detail::throw_no_literal(number);
  }
  constexpr OneOf(int number) : OneOf(std::int64_t{number}) {}

  // The text; empty for a number.
  constexpr std::string_view text() const { return kValues[index_].view(); }
  // The number; 0 for a text.
  constexpr std::int64_t number() const { return kValues[index_].number; }
  constexpr std::size_t index() const { return index_; }

  constexpr bool operator==(const OneOf&) const = default;
  constexpr bool operator==(std::string_view other) const {
    return kValues[index_].is_text && text() == other;
  }

 private:
  static constexpr std::size_t find(std::string_view text) {
    std::size_t at = 0;
    while (at < kValues.size() && !(kValues[at].is_text && kValues[at].view() == text)) ++at;
    return at;
  }
  static constexpr std::size_t find(std::int64_t number) {
    std::size_t at = 0;
    while (at < kValues.size() && (kValues[at].is_text || kValues[at].number != number)) ++at;
    return at;
  }

  std::size_t index_ = 0;
};

}  // namespace errand::ERRAND_V1
