#include "run/guard_limits.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::guard_limits_test {
namespace {

json::Value value(std::string_view text) {
  return json::parse(text).value();
}

// "nudge/cut off" in force, "off", or the refusal.
std::string loop(std::string_view text) {
  auto asked = parse_loop_detection(value(text), "/loopDetection");
  if (!asked) return cat(asked.error().pointer(), ": ", asked.error().message());
  EXPECT_EQ(json::write(to_json(*asked)), text);
  auto limits = loop_limits(*asked);
  return limits ? cat(limits->nudge_at, "/", limits->cut_off_at) : "off";
}

std::string budgets(std::string_view text) {
  auto asked = parse_tool_budgets(value(text), "/toolBudgets");
  if (!asked) {
    return cat(asked.error().pointer(), " ", asked.error().limit(), ": ", asked.error().message());
  }
  return json::write(to_json(*asked));
}

std::string many_budgets(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) append(text, i ? "," : "", "\"t", i, R"(":{"maxCalls":1})");
  return text + "}";
}

TEST(LoopDetection, HasDefaultsAndDrawsTheMissingThresholdAlong) {
  EXPECT_EQ(loop_limits({}), (LoopLimits{.nudge_at = 3, .cut_off_at = 6}));
  EXPECT_EQ(loop("false"), "off");
  EXPECT_EQ(loop("{}"), "3/6");
  EXPECT_EQ(loop(R"({"consecutiveThreshold":2,"hardCutoffThreshold":3})"), "2/3");
  EXPECT_EQ(loop(R"({"consecutiveThreshold":5})"), "5/6");
  EXPECT_EQ(loop(R"({"consecutiveThreshold":10})"), "10/13");
  EXPECT_EQ(loop(R"({"consecutiveThreshold":100})"), "100/103");
  EXPECT_EQ(loop(R"({"hardCutoffThreshold":3})"), "2/3");
  EXPECT_EQ(loop(R"({"hardCutoffThreshold":100})"), "3/100");
}

TEST(LoopDetection, IsLimited) {
  EXPECT_EQ(loop("true"), "/loopDetection: expected false or an object, got a boolean");
  EXPECT_EQ(loop(R"({"consecutiveThreshold":1})").substr(0, 37),
            "/loopDetection/consecutiveThreshold: ");
  EXPECT_EQ(loop(R"({"consecutiveThreshold":101})").substr(0, 37),
            "/loopDetection/consecutiveThreshold: ");
  EXPECT_EQ(loop(R"({"hardCutoffThreshold":2})").substr(0, 36),
            "/loopDetection/hardCutoffThreshold: ");
  EXPECT_EQ(loop(R"({"hardCutoffThreshold":101})").substr(0, 36),
            "/loopDetection/hardCutoffThreshold: ");
  EXPECT_EQ(loop(R"({"consecutiveThreshold":4,"hardCutoffThreshold":4})"),
            "/loopDetection/hardCutoffThreshold: \"hardCutoffThreshold\" must exceed "
            "\"consecutiveThreshold\"");
}

TEST(ToolBudgets, AreLaidOverTheDefaults) {
  ToolBudgets defaults = budgets_in_force({});
  EXPECT_EQ(defaults.size(), 12U);
  EXPECT_EQ(defaults.at("recall"), 4);
  EXPECT_EQ(defaults.at("traverse"), 3);
  EXPECT_EQ(defaults.at("hive_consult_ontology"), 4);
  EXPECT_EQ(defaults.at("hive_search_issues"), 5);
  EXPECT_EQ(budgets_in_force(ToolBudgets()), ToolBudgets());
  ToolBudgets expected = defaults;
  expected["recall"] = 9;
  expected["mine"] = 0;
  EXPECT_EQ(budgets_in_force(ToolBudgets{{"recall", 9}, {"mine", 0}}), expected);
}

TEST(ToolBudgets, AreLimited) {
  EXPECT_EQ(budgets(R"({"a":{"maxCalls":0},"b":{"maxCalls":1000}})"),
            R"({"a":{"maxCalls":0},"b":{"maxCalls":1000}})");
  EXPECT_TRUE(budgets(R"({"a":{"maxCalls":1001}})").starts_with("/toolBudgets/a/maxCalls"));
  EXPECT_TRUE(budgets(R"({"a":{"maxCalls":-1}})").starts_with("/toolBudgets/a/maxCalls"));
  EXPECT_TRUE(budgets(R"({"a":{}})").starts_with("/toolBudgets/a/maxCalls"));
  EXPECT_TRUE(budgets(R"({"a":3})").starts_with("/toolBudgets/a"));
  EXPECT_TRUE(budgets("[]").starts_with("/toolBudgets"));
  EXPECT_EQ(budgets(many_budgets(32)).substr(0, 1), "{");
  EXPECT_EQ(budgets(many_budgets(33)),
            "/toolBudgets toolBudgets: at most 32 tools may have a budget");
  std::string longest(120, 'n');
  EXPECT_EQ(budgets(cat("{\"", longest, R"(":{"maxCalls":1}})")).substr(0, 1), "{");
  EXPECT_TRUE(budgets(cat("{\"", longest, R"(n":{"maxCalls":1}})"))
                  .ends_with("the name of a tool has 1 to 120 characters here"));
  EXPECT_TRUE(budgets(R"({"":{"maxCalls":1}})").starts_with("/toolBudgets/ "));
}

}  // namespace
}  // namespace errand::guard_limits_test
