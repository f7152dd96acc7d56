#include <errand/json.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace json_test {
namespace {

using errand::Json;
using errand::JsonArray;
using errand::JsonObject;

TEST(Json, TextSurvivesTheRoundTrip) {
  for (std::string text :
       {"null", "true", "false", "0", "-1", "9223372036854775807", "18446744073709551615",
        "-9223372036854775808", "0.1", "1e300", "\"\"", "\"\\u0001\\n\xc3\xa9\"", "[]", "[[],[1]]",
        "{}", R"({"b":1,"a":{"c":[null,"x"]}})"}) {
    auto parsed = Json::parse(text);
    ASSERT_TRUE(parsed) << text;
    auto again = Json::parse(parsed->dump());
    ASSERT_TRUE(again) << text;
    EXPECT_EQ(*parsed, *again) << text;
  }
  EXPECT_EQ(Json::parse(R"({"b":1,"a":18446744073709551615})")->dump(),
            R"({"b":1,"a":18446744073709551615})");
}

TEST(Json, WrongTextIsRefusedWithAReason) {
  for (std::string text : {"", "{", "[1,]", "{\"a\":1,\"a\":2}", "01", "nul", "\"\xff\"", "1 2"}) {
    auto parsed = Json::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), errand::ErrorCode::invalid_argument);
    EXPECT_NE(parsed.error().message(), "") << text;
  }
  EXPECT_THROW(Json::parse("{").value(), errand::Error);
}

TEST(Json, IntegersAreOfOneKindWhereverTheyComeFrom) {
  EXPECT_EQ(Json(7).kind(), Json::Kind::int64);
  EXPECT_EQ(Json(7u), Json(std::int64_t{7}));
  EXPECT_EQ(Json(std::numeric_limits<std::uint64_t>::max()).kind(), Json::Kind::uint64);
  EXPECT_EQ(Json(std::numeric_limits<std::int64_t>::min()).to_int64(),
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(Json(-1).to_uint64(), std::nullopt);
  EXPECT_EQ(Json(3.0).to_int64(), 3);
  EXPECT_EQ(Json(3.5).to_int64(), std::nullopt);
  EXPECT_EQ(Json(9223372036854775808.0).to_int64(), std::nullopt);
  EXPECT_EQ(Json(9223372036854775808.0).to_uint64(), 9223372036854775808u);
  EXPECT_EQ(Json("3").to_int64(), std::nullopt);
  EXPECT_EQ(Json(true).to_int64(), std::nullopt);
}

TEST(Json, ObjectsKeepTheirOrderAndCompareWithoutIt) {
  JsonObject object{{"b", 1}, {"a", 2}, {"b", 3}};
  EXPECT_EQ(Json(object).dump(), R"({"b":3,"a":2})");
  EXPECT_EQ(object, (JsonObject{{"a", 2}, {"b", 3}}));
  EXPECT_NE(object, (JsonObject{{"a", 2}, {"c", 3}}));
  object["c"] = JsonArray{1};
  EXPECT_TRUE(object.erase("b"));
  EXPECT_FALSE(object.erase("b"));
  EXPECT_EQ(Json(object).dump(), R"({"a":2,"c":[1]})");
}

TEST(Json, MembersAndItemsAreFoundOrReported) {
  Json json = Json::object({{"list", Json::array({1, "x"})}});
  EXPECT_EQ(*json.at("list").at(1).if_string(), "x");
  EXPECT_EQ(json.find("none"), nullptr);
  EXPECT_EQ(json.find(std::size_t{0}), nullptr);
  EXPECT_THROW(json.at("none"), errand::Error);
  EXPECT_THROW(json.at("list").at(2), errand::Error);
  Json built;
  built["a"]["b"] = 1;
  EXPECT_EQ(built.dump(), R"({"a":{"b":1}})");
  EXPECT_THROW(built["a"]["b"]["c"], errand::Error);
}

TEST(Json, WhatJsonCannotSayBecomesNull) {
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
  EXPECT_EQ(Json(std::string("\xff")).dump(), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace json_test
