#include "run/output_schema.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/spec.hpp"

namespace errand::output_schema_test {
namespace {

// What was read, as it is written again, or what is wrong with it.
std::string rewritten(std::string_view text) {
  auto output = parse_output_schema(*json::parse(text), "/outputSchema");
  if (output) return json::write(to_json(*output));
  const Error& error = output.error();
  EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  std::string limit = error.limit().empty() ? "" : cat(" ", error.limit(), "=", error.max());
  return cat("! ", error.describe(), limit);
}

std::string with_name(std::size_t chars) {
  return cat(R"({"name":")", std::string(chars, 'n'), R"(","schema":{}})");
}

// An output schema that has exactly so many bytes as JSON.
std::string of_size(std::size_t bytes) {
  std::string_view begin = R"({"schema":{"title":")";
  std::string_view end = R"("}})";
  return cat(begin, std::string(bytes - begin.size() - end.size(), 'x'), end);
}

TEST(OutputSchema, NameAndEnforcementHaveDefaults) {
  auto output = parse_output_schema(*json::parse(R"({"schema":{"type":"object"}})"), "");
  ASSERT_TRUE(output);
  EXPECT_EQ(output->name, "output");
  EXPECT_EQ(output->enforcement, Enforcement::best_effort);
  EXPECT_EQ(*output->schema, (json::Object{{"type", "object"}}));
}

TEST(OutputSchema, IsWrittenAsItWasGiven) {
  for (std::string_view text :
       {R"({"schema":{}})", R"({"schema":{"type":"array","items":{"$ref":"#/$defs/a"}}})",
        R"({"name":"weather-report_2","schema":{"a":1},"enforcement":"strict"})"}) {
    EXPECT_EQ(rewritten(text), text);
  }
  EXPECT_EQ(rewritten(R"({"name":"output","schema":{},"enforcement":"best_effort","more":1})"),
            R"({"schema":{}})");
}

TEST(OutputSchema, SchemaIsAnObject) {
  EXPECT_EQ(rewritten("[]"), "! expected an object, got an array (at /outputSchema)");
  EXPECT_EQ(rewritten("{}"),
            R"(! "schema" is missing: expected a JSON Schema (at /outputSchema/schema))");
  EXPECT_EQ(rewritten(R"({"schema":null})"),
            R"(! "schema" is missing: expected a JSON Schema (at /outputSchema/schema))");
  EXPECT_EQ(rewritten(R"({"schema":[]})"),
            "! expected an object, got an array (at /outputSchema/schema)");
  EXPECT_EQ(rewritten(R"({"schema":true})"),
            "! expected an object, got a boolean (at /outputSchema/schema)");
}

TEST(OutputSchema, NameIsShortAndPlain) {
  constexpr std::string_view kWrong =
      "! the name of an output schema is 1 to 64 letters, digits, underscores and dashes "
      "(at /outputSchema/name)";
  EXPECT_EQ(rewritten(with_name(64)), with_name(64));
  EXPECT_EQ(rewritten(with_name(65)), cat(kWrong, " outputNameChars=64"));
  EXPECT_EQ(rewritten(R"({"name":"","schema":{}})"), kWrong);
  EXPECT_EQ(rewritten(R"({"name":"a b","schema":{}})"), kWrong);
  EXPECT_EQ(rewritten(R"({"name":"é","schema":{}})"), kWrong);
  EXPECT_EQ(rewritten(R"({"name":7,"schema":{}})"),
            "! expected a string, got an integer (at /outputSchema/name)");
}

TEST(OutputSchema, EnforcementIsOneOfTwoWords) {
  EXPECT_EQ(rewritten(R"({"schema":{},"enforcement":"hard"})"),
            R"(! expected one of "best_effort", "strict", got "hard" )"
            "(at /outputSchema/enforcement)");
}

TEST(OutputSchema, HasAtMost32Kilobytes) {
  EXPECT_EQ(rewritten(of_size(kOutputSchemaBytesMax)), of_size(kOutputSchemaBytesMax));
  EXPECT_EQ(rewritten(of_size(kOutputSchemaBytesMax + 1)),
            "! the output schema has 32769 bytes as JSON; at most 32768 are allowed "
            "(at /outputSchema) outputSchemaBytes=32768");
}

// What was taken must be readable from the journal, whatever it is written as there.
TEST(OutputSchema, OneOfTheLargestSizeComesBackFromTheJournal) {
  std::string body = cat(R"({"prompt":"p","outputSchema":)", of_size(kOutputSchemaBytesMax), "}");
  auto spec = parse_spec(*json::parse(body));
  ASSERT_TRUE(spec);
  auto again = parse_journaled_spec(to_json(*spec));
  ASSERT_TRUE(again);
  EXPECT_EQ(to_json(*again), to_json(*spec));
}

TEST(OutputMechanism, HasTheWordsOfTheProtocol) {
  for (OutputMechanism one :
       {OutputMechanism::native, OutputMechanism::answer_tool, OutputMechanism::plain}) {
    EXPECT_EQ(parse_output_mechanism(to_string(one)), one);
  }
  EXPECT_EQ(to_string(OutputMechanism::native), "native_schema");
  EXPECT_EQ(to_string(OutputMechanism::answer_tool), "synthetic_tool");
  EXPECT_EQ(to_string(OutputMechanism::plain), "none");
  EXPECT_EQ(parse_output_mechanism("native"), std::nullopt);
}

}  // namespace
}  // namespace errand::output_schema_test
