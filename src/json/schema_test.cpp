#include "json/schema.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::json::schema_test {
namespace {

Value value(std::string_view text) {
  return parse(text).value();
}

CompiledSchemaPtr compiled(std::string_view schema, const CompileOptions& options = {}) {
  return compile_schema(value(schema), options).value();
}

// All errors, a line for each.
std::string errors(std::string_view schema, std::string_view instance) {
  return describe(compiled(schema)->validate(value(instance)));
}

// "message (at /pointer)" of the mistake in a schema.
std::string mistake(std::string_view schema, const CompileOptions& options = {}) {
  auto result = compile_schema(value(schema), options);
  return result ? "none" : result.error().describe();
}

constexpr std::string_view kWeather = R"({
  "type": "object",
  "properties": {
    "city": {"type": "string", "minLength": 1},
    "days": {"type": "integer", "minimum": 1, "maximum": 14},
    "unit": {"enum": ["c", "f"]}
  },
  "required": ["city"],
  "additionalProperties": false
})";

TEST(JsonSchemaErrors, AValueThatFitsHasNone) {
  EXPECT_EQ(errors(kWeather, R"({"city":"Rome","days":14,"unit":"c"})"), "");
}

TEST(JsonSchemaErrors, SayWhatIsExpectedAndWhatWasFoundAndWhere) {
  auto found = compiled(kWeather)->validate(value(R"({"city":"Rome","days":20})"));
  EXPECT_EQ(found,
            (std::vector<SchemaError>{{.pointer = "/days",
                                       .keyword = "/properties/days/maximum",
                                       .message = "expected an integer from 1 to 14, got 20"}}));
}

TEST(JsonSchemaErrors, AllMistakesAreToldAtOnce) {
  EXPECT_EQ(errors(kWeather, R"({"days":"three","unit":"k","when":1})"),
            "missing required property \"city\"\n"
            "/days: expected an integer from 1 to 14, got \"three\"\n"
            "/unit: expected one of \"c\", \"f\", got \"k\"\n"
            "unexpected property \"when\"; known are \"city\", \"days\", \"unit\"");
}

TEST(JsonSchemaErrors, AWrongTypeIsNamed) {
  EXPECT_EQ(errors(kWeather, "[1,2]"), "expected an object, got an array of 2 items");
  EXPECT_EQ(errors(R"({"type":["string","null"]})", "5"), "expected a string or null, got 5");
  EXPECT_EQ(errors(R"({"type":"boolean"})", R"("yes")"), "expected true or false, got \"yes\"");
  EXPECT_EQ(errors(R"({"type":"integer"})", "1.5"), "expected an integer, got 1.5");
  EXPECT_EQ(errors(R"({"type":"array"})", "{}"), "expected an array, got an object");
}

TEST(JsonSchemaErrors, NumbersHaveTheirRange) {
  EXPECT_EQ(errors(R"({"minimum":1})", "0"), "expected a number of at least 1, got 0");
  EXPECT_EQ(errors(R"({"type":"integer","maximum":14})", "20"),
            "expected an integer of at most 14, got 20");
  EXPECT_EQ(errors(R"({"exclusiveMinimum":0,"exclusiveMaximum":1})", "1"),
            "expected a number greater than 0 and less than 1, got 1");
  EXPECT_EQ(errors(R"({"minimum":0,"multipleOf":0.01})", "0.005"),
            "expected a number of at least 0 that is a multiple of 0.01, got 0.005");
}

TEST(JsonSchemaErrors, StringsHaveTheirLengthPatternAndFormat) {
  EXPECT_EQ(errors(R"({"minLength":2})", R"("é")"),
            "expected a string of at least 2 characters, got \"é\" (1 character)");
  EXPECT_EQ(errors(R"({"minLength":2,"maxLength":3})", R"("abcd")"),
            "expected a string of 2 to 3 characters, got \"abcd\" (4 characters)");
  EXPECT_EQ(errors(R"({"pattern":"^[a-z]+$"})", R"("A1")"),
            "expected a string that matches ^[a-z]+$, got \"A1\"");
  auto checked = compiled(R"({"format":"date"})", {.formats = Formats::check});
  EXPECT_EQ(describe(checked->validate("tomorrow")),
            "expected a string in the format date, got \"tomorrow\"");
}

