#include "json/parse.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "base/text.hpp"
#include "json/write.hpp"
#include "support/whole_error.hpp"

namespace errand::json::parse_test {
namespace {

// The text as it is written again, or "! message".
std::string rewritten(std::string_view text, ParseOptions options = {}) {
  auto value = parse(text, options);
  return value ? write(*value) : cat("! ", value.error().message());
}

bool is_refused(std::string_view text, ParseOptions options = {}) {
  auto value = parse(text, options);
  return !value && value.error().code() == ErrorCode::invalid_argument &&
         value.error().message().starts_with("not valid JSON: ");
}

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonParse, EveryKindOfValueIsRead) {
  EXPECT_EQ(rewritten(R"( {"a":[null,true,false,1,-1,1.5,"s",{},[]],"b":{"c":""}} )"),
            R"({"a":[null,true,false,1,-1,1.5,"s",{},[]],"b":{"c":""}})");
  EXPECT_EQ(rewritten("null"), "null");
  EXPECT_EQ(rewritten("\t\r\n 7 \t\r\n"), "7");
  EXPECT_EQ(rewritten(R"("\"\\\/\b\f\n\r\té")"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\xC3\xA9\"");
}

TEST(JsonParse, ASharedValueIsTheSameAndLivesAsLongAsAnyPartOfIt) {
  std::string text = R"({"a":[null,true,1,-1,1.5,"a string that needs memory of its own"],"b":{}})";
  auto shared = parse_shared(text).value();
  EXPECT_EQ(*shared, parse(text).value());
  std::shared_ptr<const Value> part(shared, shared->get_object().if_contains("a"));
  shared.reset();
  EXPECT_EQ(*part,
            parse(R"([null,true,1,-1,1.5,"a string that needs memory of its own"])").value());
}

TEST(JsonParse, ACopyOfAPartOfASharedValueMayChangeAndOutliveIt) {
  auto shared = parse_shared(R"({"a":{"b":"a string that needs memory of its own"}})").value();
  Object copy = shared->at("a").get_object();
  shared.reset();
  for (int i = 0; i < 1000; ++i) copy[cat("key ", i)] = "another string that needs memory";
  EXPECT_EQ(copy.size(), 1001U);
  EXPECT_EQ(copy["b"], "a string that needs memory of its own");
}

TEST(JsonParse, ASharedValueMayBeLargerThanItsText) {
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) text += "[],";
  text += "0]";
  EXPECT_EQ(*parse_shared(text).value(), parse(text).value());
}

TEST(JsonParse, ASharedValueIsRefusedAsAnyOtherIs) {
  for (std::string_view text : {"", "[1,]", R"({"a":1,"a":2})", "[1e999]", "[\"\xff\"]"}) {
    EXPECT_EQ(whole(parse_shared(text).error()), whole(parse(text).error())) << text;
  }
}

TEST(JsonParse, DepthCanBeLimitedFurther) {
  EXPECT_TRUE(parse(nested(10), {.depth_max = 10}));
  EXPECT_FALSE(parse(nested(11), {.depth_max = 10}));
}

TEST(JsonParse, AMistakeIsNamedWithItsByte) {
  EXPECT_EQ(whole(parse(R"({"a":1,})").error()),
            (WholeError{.code = ErrorCode::invalid_argument,
                        .message = "not valid JSON: syntax error at byte 7"}));
}

