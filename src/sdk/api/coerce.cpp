#include "sdk/api/coerce.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

namespace errand::v1::detail {
namespace {

// Bounds references that form a cycle, and values that are nested too deeply.
constexpr int kReferencesMax = 32;

// Walks a value and its schema side by side.
class Walk {
 public:
  enum class What { coerce, drop_unknown };

  Walk(const Json& root, What what) : root_(root), what_(what) {}

  void visit(const Json& schema, Json& value) const;

 private:
  const Json* resolve(const Json& schema) const;
  const Json* find(const std::string& reference) const;
  void convert(const Json& schema, Json& value) const;
  void visit_members(const Json& schema, JsonObject& members) const;
  void visit_items(const Json& schema, JsonArray& items) const;

  const Json& root_;
  What what_;
};

const Json* Walk::find(const std::string& reference) const {
  if (reference == "#") return &root_;
  constexpr std::string_view kDefinitions = "#/$defs/";
  if (!reference.starts_with(kDefinitions)) return nullptr;
  const Json* definitions = root_.find("$defs");
  return definitions ? definitions->find(std::string_view(reference).substr(kDefinitions.size()))
                     : nullptr;
}

// Follows references, and an "anyOf" or "oneOf" that has one alternative besides null.
const Json* Walk::resolve(const Json& schema) const {
  const Json* at = &schema;
  for (int steps = 0; at && steps < kReferencesMax; ++steps) {
    const Json* reference = at->find("$ref");
    if (reference && reference->if_string()) {
      at = find(*reference->if_string());
      continue;
    }
    const Json* any = at->find("anyOf");
    if (!any) any = at->find("oneOf");
    if (!any || !any->if_array()) return at;
    const Json* only = nullptr;
    for (const Json& one : *any->if_array()) {
      const Json* type = one.find("type");
      if (type && *type == Json("null")) continue;
      if (only) return at;
      only = &one;
    }
    at = only;
  }
  return nullptr;
}

bool takes(const Json& schema, std::string_view type) {
  const Json* types = schema.find("type");
  if (!types) return false;
  if (const JsonArray* list = types->if_array()) {
    return std::ranges::any_of(*list, [&](const Json& one) { return one == Json(type); });
  }
  return *types == Json(type);
}

bool fits(const Json& schema, const Json& value) {
  switch (value.kind()) {
    case Json::Kind::null: return takes(schema, "null");
    case Json::Kind::boolean: return takes(schema, "boolean");
    case Json::Kind::int64:
    case Json::Kind::uint64: return takes(schema, "integer") || takes(schema, "number");
    case Json::Kind::number:
      return takes(schema, "number") || (takes(schema, "integer") && value.to_int64());
    case Json::Kind::array: return takes(schema, "array");
    case Json::Kind::object: return takes(schema, "object");
    case Json::Kind::string: return false;
  }
  return false;
}

// The significant digits of a number: "1050" of "-10.50e3".
std::string digits_of(std::string_view number) {
  std::string digits;
  for (char c : number.substr(0, number.find_first_of("eE"))) {
    if (c >= '0' && c <= '9') digits += c;
  }
  auto last = digits.find_last_not_of('0');
  if (last == std::string::npos) return {};
  return digits.substr(digits.find_first_not_of('0'), last + 1 - digits.find_first_not_of('0'));
}

// From kGapsBegin on, doubles are integers with gaps between them. Those below kIntegersEnd may be
// read as integers, too.
constexpr double kGapsBegin = 9007199254740992.0;  // 2^53
constexpr double kIntegersEnd = 18446744073709551616.0;

// All digits of a double. Its shortest text may have zeros in place of the last digits.
std::string whole_number(double number) {
  std::array<char, 32> buffer{};
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                           std::chars_format::fixed, 0);
  return {buffer.data(), end.ptr};
}

// Whether the parsed number is exactly the one that the model wrote. Comparing digits is enough: a
// rounded number never has the same digits with another exponent.
bool is_exact_number(std::string_view token) {
  auto parsed = Json::parse(token);
  if (!parsed) return false;
  if (parsed->kind() != Json::Kind::number) return true;
  const double number = *parsed->to_double();
  const double size = std::abs(number);
  const bool has_gaps = size >= kGapsBegin && size < kIntegersEnd;
  return digits_of(token) == digits_of(has_gaps ? whole_number(number) : parsed->dump());
}

// The end of a string that begins at `at`.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

// Whether every number of a JSON text is exact, at any depth.
bool is_exact(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      const std::size_t end = std::min(text.find_first_not_of("+-.0123456789Ee", at), text.size());
      if (!is_exact_number(text.substr(at, end - at))) return false;
      at = end;
    } else {
      ++at;
    }
  }
  return true;
}

