#include "run/guard_limits.hpp"

#include <algorithm>
#include <cstdint>

#include "base/text.hpp"
#include "json/fields.hpp"

namespace errand {
namespace {

// The protocol's own research tools.
ToolBudgets default_budgets() {
  ToolBudgets budgets{{"recall", 4}, {"traverse", 3}, {"hive_consult_ontology", 4}};
  for (const char* what : {"deals", "meetings", "companies", "people", "tickets", "conversations",
                           "accounts", "releases", "issues"}) {
    budgets[cat("hive_search_", what)] = 5;
  }
  return budgets;
}

std::optional<int> as_int(std::optional<std::int64_t> number) {
  if (!number) return {};
  return static_cast<int>(*number);
}

}  // namespace

Result<LoopDetection> parse_loop_detection(const json::Value& value, std::string_view pointer) {
  if (value == false) return LoopDetection{.is_off = true};
  if (!value.is_object()) {
    return Error(ErrorCode::invalid_argument,
                 cat("expected false or an object, got ", json::kind_name(value)))
        .pointer(pointer);
  }
  json::Fields in(value, pointer);
  LoopDetection asked;
  asked.consecutive_threshold =
      as_int(in.optional_integer("consecutiveThreshold", 2, kLoopThresholdMax));
  asked.hard_cutoff_threshold =
      as_int(in.optional_integer("hardCutoffThreshold", 3, kLoopThresholdMax));
  // If both thresholds are given, they are judged as they are. If one is given, the other is moved
  // to fit.
  if (asked.consecutive_threshold && asked.hard_cutoff_threshold &&
      *asked.hard_cutoff_threshold <= *asked.consecutive_threshold) {
    in.fail("hardCutoffThreshold", "\"hardCutoffThreshold\" must exceed \"consecutiveThreshold\"");
  }
  return in.finish(asked);
}

Result<ToolBudgets> parse_tool_budgets(const json::Value& value, std::string_view pointer) {
  json::Fields all(value, pointer);
  ERRAND_CHECK(all.finish());
  const json::Object& object = value.get_object();
  if (object.size() > kToolBudgetsMax) {
    return Error(ErrorCode::invalid_argument,
                 cat("at most ", kToolBudgetsMax, " tools may have a budget"))
        .pointer(pointer)
        .limit("toolBudgets", static_cast<std::int64_t>(kToolBudgetsMax));
  }
  ToolBudgets budgets;
  for (const auto& member : object) {
    std::string name(member.key().data(), member.key().size());
    std::string place = json::child_pointer(pointer, name);
    if (name.empty() || utf8_length(name) > kToolBudgetNameCharsMax) {
      return Error(ErrorCode::invalid_argument,
                   cat("the name of a tool has 1 to ", kToolBudgetNameCharsMax, " characters here"))
          .pointer(place)
          .limit("toolBudgetNameChars", static_cast<std::int64_t>(kToolBudgetNameCharsMax));
    }
    json::Fields in(member.value(), place);
    budgets[name] = static_cast<int>(in.integer("maxCalls", 0, kToolBudgetMax));
    ERRAND_CHECK(in.finish());
  }
  return budgets;
}

json::Value to_json(const LoopDetection& asked) {
  if (asked.is_off) return false;
  json::Object out;
  if (asked.consecutive_threshold) out["consecutiveThreshold"] = *asked.consecutive_threshold;
  if (asked.hard_cutoff_threshold) out["hardCutoffThreshold"] = *asked.hard_cutoff_threshold;
  return out;
}

json::Object to_json(const ToolBudgets& budgets) {
  json::Object out;
  for (const auto& [name, max_calls] : budgets) out[name] = {{"maxCalls", max_calls}};
  return out;
}

std::optional<LoopLimits> loop_limits(const std::optional<LoopDetection>& asked) {
  constexpr LoopLimits kDefaults;
  if (!asked) return kDefaults;
  if (asked->is_off) return {};
  LoopLimits limits{.nudge_at = asked->consecutive_threshold.value_or(kDefaults.nudge_at),
                    .cut_off_at = asked->hard_cutoff_threshold.value_or(kDefaults.cut_off_at)};
  if (limits.cut_off_at > limits.nudge_at) return limits;
  if (asked->consecutive_threshold) {
    limits.cut_off_at = limits.nudge_at + kDefaults.cut_off_at - kDefaults.nudge_at;
  } else {
    limits.nudge_at = limits.cut_off_at - 1;
  }
  return limits;
}

ToolBudgets budgets_in_force(const Sparse<ToolBudgets>& asked) {
  if (asked && asked->empty()) return {};
  ToolBudgets budgets = default_budgets();
  if (!asked) return budgets;
  for (const auto& [name, max_calls] : *asked) budgets[name] = max_calls;
  return budgets;
}

}  // namespace errand
