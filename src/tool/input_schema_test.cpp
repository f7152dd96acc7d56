#include "tool/input_schema.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::input_schema_test {
namespace {

json::Object object(std::string_view text) {
  return json::parse(text).value().get_object();
}

// "accepted", or where the schema is wrong.
std::string outcome(std::string_view schema) {
  json::SchemaCache cache;
  auto compiled = compile_input_schema(cache, object(schema));
  if (compiled) return "accepted";
  EXPECT_EQ(compiled.error().code(), ErrorCode::invalid_argument);
  return compiled.error().pointer();
}

TEST(InputSchema, OlderDraftsAreReadAsTheirSuccessors) {
  for (std::string_view draft : {
           "http://json-schema.org/draft-04/schema#",
           "http://json-schema.org/draft-06/schema",
           "http://json-schema.org/draft-07/schema#",
           "https://json-schema.org/draft/2019-09/schema",
           "https://json-schema.org/draft/2020-12/schema",
       }) {
    EXPECT_EQ(outcome(cat(R"({"$schema":")", draft, R"(","type":"object"})")), "accepted") << draft;
  }
}

TEST(InputSchema, Draft4IsReadWithTheRulesOfDraft7) {
  json::SchemaCache cache;
  auto compiled = compile_input_schema(
      cache, object(R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"object",)"
                    R"("properties":{"a":{"const":1}},"dependencies":{"a":["b"]}})"));
  ASSERT_TRUE(compiled);
  EXPECT_TRUE((*compiled)->accepts(object(R"({"a":1,"b":2})")));
  EXPECT_FALSE((*compiled)->accepts(object(R"({"a":2,"b":2})")));
  EXPECT_FALSE((*compiled)->accepts(object(R"({"a":1})")));
}

TEST(InputSchema, PastALimitTheErrorNamesIt) {
  json::SchemaCache cache;
  const std::string longest(json::kPatternBytesMax + 1, 'a');
  auto compiled = compile_input_schema(cache, {{"properties", {{"a", {{"pattern", longest}}}}}});
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(compiled.error().reason(), "too_complex");
  EXPECT_EQ(compiled.error().pointer(), "/properties/a/pattern");
  EXPECT_EQ(compiled.error().limit(), "patternBytes");
  EXPECT_EQ(compiled.error().max(), static_cast<std::int64_t>(json::kPatternBytesMax));
}

TEST(InputSchema, MistakesNameTheirPlace) {
  EXPECT_EQ(outcome(R"({"type":"object","properties":{"a":{"type":"strin"}}})"),
            "/properties/a/type");
  EXPECT_EQ(outcome(R"({"type":"object","properties":{"a":{"$ref":"#/$defs/none"}}})"),
            "/properties/a/$ref");
  EXPECT_EQ(outcome(R"({"$schema":"http://json-schema.org/draft-04/schema#","type":"object",)"
                    R"("properties":{"a":{"exclusiveMaximum":true}}})"),
            "/properties/a/exclusiveMaximum");
  EXPECT_EQ(outcome(R"({"$schema":"https://example.com/own","type":"object"})"), "/$schema");
}

TEST(InputSchema, EqualSchemasAreCompiledOnce) {
  json::SchemaCache cache;
  auto first = compile_input_schema(cache, object(R"({"type":"object"})"));
  auto second = compile_input_schema(cache, object(R"({"type": "object"})"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(cache.size(), 1U);
}

}  // namespace
}  // namespace errand::input_schema_test
