#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/sparse.hpp"
#include "json/value.hpp"

namespace errand {

// What a caller asks of the loop guard: a number that is absent follows from the other.
struct LoopDetection {
  bool is_off = false;
  std::optional<int> consecutive_threshold;
  std::optional<int> hard_cutoff_threshold;
};

// How often calls may repeat themselves.
struct LoopLimits {
  int nudge_at = 3;
  int cut_off_at = 6;  // more than nudge_at

  friend bool operator==(const LoopLimits&, const LoopLimits&) = default;
};

// How often each tool may be called in a run; a tool that is not named has no limit.
using ToolBudgets = std::map<std::string, int, std::less<>>;

constexpr int kLoopThresholdMax = 100;
constexpr std::size_t kToolBudgetsMax = 32;
constexpr std::size_t kToolBudgetNameCharsMax = 120;
constexpr int kToolBudgetMax = 1000;

// "loopDetection" and "toolBudgets" of a run. invalid_argument: with the pointer.
Result<LoopDetection> parse_loop_detection(const json::Value& value, std::string_view pointer);
Result<ToolBudgets> parse_tool_budgets(const json::Value& value, std::string_view pointer);
json::Value to_json(const LoopDetection& asked);
json::Object to_json(const ToolBudgets& budgets);

// What is in force. Nothing: the guard is off.
std::optional<LoopLimits> loop_limits(const std::optional<LoopDetection>& asked);
// Defaults with the caller's laid over them; an empty map of the caller's takes the defaults away.
ToolBudgets budgets_in_force(const Sparse<ToolBudgets>& asked);

}  // namespace errand