TEST(JsonParse, WhatIsNotOneWholeValueIsRefused) {
  for (std::string_view text : {"", " ", "{", "[", "[1", "[1,", "{\"a\"", "{\"a\":", "{\"a\":1",
                                "\"open", "tru", "nul", "-", "1.", "1e", "1e+", "]", "}", ","}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
}

TEST(JsonParse, TrailingGarbageIsRefused) {
  for (std::string_view text : {"1 2", "{} {}", "null,", "[]]", "{}}", "1 x", "\"a\"b", "{}\n{}"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
  EXPECT_TRUE(is_refused(std::string_view("{}\0", 3)));
}

TEST(JsonParse, WhatOnlyOtherLanguagesAllowIsRefused) {
  for (std::string_view text : {"[1,]", "{\"a\":1,}", "{a:1}", "{'a':1}", "01", "+1", ".5", "NaN",
                                "Infinity", "-Infinity", "0x1", "True", "\"\t\"", "\"\n\"",
                                R"("\x41")", R"("\u12")", R"("\u12G4")", "\xEF\xBB\xBF{}"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
  EXPECT_TRUE(is_refused(std::string_view("\"a\0b\"", 5)));
}

TEST(JsonParse, IntegersOf64BitsSurvive) {
  for (std::string_view text : {"0", "-1", "9223372036854775807", "-9223372036854775808",
                                "9223372036854775808", "18446744073709551615"}) {
    EXPECT_EQ(rewritten(text), text);
  }
  EXPECT_EQ(parse("9223372036854775807")->get_int64(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse("-9223372036854775808")->get_int64(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse("18446744073709551615")->get_uint64(), std::numeric_limits<std::uint64_t>::max());
}

TEST(JsonParse, IntegersBeyond64BitsBecomeTheNearestDouble) {
  EXPECT_EQ(parse("18446744073709551616")->get_double(), 18446744073709551616.0);
  EXPECT_EQ(parse("-9223372036854775809")->get_double(), -9223372036854775808.0);
  EXPECT_EQ(parse(cat("1", std::string(300, '0')))->get_double(), 1e300);
}

TEST(JsonParse, NumbersBeyondTheRangeOfADoubleAreRefused) {
  for (std::string_view text :
       {"1e400", "-1e400", "1e309", "1.8e308", "1e2147483647", "1e99999999999"}) {
    EXPECT_TRUE(is_refused(text)) << text;
  }
  EXPECT_TRUE(is_refused(cat("1", std::string(400, '0'))));
  EXPECT_TRUE(is_refused(cat("1", std::string(400, '0'), ".5")));
}

TEST(JsonParse, TheEdgesOfTheRangeAreRead) {
  EXPECT_EQ(parse("1.7976931348623157e308")->get_double(), std::numeric_limits<double>::max());
  EXPECT_EQ(parse("-1.7976931348623157e308")->get_double(), std::numeric_limits<double>::lowest());
  EXPECT_EQ(parse("5e-324")->get_double(), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(parse("2.2250738585072014e-308")->get_double(), std::numeric_limits<double>::min());
}

TEST(JsonParse, NumbersTooSmallToTellFromZeroAreZero) {
  EXPECT_EQ(parse("1e-400")->get_double(), 0.0);
  EXPECT_EQ(parse(cat("0.", std::string(400, '0'), "1"))->get_double(), 0.0);
  EXPECT_EQ(parse("-1e-400")->get_double(), 0.0);
}

TEST(JsonParse, LongMantissasAreReadInFull) {
  EXPECT_EQ(parse(cat("1", std::string(400, '0'), "e-400"))->get_double(), 1.0);
  EXPECT_EQ(parse(cat("0.", std::string(400, '0'), "1e401"))->get_double(), 1.0);
  EXPECT_EQ(parse("9007199254740993.0")->get_double(), 9007199254740992.0);
  EXPECT_EQ(parse("9007199254740993.0000000000000000000001")->get_double(), 9007199254740994.0);
}

TEST(JsonParse, DepthIsLimited) {
  EXPECT_TRUE(parse(nested(kDepthMax)));
  WholeError too_deep{.code = ErrorCode::invalid_argument,
                      .message = "the JSON is nested deeper than 200 levels",
                      .limit = "jsonDepth",
                      .max = 200};
  EXPECT_EQ(whole(parse(nested(kDepthMax + 1)).error()), too_deep);
  EXPECT_EQ(whole(parse(nested(200'000)).error()), too_deep);
  EXPECT_EQ(whole(parse(std::string(200'000, '[')).error()), too_deep);
}

TEST(JsonParse, ObjectsCountForDepthAsArraysDo) {
  std::string text = "1";
  for (std::size_t i = 0; i < kDepthMax; ++i) text = cat("{\"a\":", text, "}");
  EXPECT_EQ(rewritten(text), text);
  EXPECT_EQ(rewritten(cat("[", text, "]")), "! the JSON is nested deeper than 200 levels");
}

TEST(JsonParse, BroadTextIsNotDeepText) {
  std::string text = "[";
  for (int i = 0; i < 1000; ++i) text += "[],{},";
  EXPECT_TRUE(parse(text + "[]]"));
}

TEST(JsonParse, DuplicateKeysAreRefusedAndTheKeyIsNamed) {
  EXPECT_EQ(rewritten(R"({"a":1,"b":2,"a":3})"), "! the JSON has the key \"a\" twice");
  EXPECT_EQ(rewritten(R"({"x":[{"k":1,"k":1}]})"), "! the JSON has the key \"k\" twice");
  EXPECT_EQ(rewritten(R"({"a":{"b":{"c":1}},"a":1})"), "! the JSON has the key \"a\" twice");
  EXPECT_EQ(rewritten(R"({"":1,"":2})"), "! the JSON has the key \"\" twice");
}

TEST(JsonParse, KeysAreComparedAfterTheirEscapes) {
  EXPECT_EQ(rewritten(R"({"a":1,"\u0061":2})"), "! the JSON has the key \"a\" twice");
}

TEST(JsonParse, EqualKeysOfDifferentObjectsAreFine) {
  EXPECT_EQ(rewritten(R"({"a":{"a":[{"a":1},{"a":2}]}})"), R"({"a":{"a":[{"a":1},{"a":2}]}})");
}

TEST(JsonParse, DuplicateKeysMayBeAllowedAndThenTheLastWins) {
  ParseOptions lenient{.duplicate_keys = DuplicateKeys::last_wins};
  EXPECT_EQ(rewritten(R"({"a":1,"b":2,"a":{"c":3}})", lenient), R"({"a":{"c":3},"b":2})");
}

TEST(JsonParse, InvalidUtf8IsRefused) {
  for (std::string_view bytes : {"\x80", "\xC0\x80", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80",
                                 "\xE2\x82", "\xF4\x90\x80\x80", "\xF0\x9F\x98", "\xFF", "\xFE"}) {
    EXPECT_TRUE(is_refused(cat("\"", bytes, "\""))) << testing::PrintToString(bytes);
    EXPECT_TRUE(is_refused(cat("\"text before ", bytes, " and after\"")));
    EXPECT_TRUE(is_refused(cat("{\"", bytes, "\":1}")));
  }
}

TEST(JsonParse, ValidUtf8IsKept) {
  std::string text =
      "\"\xC2\x80\xE2\x82\xAC\xED\x9F\xBF\xEE\x80\x80\xF0\x9F\x98\x80\xF4\x8F\xBF\xBF\"";
  EXPECT_EQ(rewritten(text), text);
}

TEST(JsonParse, SurrogatePairsBecomeOneCharacter) {
  EXPECT_EQ(rewritten(R"("\ud83d\ude00")"), "\"\xF0\x9F\x98\x80\"");
  EXPECT_EQ(rewritten(R"("\uD83D\uDE00")"), "\"\xF0\x9F\x98\x80\"");
}

TEST(JsonParse, LoneSurrogatesBecomeTheReplacementCharacter) {
  EXPECT_EQ(rewritten(R"("a\ud83d")"), "\"a\xEF\xBF\xBD\"");
  EXPECT_EQ(rewritten(R"("\ude00b")"),
            "\"\xEF\xBF\xBD"
            "b\"");
  EXPECT_EQ(rewritten(R"("\uD83Dx\uDE00")"), "\"\xEF\xBF\xBDx\xEF\xBF\xBD\"");
  EXPECT_EQ(rewritten(R"("\ud83d\u0041")"),
            "\"\xEF\xBF\xBD"
            "A\"");
  EXPECT_EQ(rewritten(R"("\ude00\ud83d")"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
  EXPECT_EQ(rewritten(R"({"\udfff":1})"), "{\"\xEF\xBF\xBD\":1}");
}

TEST(JsonParse, ALoneSurrogateDoesNotEatThePairAfterIt) {
  EXPECT_EQ(rewritten(R"("\ud83d\ud83d\ude00")"), "\"\xEF\xBF\xBD\xF0\x9F\x98\x80\"");
}

TEST(JsonParse, AnEscapedBackslashBeforeTheLettersIsNoSurrogate) {
  EXPECT_EQ(rewritten(R"("\\ud83d")"), R"("\\ud83d")");
  EXPECT_EQ(rewritten(R"("\\\ud83d")"), "\"\\\\\xEF\xBF\xBD\"");
}

TEST(JsonParse, ABrokenEscapeStaysBrokenBesideALoneSurrogate) {
  EXPECT_TRUE(is_refused(R"("\ud83d\u12")"));
  EXPECT_TRUE(is_refused(R"("\ud83)"));
  EXPECT_TRUE(is_refused("\"\\ud83d\\"));
}

TEST(JsonParse, CommentsAndTrailingCommasAreReadWhereAllowed) {
  std::string_view text = "// before\n{\"a\": /* in */ [1, 2,], // \"a\"\n \"b\": 2,} /* after */";
  EXPECT_EQ(rewritten(text, {.comments = Comments::allow}), R"({"a":[1,2],"b":2})");
  EXPECT_TRUE(is_refused(text));
}

TEST(JsonParse, CommentMarksInsideStringsAreText) {
  std::string_view text = R"({"url":"http://x/*y*/"})";
  EXPECT_EQ(rewritten(text), text);
  EXPECT_EQ(rewritten(text, {.comments = Comments::allow}), text);
}

TEST(JsonParse, ACommentThatNeverEndsIsRefused) {
  EXPECT_TRUE(is_refused("{} /* open", {.comments = Comments::allow}));
  EXPECT_TRUE(is_refused("/", {.comments = Comments::allow}));
}

TEST(JsonParse, DuplicateKeysAreRefusedBetweenCommentsToo) {
  EXPECT_EQ(rewritten("{\"a\":1, /* again */ \"a\":2,}", {.comments = Comments::allow}),
            "! the JSON has the key \"a\" twice");
}

TEST(JsonParse, NulIsACharacterLikeOthersWhenEscaped) {
  EXPECT_EQ(rewritten(R"("a\u0000b")"), R"("a\u0000b")");
}

TEST(JsonParse, LongStringsAndKeysAreReadWhole) {
  std::string text =
      cat("{\"", std::string(100'000, 'k'), "\":\"", std::string(1'000'000, 'v'), "\"}");
  EXPECT_EQ(rewritten(text), text);
}

TEST(Parse, CountsValuesWhereTheirNumberIsLimited) {
  const std::string_view text = R"([1,-2.5,"a",true,null,{"b":[18446744073709551615]}])";

  EXPECT_TRUE(parse(text, {.values_max = 9}));
  auto refused = parse(text, {.values_max = 8});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "too_complex");
  EXPECT_EQ(refused.error().message(), "the JSON has more than 8 values");
  EXPECT_EQ(refused.error().limit(), "jsonValues");
}

}  // namespace
}  // namespace errand::json::parse_test
