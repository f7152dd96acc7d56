#include "tool/builtin/arithmetic.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace errand::arithmetic_test {
namespace {

std::string worked_out(std::string_view expression) {
  auto value = evaluate(expression);
  return value ? shown_number(*value) : value.error().message();
}

TEST(Arithmetic, WorksOutExpressions) {
  EXPECT_EQ(worked_out("2+3*4"), "14");
  EXPECT_EQ(worked_out(" ( 2 + 3 ) * 4 "), "20");
  EXPECT_EQ(worked_out("2^3^2"), "512");
  EXPECT_EQ(worked_out("-2^2"), "-4");
  EXPECT_EQ(worked_out("2**-1"), "0.5");
  EXPECT_EQ(worked_out("7 % 4 * 2"), "6");
  EXPECT_EQ(worked_out("--3"), "3");
  EXPECT_EQ(worked_out("1e3 + .5"), "1000.5");
  EXPECT_EQ(worked_out("0.1 + 0.2"), "0.3");
  EXPECT_EQ(worked_out("9007199254740993"), "9.00719925474099e+15");
  EXPECT_EQ(worked_out("0 * -1"), "0");
}

TEST(Arithmetic, KnowsFunctionsAndConstants) {
  EXPECT_EQ(worked_out("sqrt(16) + abs(-2)"), "6");
  EXPECT_EQ(worked_out("max(1, 5, 3) - min(2)"), "3");
  EXPECT_EQ(worked_out("pow(2, 10)"), "1024");
  EXPECT_EQ(worked_out("round(SIN(pi / 2) * 100)"), "100");
  EXPECT_EQ(worked_out("ln(e) + log(1000) + log2(8)"), "7");
}

TEST(Arithmetic, SaysWhereTheMistakeIs) {
  EXPECT_EQ(worked_out(""), "character 1: the expression ends too early");
  EXPECT_EQ(worked_out("2 +"), "character 4: the expression ends too early");
  EXPECT_EQ(worked_out("2 + x"),
            cat("character 5: \"x\" is not known; the functions are ", arithmetic_functions()));
  EXPECT_EQ(worked_out("2 3"), "character 3: expected an operator instead of \"3\"");
  EXPECT_EQ(worked_out("(2"), "character 3: expected \")\"");
  EXPECT_EQ(worked_out("1/0"), "character 4: division by zero");
  EXPECT_EQ(worked_out("1 % 0"), "character 6: division by zero");
  EXPECT_EQ(worked_out("sqrt(1, 2)"), "character 11: sqrt takes 1 number");
  EXPECT_EQ(worked_out("sqrt(-1)"), "the result is not a finite number");
  EXPECT_EQ(worked_out("1e400"), "character 1: this number cannot be read");
  EXPECT_EQ(worked_out("2; rm -rf"), "character 2: expected an operator instead of \";\"");
}

TEST(Arithmetic, IsBounded) {
  std::string deep = std::string(kExpressionBytesMax / 2, '(');
  EXPECT_NE(worked_out(deep).find("nested too deeply"), std::string::npos);
  std::string signs = std::string(kExpressionBytesMax, '-');
  EXPECT_NE(worked_out(signs).find("nested too deeply"), std::string::npos);
  EXPECT_NE(worked_out(std::string(kExpressionBytesMax + 1, '1')).find("longer than"),
            std::string::npos);
}

}  // namespace
}  // namespace errand::arithmetic_test
