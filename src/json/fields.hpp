#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"

namespace errand::json {

// Reads the members of one JSON object into a struct and remembers the first mistake, so that a
// parse function reads top-down and checks once at the end:
//
//   Fields in(value, pointer);
//   spec.name = in.optional_text("name").value_or("");
//   spec.days = in.integer("days", 1, 14);
//   return in.finish(std::move(spec));
//
// A mistake names its JSON pointer. A missing member and null are both "absent" to the optional
// readers. Members that are never asked for are ignored.
class Fields {
 public:
  // `value` must outlive the reader.
  Fields(const Value& value, std::string_view pointer);

  // Required. After a mistake they return an empty value.
  std::string text(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t min, std::int64_t max);
  const Value& any(std::string_view key);

  // Absent gives nothing.
  std::optional<std::string> optional_text(std::string_view key);
  // The same without a copy: good for as long as the object.
  std::optional<std::string_view> optional_view(std::string_view key);
  std::optional<bool> optional_flag(std::string_view key);
  std::optional<std::int64_t> optional_integer(std::string_view key, std::int64_t min,
                                               std::int64_t max);
  std::optional<double> optional_number(std::string_view key);
  const Object* optional_object(std::string_view key);
  const Array* optional_array(std::string_view key);
  const Value* optional_any(std::string_view key);

  // One of `choices`, by index; absent gives nothing.
  std::optional<std::size_t> optional_choice(std::string_view key,
                                             std::initializer_list<std::string_view> choices);

  std::string pointer_to(std::string_view key) const { return child_pointer(pointer_, key); }

  // Records a mistake at `key` (only the first one counts).
  void fail(std::string_view key, std::string message);
  void fail(Error error);

  bool ok() const { return !error_; }
  template <class T>
  Result<T> finish(T value) {
    if (error_) return std::move(*error_);
    return value;
  }
  Result<void> finish() {
    if (error_) return std::move(*error_);
    return {};
  }

 private:
  const Value* find(std::string_view key) const;
  void expected(std::string_view key, std::string_view what, const Value* found);

  const Object* object_;
  std::string pointer_;
  std::optional<Error> error_;
};

}  // namespace errand::json
