#include "json/write.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace errand::json::write_test {
namespace {

std::string written_string(std::string_view text) {
  std::string out;
  write_string(out, text);
  return out;
}

TEST(JsonWrite, EveryKindOfValueIsOnOneLine) {
  Value value = {{"a", {nullptr, true, false, -1, 1.5, "s"}}, {"o", Object()}, {"e", Array()}};
  EXPECT_EQ(write(value), R"({"a":[null,true,false,-1,1.5,"s"],"o":{},"e":[]})");
}

TEST(JsonWrite, AppendsToWhatIsThere) {
  std::string out = "{[";
  write(out, Value{1, 2});
  EXPECT_EQ(out, "{[[1,2]");
}

TEST(JsonWrite, MembersKeepTheirOrder) {
  EXPECT_EQ(write(Object{{"z", 1}, {"a", 2}, {"m", 3}}), R"({"z":1,"a":2,"m":3})");
}

TEST(JsonWrite, TextThatEndsLikeAnOpenBracketStillGetsItsComma) {
  EXPECT_EQ(write(Array{"[", "{", "["}), R"(["[","{","["])");
  EXPECT_EQ(write(Object{{"{", "{"}, {"[", "{"}}), R"({"{":"{","[":"{"})");
}

TEST(JsonWrite, WhatMustBeEscapedIs) {
  EXPECT_EQ(written_string("\"\\/\b\f\n\r\t"), R"("\"\\/\b\f\n\r\t")");
  EXPECT_EQ(written_string(std::string_view("\0\x01\x1F\x7F", 4)), "\"\\u0000\\u0001\\u001f\x7F\"");
  EXPECT_EQ(write(Object{{"a\"b", 1}}), R"({"a\"b":1})");
}

TEST(JsonWrite, NoControlCharacterGoesOutRaw) {
  std::string controls;
  for (int c = 0; c < 0x20; ++c) controls.push_back(static_cast<char>(c));
  for (char c : written_string(controls)) EXPECT_GE(c, 0x20);
}

TEST(JsonWrite, Utf8GoesOutAsItIs) {
  std::string_view text = "\xC2\x80\xE2\x82\xAC\xED\x9F\xBF\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF";
  EXPECT_EQ(written_string(text), "\"" + std::string(text) + "\"");
}

TEST(JsonWrite, BytesThatAreNotUtf8BecomeTheReplacementCharacter) {
  EXPECT_EQ(written_string("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(written_string("\xC3"), "\"\xEF\xBF\xBD\"");
  EXPECT_EQ(written_string("\xE2\x82"
                           "a"),
            "\"\xEF\xBF\xBD\xEF\xBF\xBD"
            "a\"");
  EXPECT_EQ(written_string("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(written_string("\xED\xA0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(written_string("\xC3\xC3\xA9"), "\"\xEF\xBF\xBD\xC3\xA9\"");
  EXPECT_EQ(written_string("\xFF\n"), "\"\xEF\xBF\xBD\\n\"");
}

TEST(JsonWrite, WhatJsonCannotSayIsNull) {
  EXPECT_EQ(write(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(write(-std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(write(std::nan("")), "null");
  EXPECT_EQ(write(Array{1, std::nan(""), 2}), "[1,null,2]");
}

TEST(JsonWrite, ADoubleNeverLooksLikeAnInteger) {
  EXPECT_EQ(write(0.0), "0.0");
  EXPECT_EQ(write(-0.0), "-0.0");
  EXPECT_EQ(write(1.0), "1.0");
  EXPECT_EQ(write(-3.0), "-3.0");
  EXPECT_EQ(write(123456789.0), "123456789.0");
  EXPECT_EQ(write(1e22), "1e+22");
  EXPECT_EQ(write(18446744073709551616.0), "18446744073709551616.0");
}

TEST(JsonWrite, ADoubleHasTheFewestDigitsThatNameIt) {
  EXPECT_EQ(write(0.1), "0.1");
  EXPECT_EQ(write(0.7), "0.7");
  EXPECT_EQ(write(12.5), "12.5");
  EXPECT_EQ(write(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(write(5e-324), "5e-324");
}

TEST(JsonWrite, IntegersKeepAll64Bits) {
  EXPECT_EQ(write(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(write(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
}

TEST(ObjectWriter, WritesEveryKindOfMember) {
  std::string out;
  ObjectWriter(out)
      .field("string", std::string("a\"b"))
      .field("view", std::string_view("v"))
      .field("literal", "l")
      .field("yes", true)
      .field("no", false)
      .field("int", -7)
      .field("big", std::numeric_limits<std::uint64_t>::max())
      .field("value", Value{1, 2})
      .field("object", Object{{"k", nullptr}})
      .raw("raw", R"({"x":[1]})")
      .end();
  EXPECT_EQ(out,
            R"({"string":"a\"b","view":"v","literal":"l","yes":true,"no":false,"int":-7,)"
            R"("big":18446744073709551615,"value":[1,2],"object":{"k":null},"raw":{"x":[1]}})");
}

TEST(ObjectWriter, AnObjectWithoutMembersIsEmpty) {
  std::string out;
  ObjectWriter(out).end();
  EXPECT_EQ(out, "{}");
}

TEST(ObjectWriter, AppendsToWhatIsThere) {
  std::string out = "x{";
  ObjectWriter(out).field("a", 1).field("b{", "{").field("c", 3).end();
  EXPECT_EQ(out, R"(x{{"a":1,"b{":"{","c":3})");
}

TEST(ObjectWriter, KeysAreEscaped) {
  std::string out;
  ObjectWriter(out).field("a\n\"", 1).end();
  EXPECT_EQ(out, R"({"a\n\"":1})");
}

}  // namespace
}  // namespace errand::json::write_test
