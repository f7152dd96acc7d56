#include "json/fields.hpp"

#include "base/text.hpp"
#include "json/write.hpp"

namespace errand::json {
namespace {

const Value kNull;

std::optional<std::int64_t> as_integer(const Value& value) {
  if (value.is_int64()) return value.get_int64();
  if (value.is_uint64() && value.get_uint64() <= std::numeric_limits<std::int64_t>::max()) {
    return static_cast<std::int64_t>(value.get_uint64());
  }
  return {};
}

}  // namespace

Fields::Fields(const Value& value, std::string_view pointer)
    : object_(value.if_object()), pointer_(pointer) {
  if (!object_) {
    fail(Error(ErrorCode::invalid_argument, cat("expected an object, got ", kind_name(value)))
             .pointer(pointer_));
  }
}

const Value* Fields::find(std::string_view key) const {
  if (!object_) return nullptr;
  const Value* found = object_->if_contains({key.data(), key.size()});
  return found && !found->is_null() ? found : nullptr;
}

void Fields::fail(std::string_view key, std::string message) {
  fail(Error(ErrorCode::invalid_argument, std::move(message)).pointer(pointer_to(key)));
}

void Fields::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void Fields::expected(std::string_view key, std::string_view what, const Value* found) {
  if (!object_) return;
  fail(key, found ? cat("expected ", what, ", got ", kind_name(*found))
                  : cat("\"", key, "\" is missing: expected ", what));
}

std::string Fields::text(std::string_view key) {
  const Value* found = find(key);
  if (found && found->is_string()) return std::string(view(found->get_string()));
  expected(key, "a string", found);
  return {};
}

std::int64_t Fields::integer(std::string_view key, std::int64_t min, std::int64_t max) {
  auto number = optional_integer(key, min, max);
  if (!number && !find(key)) expected(key, cat("an integer from ", min, " to ", max), nullptr);
  return number.value_or(min);
}

const Value& Fields::any(std::string_view key) {
  const Value* found = find(key);
  if (!found) expected(key, "a value", nullptr);
  return found ? *found : kNull;
}

std::optional<std::string> Fields::optional_text(std::string_view key) {
  if (auto text = optional_view(key)) return std::string(*text);
  return {};
}

std::optional<std::string_view> Fields::optional_view(std::string_view key) {
  const Value* found = find(key);
  if (!found) return {};
  if (found->is_string()) return view(found->get_string());
  expected(key, "a string", found);
  return {};
}

std::optional<bool> Fields::optional_flag(std::string_view key) {
  const Value* found = find(key);
  if (!found) return {};
  if (found->is_bool()) return found->get_bool();
  expected(key, "true or false", found);
  return {};
}

std::optional<std::int64_t> Fields::optional_integer(std::string_view key, std::int64_t min,
                                                     std::int64_t max) {
  const Value* found = find(key);
  if (!found) return {};
  auto number = as_integer(*found);
  if (number && *number >= min && *number <= max) return number;
  if (found->is_int64() || found->is_uint64()) {
    fail(key, cat("expected an integer from ", min, " to ", max, ", got ", write(*found)));
    return {};
  }
  expected(key, cat("an integer from ", min, " to ", max), found);
  return {};
}

std::optional<double> Fields::optional_number(std::string_view key) {
  const Value* found = find(key);
  if (!found) return {};
  if (found->is_number()) return found->to_number<double>();
  expected(key, "a number", found);
  return {};
}

const Object* Fields::optional_object(std::string_view key) {
  const Value* found = find(key);
  if (!found) return nullptr;
  if (!found->is_object()) expected(key, "an object", found);
  return found->if_object();
}

const Array* Fields::optional_array(std::string_view key) {
  const Value* found = find(key);
  if (!found) return nullptr;
  if (!found->is_array()) expected(key, "an array", found);
  return found->if_array();
}

const Value* Fields::optional_any(std::string_view key) {
  return find(key);
}

std::optional<std::size_t> Fields::optional_choice(
    std::string_view key, std::initializer_list<std::string_view> choices) {
  auto word = optional_text(key);
  if (!word) return {};
  std::string listed;
  std::size_t index = 0;
  for (std::string_view choice : choices) {
    if (*word == choice) return index;
    append(listed, index++ == 0 ? "" : ", ", '"', choice, '"');
  }
  fail(key, cat("expected one of ", listed, ", got \"", *word, "\""));
  return {};
}

}  // namespace errand::json
