#include "run/elicitation.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::elicitation_test {
namespace {

std::string read(std::string_view field, const std::string& text) {
  const json::Value about = json::parse(field).value();
  return json::write(form_value(&about.as_object(), text));
}

TEST(FormValue, IsReadByTheTypeOfItsField) {
  EXPECT_EQ(read(R"({"type":"string"})", "12"), R"("12")");
  EXPECT_EQ(read(R"({"type":"integer"})", " 12 "), "12");
  EXPECT_EQ(read(R"({"type":"boolean"})", "Yes"), "true");
  EXPECT_EQ(read(R"({"type":"boolean"})", "n"), "false");
  EXPECT_EQ(read(R"({"type":"boolean"})", "true"), "true");
  EXPECT_EQ(read(R"({"type":"array"})", "a, b"), R"(["a","b"])");
  EXPECT_EQ(read(R"({"type":"array"})", R"(["a, b"])"), R"(["a, b"])");
}

TEST(FormValue, WhatCannotBeReadIsTheText) {
  EXPECT_EQ(read(R"({"type":"integer"})", "many"), R"("many")");
  EXPECT_EQ(read(R"({})", "7"), R"("7")");
  EXPECT_EQ(json::write(form_value(nullptr, "a")), R"("a")");
}

}  // namespace
}  // namespace errand::elicitation_test
