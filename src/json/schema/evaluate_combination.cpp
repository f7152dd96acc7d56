#include "base/text.hpp"
#include "json/schema/evaluator.hpp"
#include "json/schema/message.hpp"

namespace errand::json::schema {

bool Evaluator::check_combination(const Node& node, const Value& value, const Location& at,
                                  Marks* marks) {
  const Combination& rules = *node.combination;
  bool ok = !rules.ref || check(*rules.ref, value, at, marks);
  if (rules.dynamic_ref && goes_on(ok)) ok = check_dynamic(rules, value, at, marks) && ok;
  for (const Node* part : rules.all_of) {
    if (!goes_on(ok)) return false;
    ok = check(*part, value, at, marks) && ok;
  }
  if (!rules.any_of.empty() && goes_on(ok)) {
    ok = check_alternatives(node, Wanted::any, value, at, marks) && ok;
  }
  if (!rules.one_of.empty() && goes_on(ok)) {
    ok = check_alternatives(node, Wanted::one, value, at, marks) && ok;
  }
  if (rules.negated && goes_on(ok) && fits(*rules.negated, value, at, nullptr)) {
    ok = fail(node, "not", at, [&] {
      return cat("must not match the schema in \"not\", but does: ", shown(value));
    });
  }
  if (rules.condition && goes_on(ok)) ok = check_condition(rules, value, at, marks) && ok;
  return ok;
}

// The outermost resource that has the anchor wins.
bool Evaluator::check_dynamic(const Combination& rules, const Value& value, const Location& at,
                              Marks* marks) {
  const Node* target = rules.dynamic_ref;
  if (rules.dynamic_anchor) {
    for (const Scope* scope = scope_; scope; scope = scope->outer) {
      const auto& anchors = program_.resources[scope->resource].dynamic_anchors;
      if (!budget_.spend(1 + anchors.size())) return false;
      for (const auto& [anchor, node] : anchors) {
        if (anchor == *rules.dynamic_anchor) target = node;
      }
    }
  }
  return check(*target, value, at, marks);
}

bool Evaluator::check_condition(const Combination& rules, const Value& value, const Location& at,
                                Marks* marks) {
  if (!rules.then && !rules.otherwise && !marks) return true;
  Marks seen;
  bool holds = fits(*rules.condition, value, at, marks ? &seen : nullptr);
  if (holds && marks) marks->merge(seen);
  const Node* next = holds ? rules.then : rules.otherwise;
  return !next || check(*next, value, at, marks);
}

bool Evaluator::check_alternatives(const Node& node, Wanted wanted, const Value& value,
                                   const Location& at, Marks* marks) {
  const auto& branches =
      wanted == Wanted::any ? node.combination->any_of : node.combination->one_of;
  std::string_view keyword = wanted == Wanted::any ? "anyOf" : "oneOf";
  Report* outer = report_;
  std::vector<Report> failed;
  std::vector<std::size_t> passed;
  std::size_t passed_count = 0;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    Report own;
    Marks seen;
    report_ = outer ? &own : nullptr;
    bool ok = check(*branches[i], value, at, marks ? &seen : nullptr);
    report_ = outer;
    if (!ok) {
      if (outer) failed.push_back(std::move(own));
      continue;
    }
    ++passed_count;
    if (marks) marks->merge(seen);
    if (wanted == Wanted::any && !marks) return true;
    if (wanted == Wanted::one && passed_count > 1 && !outer) return false;
    if (outer) passed.push_back(i);
  }
  if (passed_count == 1 || (wanted == Wanted::any && passed_count > 1)) return true;
  if (passed_count > 1) {
    return fail(node, keyword, at, [&] {
      return cat("fits ", passed_count, " of the alternatives of \"oneOf\" (the first two are ",
                 passed[0], " and ", passed[1], "), expected exactly one");
    });
  }
  if (outer) {
    outer->add_closest(std::move(failed), cat(program_.pointer(node), "/", keyword), at.depth);
  }
  return false;
}

}  // namespace errand::json::schema
