#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <errand/detail/schema_builder.hpp>

namespace errand::ERRAND_V1 {

// One thing that ERRAND_DESCRIBE says of a member. A string literal is a description.
struct FieldOption {
  FieldOption() = default;
  FieldOption(const char* text) : description(text) {}

  std::string name = {};
  std::string description = {};
  JsonObject keywords = {};
  detail::Presence presence = detail::Presence::by_type;
};
struct NumberOption : FieldOption {};
struct TextOption : FieldOption {};
struct ListOption : FieldOption {};

}  // namespace errand::ERRAND_V1

namespace errand::ERRAND_V1::detail {

template <class T>
struct Of {};

template <class T>
struct NoDescription {
  using Type = T;
  template <class... Any>
  void member(Any&&...) {}
  template <class... Any>
  void enumerator(Any&&...) {}
};

// Found by argument-dependent lookup, in the namespace of T.
template <class T>
concept IsDescribed =
    requires(NoDescription<T>& description) { errand_describe(Of<T>{}, description); };

void apply(Field& field, const FieldOption& option);
void apply(EnumInfo::Entry& entry, const FieldOption& option);

}  // namespace errand::ERRAND_V1::detail

// ERRAND_DETAIL_EACH((a, "x"), (b)) expands ERRAND_DETAIL_ENTRY for up to 80 entries.
#define ERRAND_DETAIL_ENTRY(member_, ...)                                                    \
  if constexpr (std::is_enum_v<ErrandType>) {                                                \
    errand_description.enumerator(#member_, ErrandType::member_ __VA_OPT__(, ) __VA_ARGS__); \
  } else {                                                                                   \
    errand_description.member(#member_, &ErrandType::member_ __VA_OPT__(, ) __VA_ARGS__);    \
  }
#define ERRAND_DETAIL_PARENS ()
#define ERRAND_DETAIL_EXPAND(...) \
  ERRAND_DETAIL_EXPAND4(ERRAND_DETAIL_EXPAND4(ERRAND_DETAIL_EXPAND4(__VA_ARGS__)))
#define ERRAND_DETAIL_EXPAND4(...) \
  ERRAND_DETAIL_EXPAND3(ERRAND_DETAIL_EXPAND3(ERRAND_DETAIL_EXPAND3(__VA_ARGS__)))
#define ERRAND_DETAIL_EXPAND3(...) \
  ERRAND_DETAIL_EXPAND2(ERRAND_DETAIL_EXPAND2(ERRAND_DETAIL_EXPAND2(__VA_ARGS__)))
#define ERRAND_DETAIL_EXPAND2(...) \
  ERRAND_DETAIL_EXPAND1(ERRAND_DETAIL_EXPAND1(ERRAND_DETAIL_EXPAND1(__VA_ARGS__)))
#define ERRAND_DETAIL_EXPAND1(...) __VA_ARGS__
#define ERRAND_DETAIL_EACH(...) __VA_OPT__(ERRAND_DETAIL_EXPAND(ERRAND_DETAIL_STEP(__VA_ARGS__)))
#define ERRAND_DETAIL_STEP(first_, ...) \
  ERRAND_DETAIL_ENTRY first_ __VA_OPT__(ERRAND_DETAIL_AGAIN ERRAND_DETAIL_PARENS(__VA_ARGS__))
#define ERRAND_DETAIL_AGAIN() ERRAND_DETAIL_STEP
