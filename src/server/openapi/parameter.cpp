#include "server/openapi/parameter.hpp"

#include <algorithm>

namespace errand::server {
namespace {

json::Object schema_of(const Parameter& parameter) {
  switch (parameter.kind) {
    case Parameter::Kind::text: return {{"type", "string"}};
    case Parameter::Kind::integer: {
      json::Object schema{{"type", "integer"}, {"minimum", parameter.min}};
      if (parameter.max != INT64_MAX) schema["maximum"] = parameter.max;
      if (parameter.has_default) schema["default"] = parameter.otherwise;
      return schema;
    }
    case Parameter::Kind::choice: {
      json::Array words;
      for (std::string_view word : parameter.words()) words.emplace_back(word);
      return {{"type", "string"}, {"enum", std::move(words)}};
    }
    case Parameter::Kind::pairs:
      return {{"type", "array"}, {"items", {{"type", "string"}, {"pattern", "^[^:]*:"}}}};
  }
  return {};
}

}  // namespace

std::span<const std::string_view> Parameter::words() const {
  const auto* end = std::find(choices.begin(), choices.end(), std::string_view());
  return {choices.begin(), end};
}

json::Object to_json(const Parameter& parameter) {
  json::Object out{{"name", parameter.name},
                   {"in", "query"},
                   {"description", parameter.about},
                   {"schema", schema_of(parameter)}};
  if (parameter.kind == Parameter::Kind::pairs) {
    out["style"] = "form";
    out["explode"] = true;
  }
  return out;
}

}  // namespace errand::server
