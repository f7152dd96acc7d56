// Schemas and values made to hurt. Each must be refused or checked in bounded time; a sanitizer
// build takes seconds for what the limits allow.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/schema.hpp"

namespace errand::json::schema_hostile_test {
namespace {

constexpr std::string_view kEndless =
    "the schema refers back to itself without going into the value, so that checking would never "
    "end";
constexpr std::string_view kTooMuchWork =
    "checking this value against its schema takes too much work: make it smaller or less deeply "
    "nested";

Value value(std::string_view text) {
  return parse(text).value();
}

CompiledSchemaPtr compiled(const Value& schema) {
  return compile_schema(schema).value();
}

std::string mistake(const Value& schema) {
  auto result = compile_schema(schema);
  return result ? "none" : result.error().describe();
}

std::vector<SchemaError> too_much_work() {
  return {{.message = std::string(kTooMuchWork), .kind = SchemaErrorKind::too_much_work}};
}

// Arrays or objects within each other.
Value nested(std::size_t levels, std::string_view key = "") {
  Value out(0);
  for (std::size_t i = 0; i < levels; ++i) {
    Value outer = key.empty() ? Value(Array()) : Value(Object());
    if (key.empty()) {
      outer.get_array().push_back(std::move(out));
    } else {
      outer.get_object().emplace(boost::json::string_view(key.data(), key.size()), std::move(out));
    }
    out = std::move(outer);
  }
  return out;
}

TEST(JsonSchemaHostile, AReferenceToItselfIsRefused) {
  EXPECT_EQ(mistake(value(R"({"$ref":"#"})")), kEndless);
  EXPECT_EQ(mistake(value(R"({"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"}]}}})")),
            cat(kEndless, " (at /properties/a)"));
  EXPECT_EQ(
      mistake(value(R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"not":{"$ref":"#/$defs/a"}}}})")),
      cat(kEndless, " (at /$defs/a)"));
  EXPECT_EQ(mistake(value(R"({"dependentSchemas":{"a":{"$ref":"#"}}})")), kEndless);
}

TEST(JsonSchemaHostile, AReferenceThatGoesIntoTheValueIsFine) {
  auto tree = compiled(value(R"({"type":"object","properties":{"next":{"$ref":"#"}}})"));
  EXPECT_TRUE(tree->accepts(value(R"({"next":{"next":{}}})")));
  EXPECT_FALSE(tree->accepts(value(R"({"next":{"next":1}})")));
}

TEST(JsonSchemaHostile, ALongChainOfReferencesNeedsNoStack) {
  Object definitions;
  for (int i = 0; i < 10'000; ++i) {
    definitions[cat("d", i)] = Object{{"$ref", cat("#/$defs/d", i + 1)}};
  }
  definitions["d10000"] = Object{{"type", "string"}};
  auto schema = compiled(Object{{"$ref", "#/$defs/d0"}, {"$defs", std::move(definitions)}});
  EXPECT_EQ(schema->validate("x"), too_much_work());
}

TEST(JsonSchemaHostile, ADynamicReferenceThatLoopsIsCutOff) {
  auto schema = compiled(value(R"({"$dynamicAnchor":"a","allOf":[{"$dynamicRef":"#a"}]})"));
  EXPECT_EQ(schema->validate(1), too_much_work());
}

TEST(JsonSchemaHostile, DeepDynamicReferencesAreCutOff) {
  auto schema = compiled(value(R"({"$dynamicAnchor":"a","items":{"$dynamicRef":"#a"}})"));
  EXPECT_TRUE(schema->accepts(nested(kDepthMax)));
  EXPECT_EQ(schema->validate(nested(10'000)), too_much_work());
}

TEST(JsonSchemaHostile, ADeepSchemaIsRefused) {
  EXPECT_EQ(mistake(nested(10'000, "items")), "the schema is nested deeper than 200 levels");
  EXPECT_EQ(mistake(Object{{"const", nested(10'000)}}),
            "the schema is nested deeper than 200 levels");
}

TEST(JsonSchemaHostile, DeepValuesAreCutOff) {
  Value deep = Array{nested(10'000), nested(10'000)};
  EXPECT_EQ(compiled(value(R"({"items":{"$ref":"#"}})"))->validate(deep), too_much_work());
  EXPECT_EQ(compiled(value(R"({"uniqueItems":true})"))->validate(deep), too_much_work());
  EXPECT_FALSE(compiled(value(R"({"const":[[[1]]]})"))->accepts(deep));
}

TEST(JsonSchemaHostile, TheDeepestEvaluationFitsASmallStack) {
  auto schema = compiled(value(R"({"anyOf":[{"oneOf":[{"allOf":[{"additionalProperties":
      {"if":true,"then":{"$dynamicRef":"#a"}}}]}]}],"$dynamicAnchor":"a"})"));
  Value deep = nested(kDepthMax, "k");
  std::vector<SchemaError> found;
  std::thread([&] { found = schema->validate(deep); }).join();
  EXPECT_EQ(found, too_much_work());
}

TEST(JsonSchemaHostile, ManySubschemasAreRefused) {
  Object properties;
  for (int i = 0; i < 100'000; ++i) properties[cat("p", i)] = Object();
  EXPECT_EQ(mistake(Object{{"properties", std::move(properties)}}),
            "there are more than 20000 subschemas");
}

TEST(JsonSchemaHostile, ALargeSchemaIsRefused) {
  EXPECT_EQ(mistake(Object{{"const", std::string(3'000'000, 'x')}}),
            "the schema has more than 2097152 bytes");
}

TEST(JsonSchemaHostile, ManyMembersAreChecked) {
  Object members;
  for (int i = 0; i < 100'000; ++i) members[cat("p", i)] = i;
  auto schema = compiled(value(R"({"properties":{"p1":{"type":"integer"}},"required":["p99999"],
      "patternProperties":{"^p":{"minimum":0}},"unevaluatedProperties":false})"));
  EXPECT_TRUE(schema->accepts(members));
  members["q"] = 1;
  EXPECT_EQ(describe(schema->validate(members)), "unexpected property \"q\"");
}

TEST(JsonSchemaHostile, ALargeEnumIsFoundByHash) {
  Array words;
  for (int i = 0; i < 100'000; ++i) words.push_back(Value(cat("w", i)));
  auto schema = compiled(Object{{"items", Object{{"enum", words}}}});
  EXPECT_TRUE(schema->accepts(words));
  words.emplace_back("other");
  EXPECT_FALSE(schema->accepts(words));
}

TEST(JsonSchemaHostile, UniqueItemsOfALongArrayAreFoundByHash) {
  Array items;
  for (int i = 0; i < 100'000; ++i) items.push_back(Object{{"a", i}, {"b", Array{i}}});
  auto schema = compiled(value(R"({"uniqueItems":true})"));
  EXPECT_TRUE(schema->accepts(items));
  items.push_back(value(R"({"b":[77.0],"a":77})"));
  EXPECT_EQ(describe(schema->validate(items)),
            "items 77 and 100000 are equal, expected all items to differ");
}

TEST(JsonSchemaHostile, ASchemaThatMultipliesItselfRunsOutOfWork) {
  Object definitions;
  for (int i = 0; i < 60; ++i) {
    Object next{{"$ref", cat("#/$defs/d", i + 1)}};
    definitions[cat("d", i)] = Object{{"allOf", Array{next, next}}};
  }
  definitions["d60"] = Object{{"type", "integer"}};
  auto schema = compiled(Object{{"$ref", "#/$defs/d0"}, {"$defs", std::move(definitions)}});
  EXPECT_EQ(schema->validate(1), too_much_work());
}

TEST(JsonSchemaHostile, AlternativesWithinAlternativesRunOutOfWork) {
  Object definitions;
  for (int i = 0; i < 20; ++i) {
    Object next{{"$ref", cat("#/$defs/d", i + 1)}};
    definitions[cat("d", i)] = Object{{"anyOf", Array(10, next)}};
  }
  definitions["d20"] = Object{{"const", Array(100'000, Value("text"))}};
  auto schema = compiled(Object{{"$ref", "#/$defs/d0"}, {"$defs", std::move(definitions)}});
  EXPECT_EQ(schema->validate(1), too_much_work());
}

TEST(JsonSchemaHostile, WordsAboutLargeConstantsAreShort) {
  auto schema = compiled(Object{{"const", Array(100'000, Value("text"))}});
  EXPECT_EQ(describe(schema->validate(1)), "expected an array of 100000 items, got 1");
  auto small = compiled(Object{{"const", Object{{"a", Array{1, 2}}}}});
  EXPECT_EQ(describe(small->validate(1)), R"(expected {"a":[1,2]}, got 1)");
}

TEST(JsonSchemaHostile, GivingUpIsNotAMatchUnderNot) {
  auto schema = compile_schema(value(R"({"not":{"items":{"type":"string"}}})"), {.work_max = 50});
  EXPECT_FALSE((*schema)->accepts(Array(1000, Value("x"))));
  EXPECT_EQ((*schema)->validate(Array(1000, Value("x"))), too_much_work());
}

TEST(JsonSchemaHostile, FairWorkIsPlentyForAnHonestSchemaAndEndsAnother) {
  auto honest = compiled(value(R"({"items":{"type":"object","properties":{"a":{"type":"string"},
      "n":{"type":"integer","minimum":0}},"required":["a","n"],"additionalProperties":false}})"));
  Value list = Array(20'000, Object{{"a", "text"}, {"n", 7}});
  EXPECT_TRUE(honest->validate(list, fair_work(20'000 * 20)).empty());

  Object definitions;
  for (int i = 0; i < 12; ++i) {
    Value next = Object{{"$ref", cat("#/$defs/d", i + 1)}};
    definitions[cat("d", i)] = Object{{"anyOf", Array(10, next)}};
  }
  definitions["d12"] = Object{{"type", "string"}};
  auto hostile = compiled(Object{{"$ref", "#/$defs/d0"}, {"$defs", definitions}});
  EXPECT_EQ(hostile->validate(1, fair_work(1)), too_much_work());
}

// Letters a and b without a rhythm.
std::string unsteady(std::size_t length) {
  std::string out;
  std::uint32_t state = 1;
  while (out.size() < length) {
    state = state * 1'103'515'245 + 12'345;
    out.push_back((state >> 16) % 2 ? 'a' : 'b');
  }
  return out;
}

TEST(JsonSchemaHostile, CatastrophicPatternsAreLinear) {
  auto schema = compiled(value(R"({"pattern":"^(a+)+$"})"));
  EXPECT_FALSE(schema->accepts(Value(std::string(100'000, 'a') + "b")));
  EXPECT_TRUE(
      compiled(value(R"({"pattern":"^(a|b)*$"})"))->accepts(Value(std::string(100'000, 'a'))));
}

TEST(JsonSchemaHostile, PatternsThatFollowManyStatesRunOutOfWork) {
  auto schema = compiled(value(R"({"pattern":"(a|b)*a(a|b){500}c"})"));
  EXPECT_EQ(schema->validate(Value(unsteady(300'000))), too_much_work());
}

TEST(JsonSchemaHostile, APatternThatTurnsOutSlowIsPaidInFull) {
  Value schema = value(R"({"items":{"pattern":"(a|b)*a(a|b){500}c"}})");
  Array texts(10, Value(unsteady(20'000)));
  EXPECT_EQ(compiled(schema)->validate(texts), too_much_work());
  EXPECT_EQ(compiled(schema)->validate(Array(10, Value("ab"))).front().kind,
            SchemaErrorKind::mismatch);
}

TEST(JsonSchemaHostile, PatternsAreLimitedInSizeAndNumber) {
  EXPECT_EQ(mistake(Object{{"pattern", "((a{100}){100}){100}"}}), "none")
      << "what RE2 cannot do is left unchecked";
  EXPECT_EQ(mistake(Object{{"pattern", "[\\p{L}\\p{N}]{900}"}}),
            "the pattern takes too much memory: repeat less in it (at /pattern)");
  EXPECT_EQ(mistake(Object{{"pattern", std::string(5'000, 'a')}}),
            "the pattern is longer than 4096 bytes (at /pattern)");
  Object patterns;
  for (int i = 0; i < 200; ++i) patterns[cat("^", i)] = true;
  EXPECT_EQ(compile_schema(Object{{"patternProperties", patterns}}).error().message(),
            "there are more than 128 different patterns");
  Object large;
  for (int i = 0; i < 100; ++i) large[cat("\\p{L}{10}", i)] = true;
  const Error together = compile_schema(Object{{"patternProperties", large}}).error();
  EXPECT_EQ(together.message(), "the patterns take too much memory together");
  EXPECT_EQ(together.reason(), "too_complex");
  EXPECT_EQ(together.limit(), "schemaInstructions");
}

TEST(JsonSchemaHostile, IdsCannotGrowOrCollide) {
  EXPECT_EQ(mistake(Object{{"$id", cat("http://a/", std::string(5'000, 'x'))}}),
            "the URI is longer than 2048 bytes (at /$id)");
  EXPECT_EQ(mistake(value(R"({"$id":"http://a/","$defs":{"x":{"$id":"b"},"y":{"$id":"b"}}})")),
            "another schema is called http://a/b too (at /$defs/y/$id)");
  Object many;
  for (int i = 0; i < 2'000; ++i) many[cat("d", i)] = Object{{"$id", cat("http://a/", i)}};
  EXPECT_EQ(mistake(Object{{"$defs", many}}), "there are more than 1000 subschemas with an $id");
}

TEST(JsonSchemaHostile, AnIdDoesNotReplaceADocumentForOthers) {
  SchemaDocuments documents;
  documents.add("http://a/number", value(R"({"type":"number"})"));
  CompileOptions options{.documents = &documents};
  auto thief = compile_schema(
      value(R"({"$ref":"http://a/number","$defs":{"x":{"$id":"http://a/number","const":"x"}}})"),
      options);
  EXPECT_TRUE((*thief)->accepts("x"));
  auto other = compile_schema(value(R"({"$ref":"http://a/number"})"), options);
  EXPECT_TRUE((*other)->accepts(1));
  EXPECT_FALSE((*other)->accepts("x"));
}

TEST(JsonSchemaHostile, MetaschemasThatNameEachOtherAreNotFollowedForever) {
  SchemaDocuments documents;
  documents.add("http://a/1", value(R"({"$schema":"http://a/2"})"));
  documents.add("http://a/2", value(R"({"$schema":"http://a/1"})"));
  auto result = compile_schema(value(R"({"$schema":"http://a/1"})"), {.documents = &documents});
  EXPECT_EQ(result.error().code(), ErrorCode::unsupported);
}

}  // namespace
}  // namespace errand::json::schema_hostile_test