void Walk::convert(const Json& schema, Json& value) const {
  const std::string* text = value.if_string();
  if (!text || !schema.find("type") || takes(schema, "string")) return;
  auto parsed = Json::parse(*text);
  if (parsed && fits(schema, *parsed) && is_exact(*text)) value = std::move(*parsed);
}

void Walk::visit(const Json& schema, Json& value) const {
  const Json* at = resolve(schema);
  if (!at) return;
  if (what_ == What::coerce) convert(*at, value);
  if (JsonObject* members = value.if_object()) visit_members(*at, *members);
  if (JsonArray* items = value.if_array()) visit_items(*at, *items);
}

void Walk::visit_members(const Json& schema, JsonObject& members) const {
  const Json* properties = schema.find("properties");
  const Json* others = schema.find("additionalProperties");
  bool takes_others = !others || *others != Json(false) || schema.find("patternProperties");
  std::vector<std::string> unknown;
  for (const JsonMember& member : members) {
    const Json* known = properties ? properties->find(member.name) : nullptr;
    if (!known && !takes_others) unknown.push_back(member.name);
    const Json* one = known ? known : others;
    if (one && one->if_object()) visit(*one, members[member.name]);
  }
  if (what_ != What::drop_unknown) return;
  for (const std::string& name : unknown) members.erase(name);
}

void Walk::visit_items(const Json& schema, JsonArray& items) const {
  const Json* prefix = schema.find("prefixItems");
  const Json* rest = schema.find("items");
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Json* one = prefix ? prefix->find(i) : nullptr;
    if (!one) one = rest;
    if (one) visit(*one, items[i]);
  }
}

}  // namespace

Json coerce_to(const Json& schema, Json value) {
  Walk(schema, Walk::What::coerce).visit(schema, value);
  return value;
}

Json without_unknown_members(const Json& schema, Json value) {
  Walk(schema, Walk::What::drop_unknown).visit(schema, value);
  return value;
}

// ---- Nulls --------------------------------------------------------------------------------------

namespace {

bool takes_null(const Json& schema) {
  const Json* type = schema.find("type");
  if (type && (*type == Json("null"))) return true;
  if (type && type->if_array()) {
    return std::ranges::any_of(*type->if_array(),
                               [](const Json& one) { return one == Json("null"); });
  }
  for (std::string_view keyword : {"anyOf", "oneOf"}) {
    const Json* any = schema.find(keyword);
    if (any && any->if_array() && std::ranges::any_of(*any->if_array(), takes_null)) {
      return true;
    }
  }
  return false;
}

// The required members that are missing and may be null.
std::vector<std::string> missing_nulls(const Json& schema, const JsonObject& members) {
  std::vector<std::string> out;
  const Json* required = schema.find("required");
  const Json* properties = schema.find("properties");
  if (!required || !required->if_array() || !properties) return out;
  for (const Json& name : *required->if_array()) {
    const std::string* text = name.if_string();
    if (!text || members.contains(*text)) continue;
    const Json* property = properties->find(*text);
    if (property && takes_null(*property)) out.push_back(*text);
  }
  return out;
}

}  // namespace

bool adds_nulls(const Json& schema) {
  return !missing_nulls(schema, {}).empty();
}

Json with_nulls(const Json& schema, Json arguments) {
  JsonObject* members = arguments.if_object();
  if (!members) return arguments;
  for (const std::string& name : missing_nulls(schema, *members)) members->set(name, nullptr);
  return arguments;
}

}  // namespace errand::v1::detail
