#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>

#include <errand/detail/version.hpp>

// The members of aggregates: how many there are, and where. Both work by trying, for each number of
// members up to 64.
namespace errand::ERRAND_V1::detail {

inline constexpr std::size_t kMembersMax = 64;
inline constexpr std::size_t kTooManyMembers = kMembersMax + 1;

template <std::size_t Count>
struct Members;

template <class... M>
constexpr std::tuple<M*...> addresses(M&... members) {
  return {&members...};
}

// clang-format off
#define ERRAND_E4 {}, {}, {}, {}
#define ERRAND_E16 ERRAND_E4, ERRAND_E4, ERRAND_E4, ERRAND_E4
#define ERRAND_Ma a0, a1, a2, a3, a4, a5, a6, a7
#define ERRAND_Mb b0, b1, b2, b3, b4, b5, b6, b7
#define ERRAND_Mc c0, c1, c2, c3, c4, c5, c6, c7
#define ERRAND_Md d0, d1, d2, d3, d4, d5, d6, d7
#define ERRAND_Me e0, e1, e2, e3, e4, e5, e6, e7
#define ERRAND_Mf f0, f1, f2, f3, f4, f5, f6, f7
#define ERRAND_Mg g0, g1, g2, g3, g4, g5, g6, g7
#define ERRAND_Mh h0, h1, h2, h3, h4, h5, h6, h7
#define ERRAND_UNPACK(...) __VA_ARGS__

// `fits` tells whether T can be initialised from this many empty braces, each for one member.
#define ERRAND_MEMBERS(count, empties, ...)                               \
  template <>                                                             \
  struct Members<count> {                                                 \
    template <class T>                                                    \
    static constexpr bool fits = requires { T{ERRAND_UNPACK empties}; };  \
    template <class T>                                                    \
    static constexpr auto of(T& object) {                                 \
      auto& [__VA_ARGS__] = object;                                       \
      return addresses(__VA_ARGS__);                                      \
    }                                                                     \
  }

template <>
struct Members<0> {
  template <class T>
  static constexpr std::tuple<> of(T&) { return {}; }
};
ERRAND_MEMBERS(1, ({}), a0);
ERRAND_MEMBERS(2, ({}, {}), a0, a1);
ERRAND_MEMBERS(3, ({}, {}, {}), a0, a1, a2);
ERRAND_MEMBERS(4, (ERRAND_E4), a0, a1, a2, a3);
ERRAND_MEMBERS(5, (ERRAND_E4, {}), a0, a1, a2, a3, a4);
ERRAND_MEMBERS(6, (ERRAND_E4, {}, {}), a0, a1, a2, a3, a4, a5);
ERRAND_MEMBERS(7, (ERRAND_E4, {}, {}, {}), a0, a1, a2, a3, a4, a5, a6);
ERRAND_MEMBERS(8, (ERRAND_E4, ERRAND_E4), ERRAND_Ma);
ERRAND_MEMBERS(9, (ERRAND_E4, ERRAND_E4, {}), ERRAND_Ma, b0);
ERRAND_MEMBERS(10, (ERRAND_E4, ERRAND_E4, {}, {}), ERRAND_Ma, b0, b1);
ERRAND_MEMBERS(11, (ERRAND_E4, ERRAND_E4, {}, {}, {}), ERRAND_Ma, b0, b1, b2);
ERRAND_MEMBERS(12, (ERRAND_E4, ERRAND_E4, ERRAND_E4), ERRAND_Ma, b0, b1, b2, b3);
ERRAND_MEMBERS(13, (ERRAND_E4, ERRAND_E4, ERRAND_E4, {}), ERRAND_Ma, b0, b1, b2, b3, b4);
ERRAND_MEMBERS(14, (ERRAND_E4, ERRAND_E4, ERRAND_E4, {}, {}), ERRAND_Ma, b0, b1, b2, b3, b4, b5);
ERRAND_MEMBERS(15, (ERRAND_E4, ERRAND_E4, ERRAND_E4, {}, {}, {}), ERRAND_Ma, b0, b1, b2, b3, b4, b5,
    b6);
ERRAND_MEMBERS(16, (ERRAND_E16), ERRAND_Ma, ERRAND_Mb);
ERRAND_MEMBERS(17, (ERRAND_E16, {}), ERRAND_Ma, ERRAND_Mb, c0);
ERRAND_MEMBERS(18, (ERRAND_E16, {}, {}), ERRAND_Ma, ERRAND_Mb, c0, c1);
ERRAND_MEMBERS(19, (ERRAND_E16, {}, {}, {}), ERRAND_Ma, ERRAND_Mb, c0, c1, c2);
ERRAND_MEMBERS(20, (ERRAND_E16, ERRAND_E4), ERRAND_Ma, ERRAND_Mb, c0, c1, c2, c3);
ERRAND_MEMBERS(21, (ERRAND_E16, ERRAND_E4, {}), ERRAND_Ma, ERRAND_Mb, c0, c1, c2, c3, c4);
ERRAND_MEMBERS(22, (ERRAND_E16, ERRAND_E4, {}, {}), ERRAND_Ma, ERRAND_Mb, c0, c1, c2, c3, c4, c5);
ERRAND_MEMBERS(23, (ERRAND_E16, ERRAND_E4, {}, {}, {}), ERRAND_Ma, ERRAND_Mb, c0, c1, c2, c3, c4,
    c5, c6);
ERRAND_MEMBERS(24, (ERRAND_E16, ERRAND_E4, ERRAND_E4), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc);
ERRAND_MEMBERS(25, (ERRAND_E16, ERRAND_E4, ERRAND_E4, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, d0);
ERRAND_MEMBERS(26, (ERRAND_E16, ERRAND_E4, ERRAND_E4, {}, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, d0,
    d1);
ERRAND_MEMBERS(27, (ERRAND_E16, ERRAND_E4, ERRAND_E4, {}, {}, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    d0, d1, d2);
ERRAND_MEMBERS(28, (ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    d0, d1, d2, d3);
ERRAND_MEMBERS(29, (ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, d0, d1, d2, d3, d4);
ERRAND_MEMBERS(30, (ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, d0, d1, d2, d3, d4, d5);
ERRAND_MEMBERS(31, (ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}, {}, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, d0, d1, d2, d3, d4, d5, d6);
ERRAND_MEMBERS(32, (ERRAND_E16, ERRAND_E16), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md);
ERRAND_MEMBERS(33, (ERRAND_E16, ERRAND_E16, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md, e0);
ERRAND_MEMBERS(34, (ERRAND_E16, ERRAND_E16, {}, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md, e0,
    e1);
ERRAND_MEMBERS(35, (ERRAND_E16, ERRAND_E16, {}, {}, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md,
    e0, e1, e2);
ERRAND_MEMBERS(36, (ERRAND_E16, ERRAND_E16, ERRAND_E4), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md,
    e0, e1, e2, e3);
ERRAND_MEMBERS(37, (ERRAND_E16, ERRAND_E16, ERRAND_E4, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    ERRAND_Md, e0, e1, e2, e3, e4);
ERRAND_MEMBERS(38, (ERRAND_E16, ERRAND_E16, ERRAND_E4, {}, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    ERRAND_Md, e0, e1, e2, e3, e4, e5);
ERRAND_MEMBERS(39, (ERRAND_E16, ERRAND_E16, ERRAND_E4, {}, {}, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    ERRAND_Md, e0, e1, e2, e3, e4, e5, e6);
ERRAND_MEMBERS(40, (ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    ERRAND_Md, ERRAND_Me);
ERRAND_MEMBERS(41, (ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, f0);
ERRAND_MEMBERS(42, (ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, {}, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, f0, f1);
ERRAND_MEMBERS(43, (ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, {}, {}, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, f0, f1, f2);
ERRAND_MEMBERS(44, (ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, f0, f1, f2, f3);
ERRAND_MEMBERS(45, (ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}), ERRAND_Ma,
    ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, f0, f1, f2, f3, f4);
ERRAND_MEMBERS(46, (ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}, {}), ERRAND_Ma,
    ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, f0, f1, f2, f3, f4, f5);
ERRAND_MEMBERS(47, (ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}, {}, {}), ERRAND_Ma,
    ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, f0, f1, f2, f3, f4, f5, f6);
ERRAND_MEMBERS(48, (ERRAND_E16, ERRAND_E16, ERRAND_E16), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md,
    ERRAND_Me, ERRAND_Mf);
ERRAND_MEMBERS(49, (ERRAND_E16, ERRAND_E16, ERRAND_E16, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    ERRAND_Md, ERRAND_Me, ERRAND_Mf, g0);
ERRAND_MEMBERS(50, (ERRAND_E16, ERRAND_E16, ERRAND_E16, {}, {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    ERRAND_Md, ERRAND_Me, ERRAND_Mf, g0, g1);
ERRAND_MEMBERS(51, (ERRAND_E16, ERRAND_E16, ERRAND_E16, {}, {}, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, g0, g1, g2);
ERRAND_MEMBERS(52, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc,
    ERRAND_Md, ERRAND_Me, ERRAND_Mf, g0, g1, g2, g3);
ERRAND_MEMBERS(53, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, g0, g1, g2, g3, g4);
ERRAND_MEMBERS(54, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, {}, {}), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, g0, g1, g2, g3, g4, g5);
ERRAND_MEMBERS(55, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, {}, {}, {}), ERRAND_Ma,
    ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, g0, g1, g2, g3, g4, g5, g6);
ERRAND_MEMBERS(56, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg);
ERRAND_MEMBERS(57, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, {}), ERRAND_Ma,
    ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg, h0);
ERRAND_MEMBERS(58, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, {}, {}), ERRAND_Ma,
    ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg, h0, h1);
ERRAND_MEMBERS(59, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, {}, {}, {}),
    ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg, h0, h1, h2);
ERRAND_MEMBERS(60, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4), ERRAND_Ma,
    ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg, h0, h1, h2, h3);
ERRAND_MEMBERS(61, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}),
    ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg,
    h0, h1, h2, h3, h4);
ERRAND_MEMBERS(62, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}, {}),
    ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg, h0, h1, h2, h3, h4,
    h5);
ERRAND_MEMBERS(63, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E4, ERRAND_E4, ERRAND_E4, {}, {},
    {}), ERRAND_Ma, ERRAND_Mb, ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg, h0, h1, h2,
    h3, h4, h5, h6);
ERRAND_MEMBERS(64, (ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E16), ERRAND_Ma, ERRAND_Mb,
    ERRAND_Mc, ERRAND_Md, ERRAND_Me, ERRAND_Mf, ERRAND_Mg, ERRAND_Mh);
template <>
struct Members<kTooManyMembers> {
  template <class T>
  static constexpr bool fits = requires { T{ERRAND_E16, ERRAND_E16, ERRAND_E16, ERRAND_E16, {}}; };
};
#undef ERRAND_MEMBERS
#undef ERRAND_UNPACK
#undef ERRAND_E4
#undef ERRAND_E16
#undef ERRAND_Ma
#undef ERRAND_Mb
#undef ERRAND_Mc
#undef ERRAND_Md
#undef ERRAND_Me
#undef ERRAND_Mf
#undef ERRAND_Mg
#undef ERRAND_Mh
// clang-format on

// Every member must be default-constructible. A type with more members counts kTooManyMembers.
template <class T, std::size_t Count = 0>
consteval std::size_t count_members() {
  if constexpr (Count == kTooManyMembers) {
    return kTooManyMembers;
  } else if constexpr (Members<Count + 1>::template fits<T>) {
    return count_members<T, Count + 1>();
  } else {
    return Count;
  }
}

}  // namespace errand::ERRAND_V1::detail
