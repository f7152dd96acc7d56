#pragma once

#include <errand/describe.hpp>
#include <errand/detail/containers.hpp>
#include <errand/detail/time.hpp>
#include <errand/detail/type.hpp>
#include <errand/json.hpp>
#include <errand/one_of.hpp>

namespace errand::ERRAND_V1 {

// C++ types as JSON, and their schemas (draft 2020-12).
//
// | C++ | JSON |
// |---|---|
// | plain struct, up to 64 members | object without other members |
// | class with ERRAND_DESCRIBE | the same, of the listed members |
// | bool, integers (with their range), float, double | boolean, integer, number |
// | std::string, std::filesystem::path | string |
// | enum class | string: the enumerator's name, if its value is -16 to 1023 or a power of 2 |
// | OneOf<"a", "b"> | one of the literals |
// | std::optional, std::unique_ptr, std::shared_ptr | the value or null; may be missing |
// | std::variant | whichever alternative fits first |
// | std::variant of structs with a member such as OneOf<"circle"> kind | the one of that kind |
// | std::vector, list, deque, set; std::array, T[N] | array; of different items; of N items |
// | std::tuple, std::pair | array of exactly these items |
// | std::map, unordered_map with text, integer or enum keys | object |
// | std::chrono durations | integer or number in the unit of the type |
// | std::chrono::sys_time, year_month_day | string: RFC 3339 date-time, date |
// | Json, JsonObject, JsonArray | any value, object, array |
//
// A member is required unless it may be missing by its type, is described as defaulted(), or has an
// initialiser other than T{}. The initialiser's value is the default of the schema.

// Built at the first call and kept.
template <class T>
const Json& schema_of();

struct ReadOptions {
  // Convert texts to what the schema asks for where nothing is lost ("3" for 3, JSON in a string).
  bool coerce = false;
};

// invalid_argument: pointer() leads to the first value that does not fit; an unknown member is
// answered with the closest name.
template <class T>
Result<T> from_json(const Json& json, ReadOptions options = {});

// Throws an Error (invalid_argument) for a value that has no JSON: an enum value without a name, a
// cycle of pointers, or a time beyond the year 9999.
template <class T>
Json to_json(const T& value);

// ---- Implementation -----------------------------------------------------------------------------

namespace detail {

template <class T>
const CheckedSchema& checked_schema() {
  static const CheckedSchema kSchema(kOps<T>);
  return kSchema;
}

// A whole value: reads it, and checks what only the schema says.
bool read_root(const TypeOps& ops, const CheckedSchema& schema, const Json& json,
               ReadOptions options, void* out, std::optional<Error>& error);

}  // namespace detail

template <class T>
const Json& schema_of() {
  return detail::checked_schema<T>().json();
}

template <class T>
Result<T> from_json(const Json& json, ReadOptions options) {
  T out{};
  std::optional<Error> error;
  if (!detail::read_root(detail::kOps<T>, detail::checked_schema<T>(), json, options, &out,
                         error)) {
    return *error;
  }
  return out;
}

template <class T>
Json to_json(const T& value) {
  return detail::Type<T>::write(value);
}

}  // namespace errand::ERRAND_V1
