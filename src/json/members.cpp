#include "json/members.hpp"

namespace errand::json {
namespace {

const Value* value_at(const Object* from, std::string_view key) {
  return from ? from->if_contains(key) : nullptr;
}

}  // namespace

const Object* object_at(const Object* from, std::string_view key) {
  const Value* value = value_at(from, key);
  return value ? value->if_object() : nullptr;
}

const Array* array_at(const Object* from, std::string_view key) {
  const Value* value = value_at(from, key);
  return value ? value->if_array() : nullptr;
}

std::string_view text_at(const Object* from, std::string_view key) {
  const Value* value = value_at(from, key);
  return value && value->is_string() ? view(value->as_string()) : std::string_view();
}

std::optional<std::int64_t> integer_at(const Object* from, std::string_view key) {
  const Value* value = value_at(from, key);
  if (value && value->is_int64()) return value->as_int64();
  return {};
}

bool flag_at(const Object* from, std::string_view key) {
  const Value* value = value_at(from, key);
  return value && value->is_bool() && value->as_bool();
}

}  // namespace errand::json
