#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <errand/error.hpp>

namespace errand::ERRAND_V1 {

class Json;
struct JsonMember;

using JsonArray = std::vector<Json>;

// The members of a JSON object, in the order in which they were added.
class JsonObject final {
 public:
  JsonObject();
  JsonObject(std::initializer_list<JsonMember> members);  // of two members of a name, the last wins
  explicit JsonObject(std::vector<JsonMember> members);   // the names must be different
  JsonObject(const JsonObject&);
  JsonObject(JsonObject&&) noexcept;
  JsonObject& operator=(const JsonObject&);
  JsonObject& operator=(JsonObject&&) noexcept;
  ~JsonObject();

  std::size_t size() const;
  bool empty() const;
  const JsonMember* begin() const;
  const JsonMember* end() const;

  // Null if there is no member of this name. The pointer is valid until the object changes.
  const Json* find(std::string_view name) const;
  Json* find(std::string_view name);
  bool contains(std::string_view name) const { return find(name) != nullptr; }

  // Adds a null member if there is none of this name.
  Json& operator[](std::string_view name);
  // Replaces the value of a member, or adds the member at the end.
  void set(std::string_view name, Json value);
  bool erase(std::string_view name);

  // The order of members makes no difference.
  bool operator==(const JsonObject& other) const;

 private:
  std::vector<JsonMember> members_;
};

// A JSON value. Integers keep all 64 bits: int64 holds every integer that fits, uint64 only larger
// ones. A plain value without a lock.
class Json final {
 public:
  enum class Kind : std::uint8_t { null, boolean, int64, uint64, number, string, array, object };

  Json() noexcept;
  Json(std::nullptr_t) noexcept;
  Json(std::same_as<bool> auto value) noexcept : Json(Boolean{value}) {}
  template <std::integral N>
    requires(!std::same_as<N, bool> && !std::same_as<N, char> && !std::same_as<N, wchar_t>)
  Json(N value) noexcept
      : Json(Integer{static_cast<std::uint64_t>(value), std::is_signed_v<N> && value < N{}}) {}
  Json(double value) noexcept;
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text) noexcept;
  Json(JsonArray items) noexcept;
  Json(JsonObject members) noexcept;
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  static Json array(std::initializer_list<Json> items = {});
  static Json object(std::initializer_list<JsonMember> members = {});

  // One whole JSON text, exactly: no comments, no duplicate names, UTF-8, at most 200 levels.
  // invalid_argument: the message says what is wrong and at which byte.
  static Result<Json> parse(std::string_view text);

  // On one line. Infinity and NaN become null; bytes that are not UTF-8 become U+FFFD.
  std::string dump() const;

  Kind kind() const noexcept { return static_cast<Kind>(value_.index()); }
  // "a string", "an object", ...: how messages name the value.
  std::string_view kind_name() const noexcept;
  bool is_null() const noexcept { return kind() == Kind::null; }

  // Null if the value is of another kind.
  const bool* if_bool() const noexcept;
  const std::string* if_string() const noexcept;
  const JsonArray* if_array() const noexcept;
  const JsonObject* if_object() const noexcept;
  std::string* if_string() noexcept;
  JsonArray* if_array() noexcept;
  JsonObject* if_object() noexcept;

  // The number, if it is one of this type without loss; 3.0 counts as 3.
  std::optional<std::int64_t> to_int64() const noexcept;
  std::optional<std::uint64_t> to_uint64() const noexcept;
  // The nearest double of any number.
  std::optional<double> to_double() const noexcept;

  // A member or an item; null if there is none, or the value is neither object nor array.
  const Json* find(std::string_view name) const noexcept;
  const Json* find(std::size_t index) const noexcept;

  // The same. Throws an Error (not_found) if there is none.
  const Json& at(std::string_view name) const;
  const Json& at(std::size_t index) const;

  // A member of an object, which is added if it is missing. A null becomes an object; any other
  // kind throws an Error (invalid_argument).
  Json& operator[](std::string_view name);

  // 1 and 1.0 are different values.
  bool operator==(const Json& other) const;

 private:
  struct Boolean {
    bool value;
  };
  struct Integer {
    std::uint64_t bits;
    bool is_negative;
  };
  explicit Json(Boolean value) noexcept;
  explicit Json(Integer value) noexcept;

  // In the order of Kind.
  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, JsonArray,
               JsonObject>
      value_;
};

struct JsonMember {
  std::string name;
  Json value;

  bool operator==(const JsonMember&) const = default;
};

}  // namespace errand::ERRAND_V1
