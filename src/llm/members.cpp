#include "llm/members.hpp"

#include <algorithm>

#include "json/parse.hpp"

namespace errand::llm {
namespace {

constexpr std::int64_t kTokensMax = 1'000'000'000'000;

const json::Value* value_at(const json::Object* from, std::string_view key) {
  return from ? from->if_contains(key) : nullptr;
}

}  // namespace

const json::Object* object_at(const json::Object* from, std::string_view key) {
  const json::Value* value = value_at(from, key);
  return value ? value->if_object() : nullptr;
}

const json::Array* array_at(const json::Object* from, std::string_view key) {
  const json::Value* value = value_at(from, key);
  return value ? value->if_array() : nullptr;
}

std::string_view text_at(const json::Object* from, std::string_view key) {
  const json::Value* value = value_at(from, key);
  return value && value->is_string() ? json::view(value->as_string()) : std::string_view();
}

std::optional<std::int64_t> integer_at(const json::Object* from, std::string_view key) {
  const json::Value* value = value_at(from, key);
  if (value && value->is_int64()) return value->as_int64();
  return {};
}

bool flag_at(const json::Object* from, std::string_view key) {
  const json::Value* value = value_at(from, key);
  return value && value->is_bool() && value->as_bool();
}

void read_tokens(std::int64_t& count, const json::Object* from, std::string_view key) {
  if (auto number = integer_at(from, key)) {
    count = std::clamp<std::int64_t>(*number, 0, kTokensMax);
  }
}

std::optional<json::Object> parse_object(std::string_view text) {
  auto value = json::parse(text, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!value || !value->is_object()) return {};
  return std::move(value->as_object());
}

}  // namespace errand::llm
