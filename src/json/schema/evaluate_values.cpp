#include <compare>

#include "base/text.hpp"
#include "json/schema/evaluator.hpp"
#include "json/schema/message.hpp"
#include "json/schema/number.hpp"

namespace errand::json::schema {
namespace {

// The approximate cost of compiling a regular expression, in steps.
constexpr std::size_t kRegexSteps = 20'000;

bool has_type(const Value& value, Types types) {
  switch (value.kind()) {
    case boost::json::kind::null: return types & type::kNull;
    case boost::json::kind::bool_: return types & type::kBoolean;
    case boost::json::kind::int64:
    case boost::json::kind::uint64: return types & (type::kInteger | type::kNumber);
    case boost::json::kind::double_:
      return (types & type::kNumber) || ((types & type::kInteger) && is_integer(value));
    case boost::json::kind::string: return types & type::kString;
    case boost::json::kind::array: return types & type::kArray;
    case boost::json::kind::object: return types & type::kObject;
  }
  return false;
}

// The first keyword that the number violates; null if there is none.
const char* broken_rule(const NumberRules& rules, const Value& value) {
  using std::strong_ordering;
  if (rules.minimum && compare(value, *rules.minimum) < 0) return "minimum";
  if (rules.maximum && compare(value, *rules.maximum) > 0) return "maximum";
  if (rules.exclusive_minimum && compare(value, *rules.exclusive_minimum) <= 0) {
    return "exclusiveMinimum";
  }
  if (rules.exclusive_maximum && compare(value, *rules.exclusive_maximum) >= 0) {
    return "exclusiveMaximum";
  }
  if (rules.multiple_of && !is_multiple(value, *rules.multiple_of)) return "multipleOf";
  return nullptr;
}

}  // namespace

bool Evaluator::check_type(const Node& node, const Value& value, const Location& at) {
  if (has_type(value, node.types)) return true;
  return fail(
      node, "type", at, Cause::type, [&] { return expectation(node); },
      [&] { return shown(value); });
}

bool Evaluator::check_constants(const Node& node, const Value& value, const Location& at) {
  bool ok = true;
  if (!node.constants->contains(value, budget_)) {
    ok = fail(
        node, node.constants_keyword, at, Cause::constant,
        [&] { return constants_phrase(*node.constants); }, [&] { return shown(value); });
  }
  if (node.more_constants && goes_on(ok) && !node.more_constants->contains(value, budget_)) {
    std::string_view keyword =
        node.constants_keyword == std::string_view("enum") ? "const" : "enum";
    ok = fail(
        node, keyword, at, Cause::constant, [&] { return constants_phrase(*node.more_constants); },
        [&] { return shown(value); });
  }
  return ok;
}

bool Evaluator::check_number(const Node& node, const Value& value, const Location& at) {
  const char* broken = broken_rule(*node.number, value);
  if (!broken) return true;
  return fail(
      node, broken, at, Cause::other, [&] { return number_phrase(node); },
      [&] { return shown(value); });
}

bool Evaluator::check_string(const Node& node, const Value& value, const Location& at) {
  const StringRules& rules = *node.string;
  std::string_view text = view(value.get_string());
  budget_.spend(text.size() / kTextBytesPerStep);
  const char* broken = nullptr;
  std::string length;
  if (rules.length.min > 0 || rules.length.max != UINT64_MAX) {
    std::size_t characters = utf8_length(text);
    if (!rules.length.contains(characters)) {
      broken = characters < rules.length.min ? "minLength" : "maxLength";
      if (report_) length = cat(" (", characters, characters == 1 ? " character)" : " characters)");
    }
  }
  if (!broken && rules.format) {
    if (*rules.format == Format::regex) budget_.spend(kRegexSteps);
    if (budget_.spent() || !has_format(text, *rules.format)) broken = "format";
  }
  if (!broken && rules.pattern && !rules.pattern->matches(text, budget_)) broken = "pattern";
  if (!broken) return true;
  return fail(
      node, broken, at, Cause::other, [&] { return string_phrase(node); },
      [&] { return cat(quoted(text), length); });
}

bool Evaluator::check_array(const Node& node, const Array& array, const Location& at,
                            Marks* marks) {
  const ArrayRules& rules = *node.array;
  bool ok = true;
  if (!rules.size.contains(array.size())) {
    ok = fail(
        node, array.size() < rules.size.min ? "minItems" : "maxItems", at, Cause::other,
        [&] { return array_phrase(node); }, [&] { return cat(array.size()); });
  }
  if (rules.unique && goes_on(ok)) {
    if (auto pair = find_duplicate(array, budget_)) {
      ok = fail(node, "uniqueItems", at, [&] {
        return cat("items ", pair->first, " and ", pair->second,
                   " are equal, expected all items to differ");
      });
    }
  }
  if (goes_on(ok)) ok = check_items(rules, array, at, marks) && ok;
  if (rules.contains && goes_on(ok)) ok = check_contains(node, array, at, marks) && ok;
  return ok;
}

bool Evaluator::check_items(const ArrayRules& rules, const Array& array, const Location& at,
                            Marks* marks) {
  bool ok = true;
  std::size_t index = 0;
  for (; index < array.size() && index < rules.prefix.size(); ++index) {
    if (!goes_on(ok)) return false;
    ok = check(*rules.prefix[index], array[index], at.item(index), nullptr) && ok;
    if (marks) marks->mark(index);
  }
  if (!rules.rest) return ok;
  if (marks) marks->mark_all();
  for (; index < array.size(); ++index) {
    if (!goes_on(ok)) return false;
    ok = check(*rules.rest, array[index], at.item(index), nullptr) && ok;
  }
  return ok;
}

bool Evaluator::check_contains(const Node& node, const Array& array, const Location& at,
                               Marks* marks) {
  const ArrayRules& rules = *node.array;
  std::size_t count = 0;
  for (std::size_t i = 0; i < array.size(); ++i) {
    if (!fits(*rules.contains, array[i], at.item(i), nullptr)) continue;
    ++count;
    if (marks) marks->mark(i);
    bool decided = count >= rules.contained.min && rules.contained.max == UINT64_MAX;
    if (decided && !marks) return true;
  }
  if (rules.contained.contains(count)) return true;
  bool few = count < rules.contained.min;
  const char* keyword = few && rules.contained.min == 1 ? "contains"
                        : few                           ? "minContains"
                                                        : "maxContains";
  return fail(node, keyword, at, [&] {
    return cat("expected ", few ? "at least " : "at most ",
               few ? rules.contained.min : rules.contained.max,
               " of the items to match \"contains\", got ", count);
  });
}

}  // namespace errand::json::schema
