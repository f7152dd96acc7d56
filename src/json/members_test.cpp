#include "json/members.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"

namespace errand::json::members_test {
namespace {

TEST(JsonMembers, AreFoundByTheirType) {
  const Value value =
      parse(R"({"object":{"text":"x"},"array":[1],"text":"t","number":7,"flag":true})").value();
  const Object* from = value.if_object();
  EXPECT_EQ(text_at(object_at(from, "object"), "text"), "x");
  EXPECT_EQ(array_at(from, "array")->size(), 1U);
  EXPECT_EQ(text_at(from, "text"), "t");
  EXPECT_EQ(integer_at(from, "number"), 7);
  EXPECT_TRUE(flag_at(from, "flag"));
}

TEST(JsonMembers, WhatIsNotThereIsNothing) {
  const Value value = parse(R"({"null":null,"number":1.5,"flag":"true"})").value();
  const Object* nothing = nullptr;
  for (const Object* from : {value.if_object(), nothing}) {
    for (const char* key : {"absent", "null", "number"}) {
      EXPECT_EQ(object_at(from, key), nullptr);
      EXPECT_EQ(array_at(from, key), nullptr);
      EXPECT_EQ(text_at(from, key), "");
      EXPECT_EQ(integer_at(from, key), std::nullopt);
    }
    EXPECT_FALSE(flag_at(from, "flag"));
  }
}

}  // namespace
}  // namespace errand::json::members_test
