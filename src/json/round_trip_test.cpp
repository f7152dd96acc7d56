// What is written reads back as the same value: numbers bit by bit, and documents however they are
// mangled. The randomness has fixed seeds, so that a failure repeats.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::json::round_trip_test {
namespace {

constexpr int kDoubles = 200'000;
constexpr int kMutations = 6'000;

using Random = std::mt19937_64;

// The bits of the double that `text` is read as; all ones if it is not read as one.
std::uint64_t bits_read(std::string_view text) {
  auto value = parse(text);
  if (!value || !value->is_double()) return ~std::uint64_t{0};
  return std::bit_cast<std::uint64_t>(value->get_double());
}

double random_finite(Random& random) {
  for (;;) {
    auto number = std::bit_cast<double>(random());
    if (std::isfinite(number)) return number;
  }
}

double random_subnormal(Random& random) {
  constexpr std::uint64_t kMantissaAndSign = 0x800F'FFFF'FFFF'FFFF;
  return std::bit_cast<double>(random() & kMantissaAndSign);
}

// As other programs print it: 17 digits, which name every double.
std::string with_17_digits(double number) {
  char text[64];
  int length = std::snprintf(text, sizeof text, "%.16e", number);
  return {text, static_cast<std::size_t>(length)};
}

std::uint64_t count_broken(int count, std::uint64_t seed, double (*make)(Random&)) {
  Random random(seed);
  std::uint64_t broken = 0;
  for (int i = 0; i < count; ++i) {
    double number = make(random);
    auto bits = std::bit_cast<std::uint64_t>(number);
    if (bits_read(write(Value(number))) != bits) ++broken;
    if (bits_read(with_17_digits(number)) != bits) ++broken;
  }
  return broken;
}

TEST(JsonRoundTrip, EveryBitOfADoubleSurvives) {
  EXPECT_EQ(count_broken(kDoubles, 1, random_finite), 0U);
}

TEST(JsonRoundTrip, EveryBitOfASubnormalSurvives) {
  EXPECT_EQ(count_broken(kDoubles / 10, 2, random_subnormal), 0U);
}

TEST(JsonRoundTrip, DoublesOfEverydaySizeSurvive) {
  EXPECT_EQ(count_broken(kDoubles / 10, 3,
                         [](Random& random) {
                           return std::uniform_real_distribution<double>(-1000, 1000)(random);
                         }),
            0U);
}

TEST(JsonRoundTrip, IntegersSurvive) {
  Random random(4);
  int broken = 0;
  for (int i = 0; i < kDoubles / 10; ++i) {
    std::uint64_t bits = random() >> (random() % 64);
    auto number = static_cast<std::int64_t>(bits);
    auto as_signed = parse(write(Value(number)));
    auto as_unsigned = parse(write(Value(bits)));
    if (!as_signed || !as_signed->is_int64() || as_signed->get_int64() != number) ++broken;
    if (!as_unsigned || as_unsigned->to_number<std::uint64_t>() != bits) ++broken;
  }
  EXPECT_EQ(broken, 0);
}

// Documents with something of everything that a parser can trip over.
constexpr std::array<std::string_view, 7> kDocuments = {
    R"({"name":"agent","tools":[{"kind":"local","name":"read","parameters":{"type":"object"}}]})",
    R"([0,-0,1,-1,1.5,-2.5e10,1E-7,9223372036854775807,18446744073709551615,1e308,5e-324])",
    R"({"text":"\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\ude00","lone":"\ud800","other":"\udc00x"})",
    "{\"utf8\":\"\xC2\x80\xE2\x82\xAC\xF0\x9F\x98\x80\",\"\xC3\xA9\":null}",
    R"([[[[[[{"a":{"b":{"c":[true,false,null]}}}]]]]],{},[],"",{"":""}])",
    "// a comment\n{\"a\":1,/* another */\"b\":[1,2,],}",
    R"({"a":1,"b":{"a":1,"b":2},"c":[{"a":1},{"a":2}]})",
};

// Pieces that matter to a parser more than random bytes do.
constexpr std::array<std::string_view, 24> kPieces = {
    "{",        "}",       "[",        "]",
    ",",        ":",       "\"",       "\\",
    "\\u",      "\\ud800", "\\udc00",  "e",
    "-",        "1e400",   "/*",       "*/",
    "//",       "\n",      "\x80",     "\xED\xA0\x80",
    "\xF0\x9F", "null",    "\"a\":1,", "99999999999999999999"};

std::string mutated(std::string text, Random& random) {
  std::size_t changes = 1 + random() % 4;
  for (std::size_t i = 0; i < changes; ++i) {
    std::size_t at = random() % (text.size() + 1);
    std::size_t count = random() % 8;
    switch (random() % 5) {
      case 0: text.insert(at, kPieces[random() % kPieces.size()]); break;
      case 1: text.erase(at, count); break;
      case 2: text.insert(at, 1, static_cast<char>(random())); break;
      case 3: text.insert(at, text.substr(random() % (text.size() + 1), count * count)); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(random());
    }
  }
  return text;
}

// Parses a text in every mode. Returns whether each mode either refuses it, or gives a value that
// its own writing gives again in the strictest mode.
bool refused_or_round_trips(std::string_view text, int& parsed) {
  for (auto duplicates : {DuplicateKeys::refuse, DuplicateKeys::last_wins}) {
    for (auto comments : {Comments::refuse, Comments::allow}) {
      auto value = parse(text, {.duplicate_keys = duplicates, .comments = comments});
      if (!value) continue;
      ++parsed;
      std::string written = write(*value);
      auto again = parse(written);
      if (!again || write(*again) != written || *again != *value) return false;
    }
  }
  return true;
}

TEST(JsonRoundTrip, MutatedDocumentsAreRefusedOrSurvive) {
  Random random(5);
  int parsed = 0;
  for (int i = 0; i < kMutations; ++i) {
    std::string text(kDocuments[static_cast<std::size_t>(i) % kDocuments.size()]);
    text = mutated(std::move(text), random);
    ASSERT_TRUE(refused_or_round_trips(text, parsed)) << testing::PrintToString(text);
  }
  EXPECT_GT(parsed, kMutations / 10);  // the mutations are not all nonsense
}

TEST(JsonRoundTrip, EveryPrefixOfADocumentIsRefusedOrSurvives) {
  int parsed = 0;
  for (std::string_view text : kDocuments) {
    for (std::size_t length = 0; length <= text.size(); ++length) {
      ASSERT_TRUE(refused_or_round_trips(text.substr(0, length), parsed)) << text.substr(0, length);
    }
  }
}

}  // namespace
}  // namespace errand::json::round_trip_test
