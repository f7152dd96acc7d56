#include "run/unknown_members.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "run/fork.hpp"
#include "run/spec.hpp"
#include "run/tools/tool_ref.hpp"

namespace errand::unknown_members_test {
namespace {

using Lines = std::vector<std::string>;

TEST(UnknownMembers, OfARunAreToldWithTheClosestName) {
  auto spec = parse_spec(*json::parse(
      R"({"prompt":"Hi","promt":1,"zzz":2,"budgets":{"maxToolTurns":1,"maxTurns":2},
          "tools":[{"kind":"local","name":"t","readonly":true},
                   {"kind":"mcp","name":"m","url":"https://a.b","token":"x"}]})"));
  ASSERT_TRUE(spec) << spec.error().describe();
  EXPECT_EQ(spec->warnings,
            (Lines{"/promt: unknown member; did you mean prompt?", "/zzz: unknown member",
                   "/budgets/maxTurns: unknown member; did you mean maxToolTurns?"}));
  EXPECT_EQ(spec->tools->warnings,
            (Lines{"/tools/0/readonly: unknown member; did you mean readOnly?",
                   "/tools/1/token: unknown member"}));
}

TEST(UnknownMembers, OfToolsThatAreSentAgainAreToldAgain) {
  ToolSetCache cache;
  constexpr std::string_view kBody =
      R"({"prompt":"Hi","x":1,"tools":[{"kind":"local","name":"t","zzz":1}]})";
  for (int i = 0; i < 2; ++i) {
    auto spec = parse_spec(kBody, cache);
    ASSERT_TRUE(spec) << spec.error().describe();
    EXPECT_EQ(spec->warnings, Lines{"/x: unknown member"});
    EXPECT_EQ(spec->tools->warnings, Lines{"/tools/0/zzz: unknown member"});
    cache.insert(spec->tools);
  }
}

TEST(UnknownMembers, EveryMemberThatIsReadIsKnown) {
  auto spec = parse_spec(*json::parse(
      R"({"name":"n","modelId":"m","fallbackModelId":"f","systemPrompt":"s","prompt":"Hi",
          "metadata":{"any":"thing"},"budgets":{"localToolTimeoutMs":1,"onLocalToolTimeout":"fail",
          "maxToolTurns":1,"maxToolTurnsExceeded":"error"},"loopDetection":false,
          "toolBudgets":{},"reasoningLevel":1,"retainTools":"all","supervisor":false,"plan":false,
          "outputSchema":{"name":"o","schema":{"type":"object"}},
          "tools":[{"kind":"local","name":"t","description":"d","parameters":{"type":"object"},
            "outputSchema":{"type":"object"},"readOnly":true,"idempotent":true,"parallelSafe":true,
            "longRunning":true,"timeoutMs":1,"retain":true}]})"));
  ASSERT_TRUE(spec) << spec.error().describe();
  EXPECT_EQ(spec->warnings, Lines());
  EXPECT_EQ(spec->tools->warnings, Lines());
}

TEST(UnknownMembers, OnlyTheFirstAreTold) {
  json::Object body{{"prompt", "Hi"}};
  for (std::size_t i = 0; i < 100; ++i) body[cat("member", i)] = 1;
  EXPECT_EQ(parse_spec(json::Value(body))->warnings.size(), kUnknownToldMax);
}

TEST(UnknownMembers, OfErrandsOwnBodiesAreRefused) {
  auto fork = parse_fork(*json::parse(R"({"fromSeq":1,"promt":"And?"})"));
  ASSERT_FALSE(fork);
  EXPECT_EQ(fork.error().message(), "unknown member \"promt\"; did you mean prompt?");
  EXPECT_EQ(fork.error().pointer(), "/promt");
  EXPECT_TRUE(parse_fork(*json::parse(R"({"fromSeq":1,"prompt":"And?"})")));
}

}  // namespace
}  // namespace errand::unknown_members_test
