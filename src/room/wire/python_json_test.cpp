#include "room/wire/python_json.hpp"

#include <gtest/gtest.h>

#include <string>

#include "json/parse.hpp"

namespace errand::room::python_json_test {
namespace {

std::string rewritten(const std::string& text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value) << text;
  return value ? python_json(*value) : "";
}

TEST(PythonJson, PutsSpacesWherePythonDoes) {
  EXPECT_EQ(rewritten(R"({"b":[1,true,null,{}],"a":[],"c":{"d":-2}})"),
            R"({"b": [1, true, null, {}], "a": [], "c": {"d": -2}})");
}

TEST(PythonJson, EscapesAllThatIsNotAscii) {
  EXPECT_EQ(rewritten("\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f é 😀\""),
            R"("\"\\/\b\f\n\r\t\u0001\u007f \u00e9 \ud83d\ude00")");
}

TEST(PythonJson, WritesNumbersAsReprDoes) {
  EXPECT_EQ(rewritten("[1.0,0.1,1e15,1e16,123456789012345680.0,0.0001,0.00001,-0.0,1.5e300]"),
            "[1.0, 0.1, 1000000000000000.0, 1e+16, 1.2345678901234568e+17, 0.0001, 1e-05, -0.0, "
            "1.5e+300]");
  EXPECT_EQ(rewritten("[18446744073709551615,-9223372036854775808]"),
            "[18446744073709551615, -9223372036854775808]");
}

}  // namespace
}  // namespace errand::room::python_json_test
