#include "base/error.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "support/whole_error.hpp"

namespace errand::error_test {
namespace {

Error full_error() {
  return Error(ErrorCode::too_large, "the body is too large")
      .reason("body_too_large")
      .pointer("/tools/0")
      .hint("send less")
      .limit("bodyBytes", 1024)
      .candidates({"a", "b"});
}

const WholeError kFull{.code = ErrorCode::too_large,
                       .message = "the body is too large",
                       .reason = "body_too_large",
                       .pointer = "/tools/0",
                       .hint = "send less",
                       .limit = "bodyBytes",
                       .max = 1024,
                       .candidates = {"a", "b"}};

TEST(Error, ChainedRefinementsAreAllKept) {
  EXPECT_EQ(whole(full_error()), kFull);
}

TEST(Error, WithoutRefinementsTheRestIsEmpty) {
  EXPECT_EQ(whole(Error(ErrorCode::timeout, "late")),
            (WholeError{.code = ErrorCode::timeout, .message = "late"}));
}

TEST(Error, ACopyIsEqualAndLeavesTheOriginalWhole) {
  Error original = full_error();
  Error copy = original;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(whole(copy), kFull);
  EXPECT_EQ(whole(original), kFull);
}

TEST(Error, ACopyDoesNotChangeWithItsOriginal) {
  Error original = full_error();
  Error copy = original;
  original = std::move(original).pointer("/elsewhere").limit("runs", 1);
  EXPECT_EQ(whole(copy), kFull);
}

TEST(Error, AssignmentReplacesEverything) {
  Error error = full_error();
  Error other(ErrorCode::timeout, "late");
  error = other;
  EXPECT_EQ(whole(error), (WholeError{.code = ErrorCode::timeout, .message = "late"}));
  EXPECT_EQ(whole(other), whole(error));
}

TEST(Error, SelfAssignmentKeepsTheError) {
  Error error = full_error();
  const Error& same = error;
  error = same;
  EXPECT_EQ(whole(error), kFull);
}

TEST(Error, AMoveTakesEverything) {
  Error original = full_error();
  Error moved = std::move(original);
  EXPECT_EQ(whole(moved), kFull);
  Error assigned(ErrorCode::timeout, "late");
  assigned = std::move(moved);
  EXPECT_EQ(whole(assigned), kFull);
}

TEST(Error, DescribeNamesThePointerIfThereIsOne) {
  EXPECT_EQ(full_error().describe(), "the body is too large (at /tools/0)");
  EXPECT_EQ(Error(ErrorCode::timeout, "late").describe(), "late");
}

TEST(Error, EveryCodeHasAWordOfItsOwn) {
  EXPECT_EQ(to_string(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_EQ(to_string(ErrorCode::unauthorized), "unauthorized");
  EXPECT_EQ(to_string(ErrorCode::forbidden), "forbidden");
  EXPECT_EQ(to_string(ErrorCode::not_found), "not_found");
  EXPECT_EQ(to_string(ErrorCode::conflict), "conflict");
  EXPECT_EQ(to_string(ErrorCode::too_large), "too_large");
  EXPECT_EQ(to_string(ErrorCode::rate_limited), "rate_limited");
  EXPECT_EQ(to_string(ErrorCode::unsupported), "unsupported");
  EXPECT_EQ(to_string(ErrorCode::timeout), "timeout");
  EXPECT_EQ(to_string(ErrorCode::unavailable), "unavailable");
  EXPECT_EQ(to_string(ErrorCode::outcome_unknown), "outcome_unknown");
  EXPECT_EQ(to_string(ErrorCode::cancelled), "cancelled");
  EXPECT_EQ(to_string(ErrorCode::internal), "internal");
}

}  // namespace
}  // namespace errand::error_test
