#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <errand/detail/members.hpp>

// The names of members, enumerators and types. A compiler that prints the name of a function prints
// its template arguments, too; the compiled half reads the names out of that text.
namespace errand::ERRAND_V1::detail {

// An object that is never constructed: only the addresses of its members are used.
template <class T>
union Unconstructed {
  constexpr Unconstructed() : nothing() {}
  constexpr ~Unconstructed() {}
  char nothing;
  T value;
};
template <class T>
struct Specimen {
  static inline constinit Unconstructed<T> object;
};

template <class T>
struct AnyBaseOf {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};
template <class T>
concept HasBase = requires { T{AnyBaseOf<T>{}}; };

// Aggregates whose members can be found without help.
template <class T>
consteval bool is_reflectable() {
  if constexpr (std::is_class_v<T> && std::is_aggregate_v<T> && !HasBase<T>) {
    return count_members<T>() <= kMembersMax;
  } else {
    return false;
  }
}

template <auto* Member>
constexpr const char* member_signature() {
  return __PRETTY_FUNCTION__;
}
template <class T>
constexpr const char* type_signature() {
  return __PRETTY_FUNCTION__;
}
template <auto... Values>
constexpr const char* values_signature() {
  return __PRETTY_FUNCTION__;
}

// "city" of `... [with auto* Member = (& Specimen<Weather>::object.value.Weather::city)]`.
std::string member_name(std::string_view signature);
// "Weather" of a namespace's Weather, "Box_int" of Box<int>: the name under "$defs".
std::string type_name(std::string_view signature);
// The name of each value in the order of the arguments; empty for a value without a name.
std::vector<std::string> value_names(std::string_view signature);

// Calls visit.template operator()<M>(name, offset) for each member of a reflectable T.
template <class T, class Visitor>
void for_each_member(Visitor& visit) {
  static constexpr auto kMembers = Members<count_members<T>()>::of(Specimen<T>::object.value);
  const char* start = reinterpret_cast<const char*>(&Specimen<T>::object.value);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (visit.template operator()<
         std::remove_pointer_t<std::tuple_element_t<I, std::remove_const_t<decltype(kMembers)>>>>(
         member_name(member_signature<std::get<I>(kMembers)>()),
         static_cast<std::size_t>(reinterpret_cast<const char*>(std::get<I>(kMembers)) - start)),
     ...);
  }(std::make_index_sequence<std::tuple_size_v<std::remove_const_t<decltype(kMembers)>>>());
  static_cast<void>(start);
}

// Whether every value of the underlying type is a value of the enum.
template <class E>
concept FixedEnum = std::is_enum_v<E> && requires { E{0}; };

// The values among which enumerators are looked for: -16 to 1023, and larger powers of two.
inline constexpr int kEnumFirst = -16;
inline constexpr int kEnumLast = 1023;
inline constexpr int kEnumLastBits = 10;
template <class E>
struct EnumCandidates {
  using Bits = std::underlying_type_t<E>;
  static constexpr int kFirst = std::is_signed_v<Bits> ? kEnumFirst : 0;
  static constexpr int kDigits = std::numeric_limits<Bits>::digits;
  static constexpr int kLast = kDigits < kEnumLastBits ? (1 << kDigits) - 1 : kEnumLast;
  static constexpr int kNear = kLast + 1 - kFirst;
  static constexpr int kCount = kNear + (kDigits > kEnumLastBits ? kDigits - kEnumLastBits : 0);

  static constexpr Bits at(int index) {
    if (index < kNear) return static_cast<Bits>(kFirst + index);
    return static_cast<Bits>(std::uint64_t{1} << (index - kNear + kEnumLastBits));
  }
};

template <class E>
const char* enum_signature() {
  return []<int... I>(std::integer_sequence<int, I...>) {
    return values_signature<static_cast<E>(EnumCandidates<E>::at(I))...>();
  }(std::make_integer_sequence<int, EnumCandidates<E>::kCount>());
}

}  // namespace errand::ERRAND_V1::detail
