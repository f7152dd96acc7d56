#include <algorithm>

#include "base/text.hpp"
#include "json/schema/evaluator.hpp"
#include "json/schema/message.hpp"

namespace errand::json::schema {

bool Evaluator::check_object(const Node& node, const Value& value, const Location& at,
                             Marks* marks) {
  const ObjectRules& rules = *node.object;
  const Object& object = value.get_object();
  bool ok = true;
  if (!rules.size.contains(object.size())) {
    ok = fail(
        node, object.size() < rules.size.min ? "minProperties" : "maxProperties", at, Cause::other,
        [&] { return object_phrase(node); }, [&] { return cat(object.size()); });
  }
  if (goes_on(ok)) ok = check_members(node, object, at, marks) && ok;
  bool depends = !rules.dependent_names.empty() || !rules.dependent_schemas.empty();
  if (depends && goes_on(ok)) ok = check_dependencies(node, value, at, marks) && ok;
  return ok;
}

bool Evaluator::check_members(const Node& node, const Object& object, const Location& at,
                              Marks* marks) {
  const ObjectRules& rules = *node.object;
  // Missing members are reported first: they are what models most often get wrong.
  bool ok = object.size() >= rules.required_count;
  if (report_) {
    ok = fail_missing(node, object, at);
  } else if (!ok) {
    return false;
  }
  std::size_t required = 0;
  std::size_t index = 0;
  for (const auto& member : object) {
    if (!budget_.spend(1) || !goes_on(ok)) return false;
    std::string_view name(member.key().data(), member.key().size());
    const Property* property = rules.find(name);
    if (property && property->required) ++required;
    ok = check_member(node, name, member.value(), property, at, marks, index++) && ok;
  }
  return ok && required == rules.required_count;
}

bool Evaluator::check_member(const Node& node, std::string_view name, const Value& value,
                             const Property* property, const Location& at, Marks* marks,
                             std::size_t index) {
  const ObjectRules& rules = *node.object;
  Location below = at.member(name);
  bool ok = !rules.names || check_name(node, name, at);
  bool known = property && property->node;
  if (known && goes_on(ok)) ok = check(*property->node, value, below, nullptr) && ok;
  known = known || rules.has_unchecked_patterns;
  for (const auto& [pattern, schema] : rules.patterns) {
    if (!goes_on(ok)) return false;
    if (!pattern->matches(name, budget_)) continue;
    known = true;
    ok = check(*schema, value, below, nullptr) && ok;
  }
  if (!known && rules.additional && goes_on(ok)) {
    known = true;
    ok = (rules.additional->verdict == Verdict::never
              ? fail_unexpected(node, "additionalProperties", name, at)
              : check(*rules.additional, value, below, nullptr)) &&
         ok;
  }
  if (known && marks) marks->mark(index);
  return ok;
}

// The name is checked as a value, and its errors are reported at the object.
bool Evaluator::check_name(const Node& node, std::string_view name, const Location& at) {
  budget_.spend(name.size() / kTextBytesPerStep);
  Value text(boost::json::string_view(name.data(), name.size()));
  Report* outer = report_;
  Report own;
  report_ = outer ? &own : nullptr;
  bool ok = check(*node.object->names, text, at, nullptr);
  report_ = outer;
  if (ok || !outer) return ok;
  for (SchemaError& error : std::move(own).take()) {
    error.message = cat("property name ", quoted(name), ": ", error.message);
    outer->add({.error = std::move(error), .depth = at.depth});
  }
  return false;
}

bool Evaluator::check_dependencies(const Node& node, const Value& value, const Location& at,
                                   Marks* marks) {
  const ObjectRules& rules = *node.object;
  const Object& object = value.get_object();
  bool ok = true;
  for (const auto& [name, needed] : rules.dependent_names) {
    if (!budget_.spend(1)) return false;
    if (!object.contains(name)) continue;
    for (const std::string& other : needed) {
      if (!budget_.spend(1)) return false;
      if (object.contains(other)) continue;
      ok = fail(node, rules.dependency_keyword, at, [&] {
        return cat("missing property ", quoted(other), ", which is required because ", quoted(name),
                   " is there");
      });
      if (!goes_on(ok)) return false;
    }
  }
  for (const auto& [name, schema] : rules.dependent_schemas) {
    if (!budget_.spend(1) || !goes_on(ok)) return false;
    if (object.contains(name)) ok = check(*schema, value, at, marks) && ok;
  }
  return ok;
}

bool Evaluator::fail_missing(const Node& node, const Object& object, const Location& at) {
  budget_.spend(node.object->properties.size());
  std::vector<const Property*> missing;
  for (const Property& property : node.object->properties) {
    if (property.required && !object.contains(property.name)) missing.push_back(&property);
  }
  std::ranges::sort(missing, {}, &Property::order);
  for (const Property* property : missing) {
    if (report_->full()) break;
    add_failure(node, "required", at, cat("missing required property ", quoted(property->name)));
  }
  return missing.empty();
}

bool Evaluator::fail_unexpected(const Node& node, std::string_view keyword, std::string_view name,
                                const Location& at) {
  return fail(node, keyword, at, [&] {
    std::string out = cat("unexpected property ", quoted(name));
    if (keyword != "additionalProperties" || !node.object) return out;
    budget_.spend(node.object->properties.size());
    if (!node.object->properties.empty()) {
      append(out, "; known are ", known_properties(*node.object));
    }
    return out;
  });
}

}  // namespace errand::json::schema
