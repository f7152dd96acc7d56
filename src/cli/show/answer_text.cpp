#include "cli/show/answer_text.hpp"

#include "json/write.hpp"

namespace errand::cli {

const json::Value* member(const json::Value& value, std::string_view key) {
  return value.is_object() ? value.get_object().if_contains(key) : nullptr;
}

std::string text_of(const json::Value& value, std::string_view key) {
  const json::Value* found = member(value, key);
  if (!found || found->is_null() || found->is_structured()) return {};
  if (found->is_string()) return std::string(json::view(found->get_string()));
  return json::write(*found);
}

json::Array items_of(const json::Value& value, std::string_view key) {
  const json::Value* found = member(value, key);
  return found && found->is_array() ? found->get_array() : json::Array();
}

}  // namespace errand::cli
