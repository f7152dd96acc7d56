#include <cmath>

#include "base/text.hpp"
#include "json/schema/compiler.hpp"
#include "json/schema/number.hpp"

namespace errand::json::schema {
namespace {

constexpr std::pair<std::string_view, Types> kTypeNames[] = {
    {"null", type::kNull},     {"boolean", type::kBoolean}, {"integer", type::kInteger},
    {"number", type::kNumber}, {"string", type::kString},   {"array", type::kArray},
    {"object", type::kObject},
};

Types type_of(const Value& name) {
  if (!name.is_string()) return 0;
  for (const auto& [known, type] : kTypeNames) {
    if (known == view(name.get_string())) return type;
  }
  return 0;
}

}  // namespace

NumberRules& Compiler::number_rules() {
  if (!node_->number) node_->number = std::make_unique<NumberRules>();
  return *node_->number;
}

StringRules& Compiler::string_rules() {
  if (!node_->string) node_->string = std::make_unique<StringRules>();
  return *node_->string;
}

std::optional<Value> Compiler::number(const Value& value) {
  if (!value.is_number()) {
    expected("", "a number", value);
    return {};
  }
  return value;
}

std::uint64_t Compiler::count(const Value& value) {
  if (value.is_uint64()) return value.get_uint64();
  if (value.is_int64() && value.get_int64() >= 0) {
    return static_cast<std::uint64_t>(value.get_int64());
  }
  if (value.is_double() && is_integer(value) && value.get_double() >= 0) {
    double count = value.get_double();
    return count < 0x1p64 ? static_cast<std::uint64_t>(count) : UINT64_MAX;
  }
  if (value.is_number()) {
    fail("", "expected an integer of at least 0");
  } else {
    expected("", "an integer of at least 0", value);
  }
  return 0;
}

bool Compiler::is_type_name(const Value& value) {
  return type_of(value) != 0;
}

void Compiler::types(const Value& value) {
  const Array* list = value.if_array();
  Types out = list ? 0 : type_of(value);
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    Types one = type_of((*list)[i]);
    if (one == 0) return fail(child_pointer("", i), "expected the name of a type");
    out |= one;
  }
  if (out == 0) return fail("", "expected the name of a type, or an array of such names");
  node_->types = out;
}

void Compiler::enumeration(const Value& value) {
  if (!value.is_array()) return expected("", "an array", value);
  auto& into = node_->constants ? node_->more_constants : node_->constants;
  const Array& list = value.get_array();
  into = std::make_unique<const Constants>(std::vector<Value>(list.begin(), list.end()));
}

void Compiler::constant(const Value& value) {
  if (!node_->constants) node_->constants_keyword = "const";
  auto& into = node_->constants ? node_->more_constants : node_->constants;
  into = std::make_unique<const Constants>(std::vector<Value>(1, value));
}

void Compiler::minimum(const Value& value) {
  number_rules().minimum = number(value);
}
void Compiler::maximum(const Value& value) {
  number_rules().maximum = number(value);
}
void Compiler::exclusive_minimum(const Value& value) {
  number_rules().exclusive_minimum = number(value);
}
void Compiler::exclusive_maximum(const Value& value) {
  number_rules().exclusive_maximum = number(value);
}

void Compiler::multiple_of(const Value& value) {
  auto divisor = number(value);
  if (divisor && compare(*divisor, Value(0)) != std::strong_ordering::greater) {
    return fail("", "expected a number greater than 0");
  }
  number_rules().multiple_of = std::move(divisor);
}

void Compiler::min_length(const Value& value) {
  string_rules().length.min = count(value);
}
void Compiler::max_length(const Value& value) {
  string_rules().length.max = count(value);
}

void Compiler::text_pattern(const Value& value) {
  if (!value.is_string()) return expected("", "a string", value);
  if (const Pattern* compiled = pattern(view(value.get_string()), "")) {
    string_rules().pattern = compiled;
  }
}

void Compiler::format(const Value& value) {
  if (!value.is_string()) return expected("", "a string", value);
  if (options_.formats == Formats::annotate && !dialect().checks_formats) return;
  if (auto known = format_of(view(value.get_string()))) string_rules().format = known;
}

void Compiler::min_items(const Value& value) {
  array_rules().size.min = count(value);
}
void Compiler::max_items(const Value& value) {
  array_rules().size.max = count(value);
}

void Compiler::unique_items(const Value& value) {
  if (!value.is_bool()) return expected("", "a boolean", value);
  if (value.get_bool()) array_rules().unique = true;
}

void Compiler::min_contains(const Value& value) {
  array_rules().contained.min = count(value);
}
void Compiler::max_contains(const Value& value) {
  array_rules().contained.max = count(value);
}

void Compiler::min_properties(const Value& value) {
  object_rules().size.min = count(value);
}
void Compiler::max_properties(const Value& value) {
  object_rules().size.max = count(value);
}

void Compiler::required(const Value& value) {
  for (const std::string& name : names(value, "")) add_property(name).required = true;
}

void Compiler::dependent_required(const Value& value) {
  if (!value.is_object()) return expected("", "an object of lists of names", value);
  for (const auto& member : value.get_object()) {
    std::string key(member.key());
    auto needed = names(member.value(), child_pointer("", key));
    object_rules().dependent_names.emplace_back(std::move(key), std::move(needed));
  }
}

}  // namespace errand::json::schema