TEST(JsonSchemaErrors, LongValuesAreCut) {
  std::string text(1000, 'x');
  EXPECT_EQ(describe(compiled(R"({"type":"integer"})")->validate(Value(text))),
            cat("expected an integer, got \"", std::string(64, 'x'), "...\""));
  EXPECT_EQ(errors(R"({"enum":[1,2,3,4,5,6,7,8,9,10,11,12,13,14]})", "0"),
            "expected one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ... (14 in all), got 0");
}

TEST(JsonSchemaErrors, ArraysHaveTheirSizeAndItems) {
  EXPECT_EQ(errors(R"({"minItems":1})", "[]"), "expected an array of at least 1 item, got 0");
  EXPECT_EQ(errors(R"({"uniqueItems":true})", "[1,2,1.0]"),
            "items 0 and 2 are equal, expected all items to differ");
  EXPECT_EQ(errors(R"({"items":{"type":"string"}})", R"(["a",1,"b",2])"),
            "/1: expected a string, got 1\n/3: expected a string, got 2");
  EXPECT_EQ(errors(R"({"contains":{"const":1}})", "[2]"),
            "expected at least 1 of the items to match \"contains\", got 0");
  EXPECT_EQ(errors(R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a",2])"),
            "/1: no value is allowed here, got 2");
}

TEST(JsonSchemaErrors, ObjectsHaveTheirMembers) {
  EXPECT_EQ(errors(R"({"minProperties":1})", "{}"),
            "expected an object with at least 1 property, got 0");
  EXPECT_EQ(errors(R"({"dependentRequired":{"a":["b"]}})", R"({"a":1})"),
            "missing property \"b\", which is required because \"a\" is there");
  EXPECT_EQ(errors(R"({"propertyNames":{"maxLength":3}})", R"({"toolong":1})"),
            "property name \"toolong\": expected a string of at most 3 characters, got \"toolong\" "
            "(7 characters)");
  EXPECT_EQ(errors(R"({"properties":{"a":true},"unevaluatedProperties":false})", R"({"b":1})"),
            "unexpected property \"b\"");
  EXPECT_EQ(errors(R"({"additionalProperties":{"type":"integer"}})", R"({"a/b":"x"})"),
            "/a~1b: expected an integer, got \"x\"");
}

constexpr std::string_view kShapes = R"({"anyOf": [
  {"type":"object","properties":{"kind":{"const":"circle"},"r":{"type":"number"}},
   "required":["kind","r"]},
  {"type":"object","properties":{"kind":{"const":"box"},"w":{"type":"number"},"h":{}},
   "required":["kind","w","h"]}
]})";

TEST(JsonSchemaErrors, OfAlternativesOnlyTheClosestIsExplained) {
  EXPECT_EQ(errors(kShapes, R"({"kind":"box","w":"1","h":2})"), "/w: expected a number, got \"1\"");
  EXPECT_EQ(errors(kShapes, R"({"kind":"circle"})"), "missing required property \"r\"");
  EXPECT_EQ(errors(kShapes, R"({"kind":"box"})"),
            "missing required property \"w\"\nmissing required property \"h\"");
}

TEST(JsonSchemaErrors, AlternativesThatDifferAtOnePlaceAreListed) {
  EXPECT_EQ(errors(kShapes, R"({"kind":"cone","r":1,"w":1,"h":1})"),
            "/kind: expected \"circle\" or \"box\", got \"cone\"");
  EXPECT_EQ(errors(kShapes, "7"), "expected an object, got 7");
  EXPECT_EQ(errors(R"({"anyOf":[{"type":"string","minLength":1},{"type":"null"}]})", "5"),
            "expected a string of at least 1 character or null, got 5");
}

TEST(JsonSchemaErrors, OneOfSaysWhenSeveralFit) {
  EXPECT_EQ(errors(R"({"oneOf":[{"type":"integer"},{"minimum":2},{"type":"string"}]})", "3"),
            "fits 2 of the alternatives of \"oneOf\" (the first two are 0 and 1), expected exactly "
            "one");
}

