#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "support/whole_error.hpp"

namespace errand::result_test {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0) return Error(ErrorCode::invalid_argument, cat(number, " is odd"));
  return number / 2;
}

Result<void> check_positive(int number) {
  if (number <= 0) return Error(ErrorCode::invalid_argument, cat(number, " is not positive"));
  return {};
}

// Both ways in which a function hands up the errors of the functions it calls.
Result<std::string> quarter_as_text(int number) {
  ERRAND_CHECK(check_positive(number));
  ERRAND_TRY(int halved, half(number));
  ERRAND_TRY(int quartered, half(halved));
  return cat(quartered);
}

TEST(Result, HoldsAValueOrAnError) {
  Result<int> good = half(8);
  ASSERT_TRUE(good.has_value());
  EXPECT_TRUE(good);
  EXPECT_EQ(good.value(), 4);
  EXPECT_EQ(*good, 4);

  Result<int> bad = half(7);
  EXPECT_FALSE(bad.has_value());
  EXPECT_FALSE(bad);
  EXPECT_EQ(whole(bad.error()),
            (WholeError{.code = ErrorCode::invalid_argument, .message = "7 is odd"}));
}

TEST(Result, ReadingTheWrongSideIsABug) {
  Result<int> good = half(8);
  Result<int> bad = half(7);
  Result<void> fine = check_positive(1);
  Result<void> wrong = check_positive(0);
  EXPECT_THROW((void)good.error(), AssertionFailed);
  EXPECT_THROW((void)bad.value(), AssertionFailed);
  EXPECT_THROW((void)*bad, AssertionFailed);
  EXPECT_THROW((void)fine.error(), AssertionFailed);
  EXPECT_THROW(wrong.value(), AssertionFailed);
}

TEST(Result, AnAssertionNamesItsConditionAndPlace) {
  try {
    ERRAND_ASSERT(1 > 2);
    FAIL();
  } catch (const AssertionFailed& bug) {
    EXPECT_EQ(bug.what(), cat(__FILE__, ":", __LINE__ - 3, ": assertion failed: 1 > 2"));
  }
}

TEST(Result, ACopyIsIndependent) {
  Result<std::string> original = std::string("first");
  Result<std::string> copy = original;
  original.value() += " changed";
  EXPECT_EQ(*copy, "first");
  EXPECT_EQ(*original, "first changed");
}

TEST(Result, CarriesWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<int>> original = std::make_unique<int>(7);
  Result<std::unique_ptr<int>> moved = std::move(original);
  std::unique_ptr<int> value = std::move(moved).value();
  EXPECT_EQ(*value, 7);
}

TEST(Result, ArrowReachesIntoTheValue) {
  Result<std::string> text = std::string("four");
  EXPECT_EQ(text->size(), 4U);
}

TEST(Result, AssignmentChangesSides) {
  Result<int> result = half(7);
  result = half(8);
  EXPECT_EQ(*result, 4);
  result = half(9);
  EXPECT_EQ(result.error().message(), "9 is odd");
}

TEST(Result, ErrorsPassThroughTryAndCheck) {
  EXPECT_EQ(*quarter_as_text(8), "2");
  EXPECT_EQ(quarter_as_text(-4).error().message(), "-4 is not positive");
  EXPECT_EQ(quarter_as_text(7).error().message(), "7 is odd");
  EXPECT_EQ(quarter_as_text(6).error().message(), "3 is odd");
}

TEST(Result, AMovedErrorKeepsItsRefinements) {
  Result<int> bad = Error(ErrorCode::conflict, "no").reason("run_terminal").hint("start another");
  Error error = std::move(bad).error();
  EXPECT_EQ(whole(error), (WholeError{.code = ErrorCode::conflict,
                                      .message = "no",
                                      .reason = "run_terminal",
                                      .hint = "start another"}));
}

}  // namespace
}  // namespace errand::result_test
