#include "cli/doctor/findings.hpp"

#include <gtest/gtest.h>

namespace errand::cli::findings_test {
namespace {

using Level = Finding::Level;

const Findings kMixed = {
    {.subject = "store", .message = "errand.db"},
    {.level = Level::warning, .subject = "clock", .message = "slow", .next = "Set it."},
    {.level = Level::wrong, .subject = "model \x1b[2J", .message = "gone", .next = "Name one."}};

TEST(Findings, AreALineEachWithWhatToDoBelowIt) {
  EXPECT_EQ(render(kMixed, Form::text),
            "✓ store: errand.db\n"
            "! clock: slow\n"
            "  Set it.\n"
            "✗ model \\x1b[2J: gone\n"
            "  Name one.\n"
            "1 wrong, 1 warning\n");
  EXPECT_EQ(render({kMixed[0]}, Form::text), "✓ store: errand.db\nAll is well.\n");
}

TEST(Findings, AreJsonForPrograms) {
  EXPECT_EQ(render({kMixed[0], kMixed[1]}, Form::json),
            R"({"ok":true,"checks":[)"
            R"({"subject":"store","status":"ok","message":"errand.db","next":null},)"
            R"({"subject":"clock","status":"warning","message":"slow","next":"Set it."}]})"
            "\n");
}

TEST(Findings, OnlyWhatIsWrongIsNotWell) {
  EXPECT_TRUE(is_all_well({kMixed[0], kMixed[1]}));
  EXPECT_FALSE(is_all_well(kMixed));
}

}  // namespace
}  // namespace errand::cli::findings_test
