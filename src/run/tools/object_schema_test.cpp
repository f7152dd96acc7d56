#include "run/tools/object_schema.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::object_schema_test {
namespace {

json::Value parsed(std::string_view text) {
  return json::parse(text).value();
}

std::string resolved(std::string_view text) {
  json::Value schema = parsed(text);
  SchemaPtr object = object_schema(&schema.as_object());
  return object ? json::write(*object) : "none";
}

bool accepts(std::string_view text, std::string_view arguments) {
  json::Value schema = parsed(text);
  auto compiled = json::compile_schema(*arguments_schema(&schema.as_object())).value();
  return compiled->validate(parsed(arguments)).empty();
}

TEST(ObjectSchema, ARootThatRefersIsReplacedByItsTarget) {
  EXPECT_EQ(resolved(R"({"$ref":"#/$defs/A","description":"own","$defs":{"A":{"$ref":"#/$defs/B"},)"
                     R"("B":{"type":"object","description":"b","required":["x"]}}})"),
            R"({"description":"own","$defs":{"A":{"$ref":"#/$defs/B"},)"
            R"("B":{"type":"object","description":"b","required":["x"]}},)"
            R"("type":"object","required":["x"]})");
}

TEST(ObjectSchema, RulesBesideAReferenceApplyAsWell) {
  EXPECT_EQ(resolved(R"({"$ref":"#/$defs/A","required":["y"],"$defs":{"A":{"required":["x"]}}})"),
            R"({"required":["y"],"$defs":{"A":{"required":["x"]}},)"
            R"("allOf":[{"$ref":"#/$defs/A"}],"type":"object"})");
  constexpr std::string_view kBoth =
      R"({"$ref":"#/$defs/Base","properties":{"b":{}},"required":["b"],"$defs":{"Base":
          {"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}}})";
  EXPECT_TRUE(accepts(kBoth, R"({"a":1,"b":2})"));
  EXPECT_FALSE(accepts(kBoth, R"({"a":"x","b":2})"));
  EXPECT_FALSE(accepts(kBoth, R"({"b":2})"));
  EXPECT_FALSE(accepts(kBoth, R"({"a":1})"));
}

TEST(ObjectSchema, UpToDraft7AReferenceHidesTheRulesBesideIt) {
  EXPECT_EQ(resolved(R"({"$schema":"http://json-schema.org/draft-07/schema#","required":["y"],)"
                     R"("$ref":"#/definitions/A","definitions":{"A":{"required":["x"]}}})"),
            R"({"$schema":"http://json-schema.org/draft-07/schema#",)"
            R"("definitions":{"A":{"required":["x"]}},"required":["x"],"type":"object"})");
}

TEST(ObjectSchema, ARootThatJoinsOrHasPropertiesIsAnObject) {
  EXPECT_EQ(resolved(R"({"allOf":[{"required":["x"]}]})"),
            R"({"allOf":[{"required":["x"]}],"type":"object"})");
  EXPECT_EQ(resolved(R"({"properties":{"x":{}}})"), R"({"properties":{"x":{}},"type":"object"})");
  EXPECT_EQ(resolved(R"({"type":["null","object"]})"), R"({"type":"object"})");
}

TEST(ObjectSchema, AReferenceThatLeadsNowhereStays) {
  EXPECT_EQ(resolved(R"({"$ref":"#/$defs/A","$defs":{"A":{"$ref":"#/$defs/A"}}})"),
            R"({"$defs":{"A":{"$ref":"#/$defs/A"}},"$ref":"#/$defs/A","type":"object"})");
  EXPECT_EQ(resolved(R"({"$ref":"#/$defs/A","$defs":{"A":{"$id":"https://x.example/a"}}})"),
            R"({"$ref":"#/$defs/A","$defs":{"A":{"$id":"https://x.example/a"}},"type":"object"})");
}

TEST(ObjectSchema, WhatDoesNotDescribeAnObjectIsNone) {
  EXPECT_EQ(resolved(R"({})"), "none");
  EXPECT_EQ(resolved(R"({"type":"string"})"), "none");
  EXPECT_EQ(resolved(R"({"anyOf":[]})"), "none");
  EXPECT_EQ(resolved(R"({"$ref":"#/$defs/A","$defs":{"A":{"type":"string"}}})"), "none");
  EXPECT_EQ(json::write(*arguments_schema(nullptr)), R"({"type":"object","properties":{}})");
}

TEST(ObjectSchema, AnOwnedSchemaIsShared) {
  auto schema = share_schema({{"type", "object"}});
  EXPECT_EQ(object_schema(schema.get(), schema), schema);
  EXPECT_NE(object_schema(schema.get()), schema);
}

}  // namespace
}  // namespace errand::object_schema_test
