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

TEST(Table, ColoursWordsThatSayHowItWent) {
  EXPECT_EQ(render_table({{"STATUS"}, {"failed"}, {"odd"}}, {.has_colour = true}),
            "\033[2mSTATUS\033[0m\n\033[31mfailed\033[0m\nodd\n");
}

}  // namespace
}  // namespace errand::cli::table_test
