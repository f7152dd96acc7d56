#include "tool/builtin/plugins.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"
#include "tool/tool_source.hpp"

namespace errand::plugins_test {
namespace {

class PluginsTest : public testing::Test {
 protected:
  // "ok: text" or "failed: text".
  std::string call(std::string_view name, std::string_view arguments) {
    ToolCall call{.run = *RunId::parse("run_1"),
                  .id = *ToolUseId::parse("tu_1"),
                  .arguments = json::parse(arguments)->as_object()};
    ToolOutcome outcome = run_task(io_, plugins_.find(name)->invoke(std::move(call), {}));
    return cat(outcome.ok() ? "ok: " : "failed: ", text_of(outcome));
  }

  // The names that a ref is bound to, or the mistake.
  std::string bound(const ToolRef& ref) {
    auto tools = plugins_.bind(ref, {});
    if (!tools) return cat(tools.error().pointer(), ": ", tools.error().message());
    std::string names;
    for (const ToolDecl& tool : *tools) append(names, tool.name);
    return names;
  }

  asio::io_context io_{1};
  ManualClock clock_{1'800'000'000'000};
  BlockingPool pool_{1, 10};
  FixedTools plugins_{
      make_plugins({.clock = clock_, .pool = pool_, .web = {.addresses = net::AddressRules()}})};
};

TEST_F(PluginsTest, CalculatorWorksOutExpressions) {
  EXPECT_EQ(call("calculator", R"({"expression":"2+3*4"})"), "ok: 14");
  EXPECT_EQ(call("calculator", R"({"expression":"2+"})"),
            "failed: character 3: the expression ends too early");
  EXPECT_EQ(call("calculator", R"({"expression":7})"),
            "failed: expected a string, got an integer (at /expression)");
}

TEST_F(PluginsTest, CurrentTimeKnowsTimeZones) {
  EXPECT_EQ(call("current_time", "{}"), "ok: 2027-01-15T08:00:00+00:00, Friday, UTC");
  EXPECT_EQ(call("current_time", R"({"timezone":"Asia/Tokyo"})"),
            "ok: 2027-01-15T17:00:00+09:00, Friday, Asia/Tokyo");
  // Summer time follows from rules, not from a table of years.
  clock_.pass(std::chrono::hours(24 * 180));
  EXPECT_EQ(call("current_time", R"({"timezone":"America/New_York"})"),
            "ok: 2027-07-14T04:00:00-04:00, Wednesday, America/New_York");
}

TEST_F(PluginsTest, CurrentTimeRefusesWhatIsNoTimeZone) {
  for (std::string_view name : {"Mars/Base", "../../../etc/passwd", "/etc/localtime", ""}) {
    std::string said = call("current_time", cat(R"({"timezone":")", name, "\"}"));
    EXPECT_NE(said.find("is not a time zone"), std::string::npos) << name << ": " << said;
  }
}

TEST_F(PluginsTest, RefsNameThemBareOrWithTheirPublisher) {
  EXPECT_EQ(bound(PluginTool{"calculator"}), "calculator");
  EXPECT_EQ(bound(PluginTool{"@errand/web_fetch"}), "web_fetch");
  EXPECT_EQ(bound(PluginTool{"@errand/web_search"}), "web_search");
  EXPECT_EQ(bound(PluginTool{"@errand/calculater"}),
            "/name: there is no tool called \"calculater\"; did you mean calculator?");
}

TEST_F(PluginsTest, PluginsOfOthersAreNotKnown) {
  EXPECT_EQ(bound(PluginTool{"@slack/post"}), "");
  EXPECT_EQ(bound(PluginTool{"recall"}), "");
}

}  // namespace
}  // namespace errand::plugins_test
