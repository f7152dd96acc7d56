#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <utility>

#include <errand/detail/describe.hpp>
#include <errand/json.hpp>

// ERRAND_DESCRIBE says what a struct or an enum cannot say by itself:
//
//   struct Weather {
//     std::string city;
//     int days = 1;
//   };
//   ERRAND_DESCRIBE(Weather, (city, "City to look up"), (days, "Days ahead", errand::range(1, 14)))
//
// It stands in the namespace of the type, after the type and before its first use. Members of a
// plain aggregate that are not listed are kept as they are. Of any other class, exactly the listed
// public members are used. An enum that is described has exactly the listed names. Without it,
// names are found of the values -16 to 1023 and of powers of two: list all names of an enum that
// has other values, too.
#define ERRAND_DESCRIBE(Type_, ...)                                              \
  template <class ErrandDescription>                                             \
  void errand_describe(::errand::v1::detail::Of<Type_>,                          \
                       [[maybe_unused]] ErrandDescription& errand_description) { \
    using ErrandType [[maybe_unused]] = typename ErrandDescription::Type;        \
    ERRAND_DETAIL_EACH(__VA_ARGS__)                                              \
  }

namespace errand::ERRAND_V1 {

// What a member's description may have beside its text.
inline FieldOption name(std::string in_json) {
  FieldOption option;
  option.name = std::move(in_json);
  return option;
}
// The member may be missing; it then keeps the value of its initialiser.
inline FieldOption defaulted() {
  FieldOption option;
  option.presence = detail::Presence::defaulted;
  return option;
}
// The member must be there, although it has an initialiser.
inline FieldOption required() {
  FieldOption option;
  option.presence = detail::Presence::required;
  return option;
}
inline FieldOption example(Json value) {
  FieldOption option;
  option.keywords.set("examples", JsonArray{std::move(value)});
  return option;
}

// Numbers and durations. Both bounds are included.
NumberOption range(Json min, Json max);
NumberOption at_least(Json min);
NumberOption at_most(Json max);
NumberOption multiple_of(Json step);

// Texts: a regular expression of RE2, a format of JSON Schema ("email"), bounds on the number of
// characters, or the only texts that are allowed.
TextOption pattern(std::string expression);
TextOption format(std::string name);
TextOption length(std::size_t min, std::size_t max);
TextOption one_of(JsonArray texts);

// Vectors, sets and other lists: bounds on the number of items.
ListOption items(std::size_t min, std::size_t max);

}  // namespace errand::ERRAND_V1