TEST(JsonSchemaErrors, ConditionsReportTheBranchTaken) {
  std::string_view schema = R"({"if":{"required":["a"]},"then":{"required":["b"]}})";
  EXPECT_EQ(errors(schema, R"({"a":1})"), "missing required property \"b\"");
  EXPECT_EQ(errors(schema, "{}"), "");
  EXPECT_EQ(errors(R"({"not":{"type":"string"}})", R"("x")"),
            "must not match the schema in \"not\", but does: \"x\"");
}

TEST(JsonSchemaErrors, TheSameMistakeIsToldOnce) {
  EXPECT_EQ(errors(R"({"allOf":[{"required":["a"]},{"required":["a"]}]})", "{}"),
            "missing required property \"a\"");
}

TEST(JsonSchemaErrors, AreLimitedInNumber) {
  Array items(1000, Value("x"));
  EXPECT_EQ(compiled(R"({"items":{"type":"integer"}})")->validate(items).size(), kSchemaErrorsMax);
}

TEST(JsonSchemaErrors, InADocumentTheyNameIt) {
  SchemaDocuments documents;
  documents.add("https://example.com/unit", value(R"({"$defs":{"u":{"enum":["c"]}}})"));
  auto schema =
      compiled(R"({"$ref":"https://example.com/unit#/$defs/u"})", {.documents = &documents});
  EXPECT_EQ(schema->validate("f").front().keyword, "https://example.com/unit#/$defs/u/enum");
}

TEST(JsonSchemaCompile, WrongKeywordsAreToldWithTheirPointer) {
  EXPECT_EQ(mistake(R"({"properties":{"a":{"required":5}}})"),
            "expected an array of strings, got an integer (at /properties/a/required)");
  EXPECT_EQ(mistake(R"({"required":["a",1]})"),
            "expected a string, got an integer (at /required/1)");
  EXPECT_EQ(mistake(R"({"properties":{"a":5}})"),
            "expected a schema (an object or a boolean), got an integer (at /properties/a)");
  EXPECT_EQ(mistake(R"({"type":"text"})"),
            "expected the name of a type, or an array of such names (at /type)");
  EXPECT_EQ(mistake(R"({"minLength":-1})"), "expected an integer of at least 0 (at /minLength)");
  EXPECT_EQ(mistake(R"({"multipleOf":0})"), "expected a number greater than 0 (at /multipleOf)");
  EXPECT_EQ(mistake(R"({"exclusiveMinimum":true})"),
            "expected a number, got a boolean (at /exclusiveMinimum)");
  EXPECT_EQ(mistake(R"({"anyOf":[]})"), "expected at least one schema (at /anyOf)");
  EXPECT_EQ(mistake(R"({"$id":5})"), "expected a string (at /$id)");
  EXPECT_EQ(mistake(R"("string")"), "expected a schema (an object or a boolean), got a string");
}

TEST(JsonSchemaCompile, DefinitionsThatNobodyUsesAreCheckedToo) {
  EXPECT_EQ(mistake(R"({"$defs":{"a/b":{"enum":1}}})"),
            "expected an array, got an integer (at /$defs/a~1b/enum)");
}

TEST(JsonSchemaCompile, ReferencesMustLeadSomewhere) {
  EXPECT_EQ(mistake(R"({"$ref":"#/$defs/a"})"), "there is no schema at #/$defs/a (at /$ref)");
  EXPECT_EQ(mistake(R"({"$ref":"#a"})"), "there is no anchor \"a\" in the schema (at /$ref)");
  EXPECT_EQ(mistake(R"({"items":{"$ref":"https://example.com/a.json"}})"),
            "there is no schema https://example.com/a.json; nothing is ever fetched "
            "(at /items/$ref)");
  EXPECT_EQ(mistake(R"({"$ref":"https://json-schema.org/draft/2020-12/schema"})"),
            "there is no schema https://json-schema.org/draft/2020-12/schema; nothing is ever "
            "fetched (at /$ref)");
}

TEST(JsonSchemaCompile, PatternsThatRe2LacksAreLeftUnchecked) {
  for (std::string_view pattern : {"(?=x)y", "(a)\\\\1", "a{1001}", "a{1,2000}"}) {
    Value schema = parse(cat(R"({"properties":{"a":{"type":"string","pattern":")", pattern,
                             R"("}},"patternProperties":{")", pattern,
                             R"(":{"type":"integer"}},"additionalProperties":false})"))
                       .value();
    auto compiled = compile_schema(schema).value();
    EXPECT_TRUE(compiled->accepts(parse(R"({"a":"z","other":"z"})").value())) << pattern;
    EXPECT_FALSE(compiled->accepts(parse(R"({"a":7})").value())) << pattern;
    EXPECT_EQ(unchecked_patterns(schema).size(), 2U) << pattern;
    EXPECT_EQ(unchecked_patterns(schema).front(), "/properties/a/pattern");
  }
  EXPECT_EQ(unchecked_patterns(parse(R"({"pattern":"^a{2,3}\\p{Lu}[{9999}]?$"})").value()),
            std::vector<std::string>());
}

TEST(JsonSchemaCompile, PatternsThatAreNoRegularExpressionsAreRefused) {
  EXPECT_EQ(mistake(R"({"patternProperties":{"(":{}}})"),
            "not a pattern that RE2 can match: missing ): (?: (at /patternProperties/()");
}

TEST(JsonSchemaCompile, TheDraftIsTheOneThatIsNamed) {
  std::string_view seven = R"({"$schema":"https://json-schema.org/draft-07/schema",
                               "items":[{"type":"string"}],"dependentRequired":{"a":["b"]}})";
  EXPECT_FALSE(compiled(seven)->accepts(Array{1}));
  EXPECT_TRUE(compiled(seven)->accepts(Object{{"a", 1}}));
  std::string_view newer = R"({"$schema":"http://json-schema.org/draft/2020-12/schema#",
                               "dependentRequired":{"a":["b"]}})";
  EXPECT_FALSE(compiled(newer)->accepts(Object{{"a", 1}}));
  EXPECT_EQ(mistake(R"({"$schema":"http://json-schema.org/draft-04/schema#"})"),
            "the dialect http://json-schema.org/draft-04/schema# is not known: use draft 2020-12 "
            "or draft 7 (at /$schema)");
}

TEST(JsonSchemaCompile, AVocabularyThatIsRequiredMustBeKnown) {
  SchemaDocuments documents;
  documents.add("https://example.com/meta",
                value(R"({"$schema":"https://json-schema.org/draft/2020-12/schema",
                          "$vocabulary":{"https://example.com/vocab/money":true}})"));
  EXPECT_EQ(mistake(R"({"$schema":"https://example.com/meta"})", {.documents = &documents}),
            "the vocabulary https://example.com/vocab/money is not known (at /$schema)");
}

TEST(JsonSchemaCompile, TheResultDoesNotNeedTheSchemaAnyMore) {
  auto source = std::make_unique<Value>(value(kWeather));
  auto schema = compile_schema(*source).value();
  source.reset();
  EXPECT_TRUE(schema->accepts(Object{{"city", "Rome"}}));
  EXPECT_EQ(describe(schema->validate(Object{{"city", ""}})),
            "/city: expected a string of at least 1 character, got \"\" (0 characters)");
}

TEST(JsonSchemaCompile, AnObjectIsCompiledAsTheValueThatHoldsIt) {
  Value holder = value(R"({"$defs":{"a":{"type":"string"}},"properties":{"x":{"$ref":"#/$defs/a"},
                           "y":{"$ref":"#"}}})");
  auto schema = compile_schema(holder.get_object()).value();
  EXPECT_EQ(describe(schema->validate(value(R"({"x":"s","y":{"x":1}})"))),
            "/y/x: expected a string, got 1");
}

TEST(JsonSchemaCompile, WhatBothPropertiesAndRequiredMentionIsOneProperty) {
  std::string_view schema =
      R"({"required":["b","z","a"],"properties":{"a":{"type":"null"},"b":{}}})";
  EXPECT_EQ(errors(schema, R"({"a":1})"),
            "missing required property \"b\"\nmissing required property \"z\"\n"
            "/a: expected null, got 1");
  EXPECT_EQ(errors(schema, R"({"a":null,"b":2,"z":3})"), "");
}

TEST(JsonSchemaPlain, IsWhatToolsAreMostlyMadeOf) {
  EXPECT_TRUE(is_plain_schema(value(kWeather).get_object()));
  for (std::string_view schema :
       {R"({})", R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object"})",
        R"({"description":"d","title":"t","default":null,"x-any":1})",
        R"({"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":true}})",
        R"({"items":{"const":1},"maxItems":3,"uniqueItems":true,"not":{"format":"date"}})"}) {
    EXPECT_TRUE(is_plain_schema(value(schema).get_object())) << schema;
  }
  // A program writes sizes where a text has numbers.
  EXPECT_TRUE(is_plain_schema(Object{{"maxLength", std::size_t{4096}}}));
}

TEST(JsonSchemaPlain, IsNothingThatMightNotCompile) {
  for (std::string_view schema : {R"({"$ref":"#"})",
                                  R"({"$id":"x"})",
                                  R"({"$anchor":"x"})",
                                  R"({"$defs":{}})",
                                  R"({"$schema":"http://json-schema.org/draft-04/schema#"})",
                                  R"({"pattern":"("})",
                                  R"({"patternProperties":{"(":{}}})",
                                  R"({"if":{}})",
                                  R"({"type":"text"})",
                                  R"({"type":["string"]})",
                                  R"({"properties":{"a":5}})",
                                  R"({"properties":[]})",
                                  R"({"required":["a",1]})",
                                  R"({"required":5})",
                                  R"({"minLength":-1})",
                                  R"({"minLength":1.5})",
                                  R"({"maximum":"1"})",
                                  R"({"anyOf":[]})",
                                  R"({"anyOf":{}})",
                                  R"({"oneOf":[1]})",
                                  R"({"enum":1})",
                                  R"({"enum":[{"a":1}]})",
                                  R"({"items":[{}]})",
                                  R"({"multipleOf":0})",
                                  R"({"format":1})",
                                  R"({"uniqueItems":1})",
                                  R"({"contentSchema":{"pattern":"("}})",
                                  R"({"properties":{"a":{"items":{"$ref":"#x"}}}})"}) {
    EXPECT_FALSE(is_plain_schema(value(schema).get_object())) << schema;
  }
}

TEST(JsonSchemaPlain, IsSmall) {
  Object large{{"description", std::string(kPlainSchemaBytesMax - 100, 'x')}};
  EXPECT_TRUE(is_plain_schema(large));
  large["title"] = std::string(100, 'x');
  EXPECT_FALSE(is_plain_schema(large));
}

TEST(JsonSchemaNumbers, AreThoseOfMathematics) {
  EXPECT_TRUE(compiled(R"({"type":"integer"})")->accepts(value("1.0")));
  EXPECT_TRUE(compiled(R"({"const":1})")->accepts(value("1.0")));
  EXPECT_TRUE(compiled(R"({"enum":[{"a":1,"b":2}]})")->accepts(value(R"({"b":2.0,"a":1})")));
  EXPECT_FALSE(compiled(R"({"const":9007199254740993})")->accepts(value("9007199254740992.0")));
  EXPECT_FALSE(compiled(R"({"maximum":18446744073709551614})")->accepts(UINT64_MAX));
  EXPECT_TRUE(compiled(R"({"multipleOf":0.0001})")->accepts(value("0.0075")));
  EXPECT_TRUE(compiled(R"({"multipleOf":0.5})")->accepts(value("1e308")));
  EXPECT_FALSE(compiled(R"({"multipleOf":3})")->accepts(value("1e308")));
  EXPECT_TRUE(compiled(R"({"multipleOf":1e-300})")->accepts(value("1e308")));
  EXPECT_FALSE(compiled(R"({"multipleOf":1e300})")->accepts(value("1e-300")));
  EXPECT_TRUE(compiled(R"({"multipleOf":7})")->accepts(value("-9223372036854775807")));
}

}  // namespace
}  // namespace errand::json::schema_test
