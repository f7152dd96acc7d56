#include "mcp/header_parameters.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::mcp {
namespace {

constexpr std::string_view kMark = "x-mcp-header";
constexpr std::string_view kPrefix = "Mcp-Param-";
constexpr std::string_view kEncodedStart = "=?base64?";
constexpr std::string_view kEncodedEnd = "?=";
constexpr std::size_t kDepthMax = 32;

bool is_token_char(char c) {
  bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_word || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

Error bad_mark(std::string_view why) {
  return {ErrorCode::invalid_argument, cat("\"", kMark, "\" in its input schema ", why)};
}

// Walks a schema. A mark counts only where nothing but "properties" leads to it.
class Finder final {
 public:
  Result<void> visit(const json::Object& schema, std::vector<std::string>& path) {
    if (path.size() > kDepthMax) return {};
    for (const auto& [key, value] : schema) {
      if (std::string_view(key) == "properties" && value.is_object()) {
        ERRAND_CHECK(visit_properties(value.as_object(), path));
      } else if (std::string_view(key) == kMark) {
        ERRAND_CHECK(take(schema, value, path));
      } else if (std::string_view(key) != "const" && std::string_view(key) != "default" &&
                 std::string_view(key) != "enum" && std::string_view(key) != "examples" &&
                 has_mark(value, 0)) {
        return bad_mark("stands in a place that \"properties\" alone does not lead to");
      }
    }
    return {};
  }

  std::vector<HeaderParameter> found;

 private:
  Result<void> visit_properties(const json::Object& properties, std::vector<std::string>& path) {
    for (const auto& [name, value] : properties) {
      const json::Object* schema = value.if_object();
      if (!schema) continue;
      path.emplace_back(name);
      ERRAND_CHECK(visit(*schema, path));
      path.pop_back();
    }
    return {};
  }

  Result<void> take(const json::Object& schema, const json::Value& mark,
                    const std::vector<std::string>& path) {
    std::string_view name = mark.is_string() ? json::view(mark.as_string()) : std::string_view();
    if (name.empty() || !std::all_of(name.begin(), name.end(), is_token_char)) {
      return bad_mark("is not the name of a header");
    }
    std::string_view type = json::text_at(&schema, "type");
    if (path.empty() || (type != "string" && type != "integer" && type != "boolean")) {
      return bad_mark("stands at a value that is not a string, an integer or a boolean");
    }
    std::string header = cat(kPrefix, name);
    for (const HeaderParameter& other : found) {
      if (equals_ignoring_case(other.header, header)) return bad_mark("names a header twice");
    }
    found.push_back({.header = std::move(header), .path = path});
    return {};
  }

  static bool has_mark(const json::Value& value, std::size_t depth) {
    if (depth > kDepthMax) return false;
    if (const json::Array* list = value.if_array()) {
      return std::any_of(list->begin(), list->end(),
                         [&](const json::Value& one) { return has_mark(one, depth + 1); });
    }
    const json::Object* object = value.if_object();
    if (!object) return false;
    if (object->contains(kMark)) return true;
    return std::any_of(object->begin(), object->end(),
                       [&](const auto& one) { return has_mark(one.value(), depth + 1); });
  }
};

bool is_header_safe(std::string_view text) {
  bool is_plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
  bool is_encoded = text.starts_with(kEncodedStart) && text.ends_with(kEncodedEnd);
  return is_plain && !is_encoded && trim(text) == text;
}

}  // namespace

Result<std::vector<HeaderParameter>> find_header_parameters(const json::Object& input_schema) {
  Finder finder;
  std::vector<std::string> path;
  ERRAND_CHECK(finder.visit(input_schema, path));
  return std::move(finder.found);
}

std::optional<std::string> header_value(const HeaderParameter& parameter,
                                        const json::Object& arguments) {
  const json::Object* within = &arguments;
  const json::Value* value = nullptr;
  for (const std::string& member : parameter.path) {
    value = within ? within->if_contains(member) : nullptr;
    within = value ? value->if_object() : nullptr;
  }
  if (!value) return {};
  if (value->is_string()) return to_header_text(json::view(value->as_string()));
  if (value->is_bool()) return value->as_bool() ? "true" : "false";
  if (value->is_int64()) return std::to_string(value->as_int64());
  if (value->is_uint64()) return std::to_string(value->as_uint64());
  return {};
}

std::string to_header_text(std::string_view text) {
  if (is_header_safe(text)) return std::string(text);
  return cat(kEncodedStart, to_base64(text), kEncodedEnd);
}

}  // namespace errand::mcp
