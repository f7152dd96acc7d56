#include "cli/terminal/table.hpp"

#include <gtest/gtest.h>

namespace errand::cli::table_test {
namespace {

TEST(Table, AlignsByTheColumnsThatTextTakes) {
  EXPECT_EQ(render_table({{"A", "B"}, {"日本", "x"}, {"e\xCC\x81", ""}}, {}),
            "A     B\n日本  x\ne\xCC\x81     -\n");
}

TEST(Table, ShowsEscapesAndEmptyCells) {
  EXPECT_EQ(render_table({{"A", "B"}, {"", "\x1b"}}, {}), "A  B\n-  \\x1b\n");
}

TEST(Table, CutsTheLastColumnToTheTerminal) {
  EXPECT_EQ(render_table({{"RUN", "ABOUT"}, {"run_1", "a long story"}}, {.columns_max = 16}),
            "RUN    ABOUT\nrun_1  a long s…\n");
}

std::vector<Row> runs() {
  return {{"RUN", "STATUS", "AGE", "MODEL", "ABOUT"},
          {"run_01k9zq6n4v8e2t5w7x3y1b0c", "succeeded", "3 min", "anthropic/claude-sonnet-5-5",
           "Compare the three offers and tell me which is best"}};
}

TEST(Table, LongCellsInTheMiddleAreCutToo) {
  EXPECT_EQ(render_table(runs(), {.columns_max = 80}),
            "RUN                           STATUS     AGE    MODEL         ABOUT\n"
            "run_01k9zq6n4v8e2t5w7x3y1b0c  succeeded  3 min  anthropic/c…  Compare the three…\n");
}

TEST(Table, OnANarrowTerminalEachRowIsABlock) {
  EXPECT_EQ(render_table(runs(), {.columns_max = 40}),
            "RUN     run_01k9zq6n4v8e2t5w7x3y1b0c\n"
            "STATUS  succeeded\n"
            "AGE     3 min\n"
            "MODEL   anthropic/claude-sonnet-5-5\n"
            "ABOUT   Compare the three offers and te…\n");
}

TEST(Table, BlocksStandApart) {
  EXPECT_EQ(render_table({{"RUN", "ABOUT"}, {"run_1", "one"}, {"run_2", ""}}, {.columns_max = 8}),
            "RUN    run_1\nABOUT  one\n\nRUN    run_2\nABOUT  -\n");
}

TEST(Table, ColoursStatuses) {
  EXPECT_EQ(
      render_table({{"STATUS", "ABOUT"}, {"failed", "failed"}, {"odd", "x"}}, {.has_colour = true}),
      "\033[2mSTATUS\033[0m  \033[2mABOUT\033[0m\n\033[31mfailed\033[0m  failed\n"
      "odd     x\n");
}

}  // namespace
}  // namespace errand::cli::table_test
