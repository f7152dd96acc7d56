#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <errand/detail/type.hpp>

namespace errand::ERRAND_V1::detail {

template <class T>
concept Character = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                    std::same_as<T, char16_t> || std::same_as<T, char32_t>;
template <class T>
concept Integer = std::integral<T> && !std::same_as<T, bool> && !Character<T>;

template <>
struct Type<bool> : Plain {
  static bool read(Reader& reader, const Json& json, bool& out) {
    return read_bool(reader, json, out);
  }
  static Json write(bool value) { return value; }
  static Json schema(SchemaBuilder&) { return type_schema("boolean"); }
};

template <Integer T>
struct Type<T> : Plain {
  static constexpr Shape kShape = Shape::number;
  static constexpr IntegerRange kRange = {
      static_cast<std::int64_t>(std::numeric_limits<T>::min()),
      static_cast<std::uint64_t>(std::numeric_limits<T>::max())};

  static bool read(Reader& reader, const Json& json, T& out) {
    std::uint64_t bits = 0;
    if (!read_integer(reader, json, kRange, bits)) return false;
    out = static_cast<T>(bits);
    return true;
  }
  static Json write(T value) { return value; }
  static Json schema(SchemaBuilder&) { return integer_schema(kRange); }
  static constexpr bool fits(std::int64_t value) { return std::in_range<T>(value); }
};

template <std::floating_point T>
struct Type<T> : Plain {
  static_assert(!std::same_as<T, long double>,
                "errand: JSON numbers have the precision of double; use double.");
  static constexpr Shape kShape = Shape::number;

  static bool read(Reader& reader, const Json& json, T& out) {
    double number = 0;
    if (!read_number(reader, json, number)) return false;
    constexpr double kMax = static_cast<double>(std::numeric_limits<T>::max());
    if (number > kMax || number < -kMax) return reader.fail("the number is too large");
    out = static_cast<T>(number);
    return true;
  }
  static Json write(T value) {
    if constexpr (std::same_as<T, float>) {
      return widened(value);
    } else {
      return static_cast<double>(value);
    }
  }
  static Json schema(SchemaBuilder&) { return type_schema("number"); }
};

template <>
struct Type<std::string> : Plain {
  static constexpr Shape kShape = Shape::text;

  static bool read(Reader& reader, const Json& json, std::string& out) {
    return read_text(reader, json, out);
  }
  static Json write(const std::string& value) { return value; }
  static Json schema(SchemaBuilder&) { return type_schema("string"); }
};

// A std::filesystem::path, which is recognised by what it can do: <filesystem> is not included.
template <class T>
concept Path =
    std::is_class_v<T> && std::constructible_from<T, std::string> && requires(const T& path) {
      { path.lexically_normal() } -> std::same_as<T>;
      { path.string() } -> std::same_as<std::string>;
    };

bool read_path(Reader& reader, const Json& json, std::string& out);

template <Path T>
struct Type<T> : Plain {
  static constexpr Shape kShape = Shape::text;

  static bool read(Reader& reader, const Json& json, T& out) {
    std::string text;
    if (!read_path(reader, json, text)) return false;
    out = T(std::move(text));
    return true;
  }
  static Json write(const T& value) { return value.string(); }
  static Json schema(SchemaBuilder&) { return type_schema("string"); }
};

template <Literal... Values>
struct Type<OneOf<Values...>> : Plain {
  static constexpr bool kIsConstant = sizeof...(Values) == 1;
  using T = OneOf<Values...>;

  static bool read(Reader& reader, const Json& json, T& out) {
    const std::string* text = json.if_string();
    const std::optional<std::int64_t> number = json.to_int64();
    for (const Literal& literal : T::kValues) {
      if (literal.is_text && text && literal.view() == *text) {
        out = T(literal.view());
        return true;
      }
      if (!literal.is_text && number == literal.number) {
        out = T(literal.number);
        return true;
      }
    }
    return read_one_of_failed(reader, json, literals());
  }
  static Json write(const T& value) { return to_json(T::kValues[value.index()]); }
  static Json schema(SchemaBuilder&) { return literals_schema(literals()); }

 private:
  static Json to_json(const Literal& literal) {
    return literal.is_text ? Json(literal.view()) : Json(literal.number);
  }
  static JsonArray literals() { return {to_json(Values)...}; }
};

template <>
struct Type<Json> : Plain {
  static bool read(Reader& reader, const Json& json, Json& out) {
    static_cast<void>(reader);
    out = json;
    return true;
  }
  static Json write(const Json& value) { return value; }
  static Json schema(SchemaBuilder&) { return JsonObject(); }
};
template <>
struct Type<JsonObject> : Plain {
  static bool read(Reader& reader, const Json& json, JsonObject& out) {
    const JsonObject* members = reader.object(json);
    if (members) out = *members;
    return members != nullptr;
  }
  static Json write(const JsonObject& value) { return value; }
  static Json schema(SchemaBuilder&) { return type_schema("object"); }
};
template <class T>
  requires(std::same_as<T, std::nullptr_t> || std::same_as<T, std::monostate>)
struct Type<T> : Plain {
  static bool read(Reader& reader, const Json& json, T&) {
    return json.is_null() || reader.expected("null", json);
  }
  static Json write(const T&) { return nullptr; }
  static Json schema(SchemaBuilder&) { return type_schema("null"); }
};

// ---- What JSON cannot carry -------------------------------------------------------------------

template <class T>
  requires(std::same_as<T, std::string_view> || std::same_as<T, const char*>)
struct Type<T> : Refused<T> {
  static_assert(kNever<T>, "errand: nothing would own the text; use std::string.");
};
template <class T>
  requires(std::is_pointer_v<T> && !std::same_as<T, const char*>)
struct Type<T> : Refused<T> {
  static_assert(kNever<T>,
                "errand: a raw pointer has no owner; use std::optional, std::unique_ptr or "
                "std::shared_ptr.");
};
template <Character T>
struct Type<T> : Refused<T> {
  static_assert(kNever<T>,
                "errand: a character may mean a text or a number; use std::string or std::int8_t.");
};
template <std::same_as<std::byte> T>
struct Type<T> : Refused<T> {
  static_assert(kNever<T>, "errand: JSON has no bytes; use a std::string with base64 text.");
};

}  // namespace errand::ERRAND_V1::detail
