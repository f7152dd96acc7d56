#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/fields.hpp"

namespace errand::room {

// Members of grants, which clients spell in two ways.
using GrantedNames = std::vector<std::string>;

inline std::optional<bool> flag_of(json::Fields& in, std::string_view snake,
                                   std::string_view camel) {
  auto flag = in.optional_flag(snake);
  return flag || snake == camel ? flag : in.optional_flag(camel);
}

inline std::optional<GrantedNames> texts_of(json::Fields& in, std::string_view snake,
                                            std::string_view camel) {
  const json::Array* found = in.optional_array(snake);
  if (!found && snake != camel) found = in.optional_array(camel);
  if (!found) return std::nullopt;
  GrantedNames names;
  for (const json::Value& one : *found) {
    if (!one.is_string()) {
      in.fail(snake, "expected a list of strings");
      break;
    }
    names.emplace_back(json::view(one.as_string()));
  }
  return names;
}

}  // namespace errand::room
