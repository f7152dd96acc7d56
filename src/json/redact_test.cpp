#include "json/redact.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::json::redact_test {
namespace {

std::string redacted(std::string_view text) {
  Value value = *parse(text);
  redact_secrets(value);
  return write(value);
}

TEST(Redact, ValuesUnderSecretNamesAreTakenOutHoweverTheNameIsSpelled) {
  EXPECT_EQ(redacted(R"({"Authorization":"Bearer x","api_key":"k","accessToken":1,)"
                     R"("client-secret":{"a":"b"},"Set-Cookie":["c"],"dbPassword":null})"),
            R"({"Authorization":"[redacted]","api_key":"[redacted]","accessToken":"[redacted]",)"
            R"("client-secret":"[redacted]","Set-Cookie":"[redacted]","dbPassword":"[redacted]"})");
}

TEST(Redact, EverythingBelowHeadersAndEnvIsTakenOut) {
  EXPECT_EQ(redacted(R"({"headers":{"x-team":"a","n":[1,{"b":true}]},"env":{"HOME":"/root"}})"),
            R"({"headers":{"x-team":"[redacted]","n":["[redacted]",{"b":"[redacted]"}]},)"
            R"("env":{"HOME":"[redacted]"}})");
}

TEST(Redact, SecretsAreFoundAtAnyDepth) {
  EXPECT_EQ(redacted(R"([{"a":[{"b":{"token":"t","c":1}}]}])"),
            R"([{"a":[{"b":{"token":"[redacted]","c":1}}]}])");
}

TEST(Redact, NamesThatOnlyContainAWordStay) {
  constexpr std::string_view kText =
      R"({"inputTokens":3,"tokens":{"outputTokens":4},"tokenizer":"x","secretary":"y"})";
  EXPECT_EQ(redacted(kText), kText);
}

TEST(Redact, APropertyOfASchemaIsNoSecret) {
  constexpr std::string_view kText =
      R"({"parameters":{"type":"object","$defs":{"Token":{"type":"string","maxLength":9}},)"
      R"("properties":{"password":{"type":"string","description":"Yours."},"apiKey":true,)"
      R"("headers":{"type":"object","additionalProperties":{"type":"string"}},)"
      R"("credentials":{"anyOf":[{"$ref":"#/$defs/Token"},{"type":"object",)"
      R"("properties":{"user":{"type":"string"}},"required":["user"]}]}}}})";
  EXPECT_EQ(redacted(kText), kText);
}

TEST(Redact, WhatASchemaTellsOfASecretsValueIsTakenOut) {
  EXPECT_EQ(redacted(R"({"properties":{"password":{"type":"string","default":"p","enum":["p","q"],)"
                     R"("examples":[{"a":"p"}],"x-own":"p"},"limit":{"default":5},)"
                     R"("credentials":{"properties":{"user":{"const":"root"}}}}})"),
            R"({"properties":{"password":{"type":"string","default":"[redacted]",)"
            R"("enum":["[redacted]","[redacted]"],"examples":[{"a":"[redacted]"}],)"
            R"("x-own":"[redacted]"},"limit":{"default":5},)"
            R"("credentials":{"properties":{"user":{"const":"[redacted]"}}}}})");
}

TEST(Redact, ASecretThatOnlyStandsWhereASchemaWouldIsTakenOut) {
  EXPECT_EQ(redacted(R"({"properties":{"password":"p","token":7,"secret":["s",{"v":"s"}],)"
                     R"("a":{"token":"t"}}})"),
            R"({"properties":{"password":"[redacted]","token":"[redacted]",)"
            R"("secret":["[redacted]",{"v":"[redacted]"}],"a":{"token":"[redacted]"}}})");
}

TEST(Redact, ArgumentsThatAreJsonTextAreLookedInto) {
  EXPECT_EQ(redacted(R"({"arguments":"{\"user\": \"u\", \"password\": \"p\"}"})"),
            R"({"arguments":"{\"user\":\"u\",\"password\":\"[redacted]\"}"})");
}

TEST(Redact, ArgumentsWithoutSecretsStayAsTheyWereWritten) {
  constexpr std::string_view kText = R"({"arguments":"{ \"a\" : 1 }","b":"not {json"})";
  EXPECT_EQ(redacted(kText), kText);
  EXPECT_EQ(redacted(R"({"arguments":"{oops"})"), R"({"arguments":"{oops"})");
}

}  // namespace
}  // namespace errand::json::redact_test
