#include "json/fields.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "support/whole_error.hpp"

namespace errand::json::fields_test {
namespace {

constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
constexpr auto kMax = std::numeric_limits<std::int64_t>::max();

class FieldsTest : public testing::Test {
 protected:
  Fields read(std::string_view text) {
    value_ = parse(text).value();
    return Fields(value_, "/in");
  }

  // "pointer: message" of the mistake; "" if there is none.
  static std::string mistake(Fields& in) {
    auto done = in.finish();
    if (done) return "";
    EXPECT_EQ(done.error().code(), ErrorCode::invalid_argument);
    return done.error().pointer() + ": " + done.error().message();
  }

  Value value_;
};

TEST_F(FieldsTest, EveryReaderReadsItsKind) {
  Fields in =
      read(R"({"t":"text","i":-7,"f":true,"n":1.5,"ni":2,"o":{"k":1},"a":[1,2],"c":"two"})");
  EXPECT_EQ(in.text("t"), "text");
  EXPECT_EQ(in.optional_text("t"), "text");
  EXPECT_EQ(in.integer("i", -10, 10), -7);
  EXPECT_EQ(in.optional_integer("i", -7, -7), -7);
  EXPECT_EQ(in.optional_flag("f"), true);
  EXPECT_EQ(in.optional_number("n"), 1.5);
  EXPECT_EQ(in.optional_number("ni"), 2.0);
  EXPECT_EQ(write(*in.optional_object("o")), R"({"k":1})");
  EXPECT_EQ(write(*in.optional_array("a")), "[1,2]");
  EXPECT_EQ(write(in.any("a")), "[1,2]");
  EXPECT_EQ(write(*in.optional_any("o")), R"({"k":1})");
  EXPECT_EQ(in.optional_choice("c", {"one", "two"}), 1U);
  EXPECT_EQ(mistake(in), "");
}

TEST_F(FieldsTest, MissingAndNullAreBothAbsent) {
  for (std::string_view text : {"{}", R"({"k":null})"}) {
    Fields in = read(text);
    EXPECT_EQ(in.optional_text("k"), std::nullopt);
    EXPECT_EQ(in.optional_flag("k"), std::nullopt);
    EXPECT_EQ(in.optional_integer("k", 0, 1), std::nullopt);
    EXPECT_EQ(in.optional_number("k"), std::nullopt);
    EXPECT_EQ(in.optional_object("k"), nullptr);
    EXPECT_EQ(in.optional_array("k"), nullptr);
    EXPECT_EQ(in.optional_any("k"), nullptr);
    EXPECT_EQ(in.optional_choice("k", {"one"}), std::nullopt);
    EXPECT_EQ(mistake(in), "");
  }
}

TEST_F(FieldsTest, EmptyIsNotAbsent) {
  Fields in = read(R"({"t":"","o":{},"a":[],"f":false,"i":0})");
  EXPECT_EQ(in.optional_text("t"), "");
  EXPECT_NE(in.optional_object("o"), nullptr);
  EXPECT_NE(in.optional_array("a"), nullptr);
  EXPECT_EQ(in.optional_flag("f"), false);
  EXPECT_EQ(in.optional_integer("i", 0, 1), 0);
}

TEST_F(FieldsTest, WhatIsRequiredAndAbsentIsNamed) {
  for (std::string_view text : {"{}", R"({"k":null})"}) {
    Fields texts = read(text);
    EXPECT_EQ(texts.text("k"), "");
    EXPECT_EQ(mistake(texts), "/in/k: \"k\" is missing: expected a string");
    Fields integers = read(text);
    EXPECT_EQ(integers.integer("k", 1, 9), 1);
    EXPECT_EQ(mistake(integers), "/in/k: \"k\" is missing: expected an integer from 1 to 9");
    Fields anything = read(text);
    EXPECT_TRUE(anything.any("k").is_null());
    EXPECT_EQ(mistake(anything), "/in/k: \"k\" is missing: expected a value");
  }
}

TEST_F(FieldsTest, AWrongKindIsNamed) {
  Fields text = read(R"({"k":1})");
  EXPECT_EQ(text.text("k"), "");
  EXPECT_EQ(mistake(text), "/in/k: expected a string, got an integer");
  Fields optional_text = read(R"({"k":[]})");
  EXPECT_EQ(optional_text.optional_text("k"), std::nullopt);
  EXPECT_EQ(mistake(optional_text), "/in/k: expected a string, got an array");
  Fields flag = read(R"({"k":"true"})");
  EXPECT_EQ(flag.optional_flag("k"), std::nullopt);
  EXPECT_EQ(mistake(flag), "/in/k: expected true or false, got a string");
  Fields number = read(R"({"k":"1"})");
  EXPECT_EQ(number.optional_number("k"), std::nullopt);
  EXPECT_EQ(mistake(number), "/in/k: expected a number, got a string");
  Fields object = read(R"({"k":true})");
  EXPECT_EQ(object.optional_object("k"), nullptr);
  EXPECT_EQ(mistake(object), "/in/k: expected an object, got a boolean");
  Fields array = read(R"({"k":{}})");
  EXPECT_EQ(array.optional_array("k"), nullptr);
  EXPECT_EQ(mistake(array), "/in/k: expected an array, got an object");
  Fields choice = read(R"({"k":2.5})");
  EXPECT_EQ(choice.optional_choice("k", {"one"}), std::nullopt);
  EXPECT_EQ(mistake(choice), "/in/k: expected a string, got a number");
}

TEST_F(FieldsTest, AnIntegerIsWholeAndWithinItsRange) {
  for (std::string_view value : {"0", "10", "18446744073709551615", "9223372036854775808"}) {
    Fields in = read(cat(R"({"k":)", value, "}"));
    EXPECT_EQ(in.optional_integer("k", 1, 9), std::nullopt);
    EXPECT_EQ(mistake(in), cat("/in/k: expected an integer from 1 to 9, got ", value));
  }
  Fields fraction = read(R"({"k":5.0})");
  EXPECT_EQ(fraction.integer("k", 1, 9), 1);
  EXPECT_EQ(mistake(fraction), "/in/k: expected an integer from 1 to 9, got a number");
}

TEST_F(FieldsTest, TheExtremesOf64BitsAreRead) {
  Fields in = read(R"({"min":-9223372036854775808,"max":9223372036854775807})");
  EXPECT_EQ(in.integer("min", kMin, kMax), kMin);
  EXPECT_EQ(in.integer("max", kMin, kMax), kMax);
  EXPECT_EQ(mistake(in), "");
}

TEST_F(FieldsTest, AnUnknownChoiceIsAnsweredWithTheChoices) {
  Fields in = read(R"({"k":"three"})");
  EXPECT_EQ(in.optional_choice("k", {"one", "two"}), std::nullopt);
  EXPECT_EQ(mistake(in), "/in/k: expected one of \"one\", \"two\", got \"three\"");
}

TEST_F(FieldsTest, TheFirstMistakeWins) {
  Fields in = read(R"({"a":1,"b":2})");
  EXPECT_TRUE(in.ok());
  (void)in.text("a");
  EXPECT_FALSE(in.ok());
  (void)in.text("b");
  in.fail("c", "something else");
  in.fail(Error(ErrorCode::conflict, "and more"));
  EXPECT_EQ(mistake(in), "/in/a: expected a string, got an integer");
}

TEST_F(FieldsTest, ReadingGoesOnAfterAMistake) {
  Fields in = read(R"({"a":1,"b":"good"})");
  (void)in.text("a");
  EXPECT_EQ(in.text("b"), "good");
}

TEST_F(FieldsTest, OwnMistakesNameTheirMember) {
  Fields in = read("{}");
  in.fail("k", "cannot be");
  auto done = in.finish(7);
  EXPECT_EQ(whole(done.error()),
            (WholeError{
                .code = ErrorCode::invalid_argument, .message = "cannot be", .pointer = "/in/k"}));
}

TEST_F(FieldsTest, FinishGivesTheValueIfThereIsNoMistake) {
  Fields in = read("{}");
  EXPECT_EQ(in.finish(std::string("spec")).value(), "spec");
  EXPECT_TRUE(in.finish());
}

TEST_F(FieldsTest, WhatIsNotAnObjectIsTheOnlyMistake) {
  for (std::string_view text : {"[]", "\"{}\"", "1", "null", "true"}) {
    Fields in = read(text);
    EXPECT_EQ(in.text("a"), "");
    EXPECT_EQ(in.integer("b", 1, 2), 1);
    EXPECT_TRUE(in.any("c").is_null());
    EXPECT_EQ(in.optional_text("d"), std::nullopt);
    EXPECT_EQ(mistake(in), "/in: expected an object, got " + std::string(kind_name(value_)));
  }
}

TEST_F(FieldsTest, UnknownMembersAreIgnored) {
  Fields in = read(R"({"known":1,"unknown":2})");
  EXPECT_EQ(in.integer("known", 0, 9), 1);
  EXPECT_EQ(mistake(in), "");
}

TEST_F(FieldsTest, PointersAreEscaped) {
  Fields in = read(R"({"a/b~c":1})");
  (void)in.text("a/b~c");
  EXPECT_EQ(mistake(in), "/in/a~1b~0c: expected a string, got an integer");
  EXPECT_EQ(read("{}").pointer_to("~1"), "/in/~01");
}

TEST(JsonPointer, GrowsByKeysAndIndexes) {
  EXPECT_EQ(child_pointer(child_pointer(child_pointer("", "tools"), std::size_t{0}), "name"),
            "/tools/0/name");
  EXPECT_EQ(child_pointer("", ""), "/");
  EXPECT_EQ(child_pointer("/a", "~/~"), "/a/~0~1~0");
}

TEST(JsonKinds, HaveNamesForPeople) {
  EXPECT_EQ(kind_name(Value()), "null");
  EXPECT_EQ(kind_name(Value(true)), "a boolean");
  EXPECT_EQ(kind_name(Value(1)), "an integer");
  EXPECT_EQ(kind_name(Value(std::numeric_limits<std::uint64_t>::max())), "an integer");
  EXPECT_EQ(kind_name(Value(1.5)), "a number");
  EXPECT_EQ(kind_name(Value("s")), "a string");
  EXPECT_EQ(kind_name(Array()), "an array");
  EXPECT_EQ(kind_name(Object()), "an object");
}

}  // namespace
}  // namespace errand::json::fields_test
