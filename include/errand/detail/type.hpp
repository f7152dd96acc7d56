#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <errand/detail/describe.hpp>
#include <errand/detail/reflect.hpp>
#include <errand/detail/schema_builder.hpp>
#include <errand/json.hpp>
#include <errand/one_of.hpp>

// Type<T>: how a T is read from JSON, written to JSON, and described by a schema.
namespace errand::ERRAND_V1::detail {

struct Plain {
  static constexpr Shape kShape = Shape::other;
  static constexpr bool kMayBeMissing = false;
  static constexpr bool kIsConstant = false;
};

struct StructMark {};

// For types that are refused, so that the static_assert is the only error.
template <class T>
struct Refused : Plain {
  static bool read(Reader&, const Json&, T&) { return false; }
  static Json write(const T&) { return {}; }
  static Json schema(SchemaBuilder&) { return {}; }
};
template <class>
inline constexpr bool kNever = false;

template <class T>
struct Type;

template <class T>
inline constexpr TypeOps kOps = {
    .read = [](Reader& reader, const Json& json,
               void* out) { return Type<T>::read(reader, json, *static_cast<T*>(out)); },
    .write = [](const void* value) { return Type<T>::write(*static_cast<const T*>(value)); },
    .schema = [](SchemaBuilder& builder) { return Type<T>::schema(builder); },
    .zero = [] { return Type<T>::write(T{}); },
    .may_be_missing = Type<T>::kMayBeMissing,
    .is_constant = Type<T>::kIsConstant,
};
// An array is a member, not a value of its own.
template <class T, std::size_t N>
inline constexpr TypeOps kOps<T[N]> = {
    .read = [](Reader& reader, const Json& json,
               void* out) { return Type<T[N]>::read(reader, json, *static_cast<T(*)[N]>(out)); },
    .write =
        [](const void* value) { return Type<T[N]>::write(*static_cast<const T(*)[N]>(value)); },
    .schema = [](SchemaBuilder& builder) { return Type<T[N]>::schema(builder); },
    .zero =
        [] {
          struct Zero {
            T items[N];
          };
          return Type<T[N]>::write(Zero{}.items);
        },
    .may_be_missing = false,
    .is_constant = false,
};

// ---- Structs --------------------------------------------------------------------------------

struct AddReflected {
  template <class M>
  void operator()(std::string name, std::size_t offset) const {
    static_assert(!std::is_const_v<M>,
                  "errand: a const member cannot be read; leave out the const");
    Field field;
    field.name = name;
    field.member = std::move(name);
    field.ops = &kOps<std::remove_const_t<M>>;
    field.offset = offset;
    info.fields.push_back(std::move(field));
  }
  ObjectInfo& info;
};

Field& described_field(ObjectInfo& info, std::string_view member);

// Takes what ERRAND_DESCRIBE says of a struct.
template <class T>
struct StructDescription {
  using Type = T;

  template <class M, class C, class... Options>
  void member(const char* name, M C::* pointer, const Options&... options) {
    static_assert(!std::is_function_v<M>,
                  "errand: ERRAND_DESCRIBE lists data members, not functions");
    (check_option<M, Options>(), ...);
    Field& field = described_field(info, name);
    if (!field.ops) {
      const T& specimen = Specimen<T>::object.value;
      field.ops = &kOps<M>;
      field.offset = static_cast<std::size_t>(reinterpret_cast<const char*>(&(specimen.*pointer)) -
                                              reinterpret_cast<const char*>(&specimen));
    }
    (apply(field, FieldOption(options)), ...);
  }

  template <class M, class Option>
  static void check_option() {
    constexpr Shape kShape = detail::Type<M>::kShape;
    static_assert(
        !std::is_same_v<Option, NumberOption> || kShape == Shape::number,
        "errand: range, at_least, at_most and multiple_of describe numbers and durations");
    static_assert(!std::is_same_v<Option, TextOption> || kShape == Shape::text,
                  "errand: pattern, format, length and one_of describe texts");
    static_assert(!std::is_same_v<Option, ListOption> || kShape == Shape::list,
                  "errand: items describes vectors, sets and other lists");
  }

  ObjectInfo& info;
};

template <class T>
const ObjectInfo& object_info() {
  static const ObjectInfo kInfo = [] {
    ObjectInfo info;
    info.type_name = type_name(type_signature<T>());
    if constexpr (is_reflectable<T>()) {
      AddReflected add{info};
      for_each_member<T>(add);
    }
    if constexpr (IsDescribed<T>) {
      StructDescription<T> description{info};
      errand_describe(Of<T>{}, description);
    }
    T value{};
    info.finish(&value);
    return info;
  }();
  return kInfo;
}

template <class T>
concept IsStruct = std::is_class_v<T> && (is_reflectable<T>() || IsDescribed<T>);

// A struct, unless a specialization below fits better.
template <class T>
struct Type : Plain, StructMark {
  static_assert(
      std::is_class_v<T> && (is_reflectable<T>() || IsDescribed<T>),
      "errand: JSON cannot carry this type as it is. Use a plain struct (public members, no base "
      "class, no constructor, at most 64 members), or list the public members of the class with "
      "ERRAND_DESCRIBE, or use a type that <errand/schema.hpp> lists.");
  static_assert(std::is_default_constructible_v<T>,
                "errand: a type that is read from JSON needs a default constructor.");

  static bool read(Reader& reader, const Json& json, T& out) {
    return read_object(reader, json, object_info<T>(), &out);
  }
  static Json write(const T& value) { return write_object(object_info<T>(), &value); }
  static Json schema(SchemaBuilder& builder) { return builder.object(object_info<T>()); }
};

// ---- Enums ----------------------------------------------------------------------------------

template <class E>
struct EnumDescription {
  using Type = E;

  template <class... Options>
  void enumerator(const char* name, E value, const Options&... options) {
    EnumInfo::Entry entry{name, static_cast<std::uint64_t>(value)};
    (apply(entry, FieldOption(options)), ...);
    info.entries.push_back(std::move(entry));
  }

  EnumInfo& info;
};

void add_enumerators(EnumInfo& info, std::string_view signature, std::uint64_t (*bits)(int index));

template <class E>
const EnumInfo& enum_info() {
  static_assert(FixedEnum<E> || IsDescribed<E>,
                "errand: the names of this enum cannot be found. Write `enum class`, give the enum "
                "an underlying type, or list its names with ERRAND_DESCRIBE.");
  static const EnumInfo kInfo = [] {
    EnumInfo info;
    info.type_name = type_name(type_signature<E>());
    if constexpr (IsDescribed<E>) {
      EnumDescription<E> description{info};
      errand_describe(Of<E>{}, description);
    } else if constexpr (FixedEnum<E>) {
      add_enumerators(info, enum_signature<E>(), [](int index) {
        return static_cast<std::uint64_t>(EnumCandidates<E>::at(index));
      });
    }
    return info;
  }();
  return kInfo;
}

template <class E>
  requires(std::is_enum_v<E> && !std::is_same_v<E, std::byte>)
struct Type<E> : Plain {
  static bool read(Reader& reader, const Json& json, E& out) {
    std::uint64_t bits = 0;
    if (!read_enum(reader, json, enum_info<E>(), bits)) return false;
    out = static_cast<E>(bits);
    return true;
  }
  static Json write(const E& value) {
    return write_enum(enum_info<E>(), static_cast<std::uint64_t>(value));
  }
  static Json schema(SchemaBuilder&) { return enum_schema(enum_info<E>()); }
};

}  // namespace errand::ERRAND_V1::detail
