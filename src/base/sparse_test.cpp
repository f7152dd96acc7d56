#include "base/sparse.hpp"

#include <gtest/gtest.h>

#include <string>

namespace errand::sparse_test {
namespace {

TEST(Sparse, TakesOnePointerWhileItIsAbsent) {
  EXPECT_EQ(sizeof(Sparse<std::string>), sizeof(void*));
}

TEST(Sparse, CopiesAreApart) {
  Sparse<std::string> first = std::string("a");
  Sparse<std::string> second = first;
  *second = "b";
  EXPECT_EQ(*first, "a");
  EXPECT_EQ(*second, "b");
}

TEST(Sparse, IsAbsentAfterItIsMovedFrom) {
  Sparse<std::string> first = std::string("a");
  Sparse<std::string> second = std::exchange(first, {});
  EXPECT_FALSE(first);
  EXPECT_EQ(*second, "a");
}

TEST(Sparse, TakesThePlaceOfAnOptional) {
  Sparse<std::string> value = std::optional<std::string>("a");
  EXPECT_EQ(*value, "a");
  value = std::optional<std::string>();
  EXPECT_FALSE(value);
}

TEST(Sparse, TakesAValueInBraces) {
  struct Pair {
    int a = 0;
    int b = 0;
  };
  Sparse<Pair> value;
  value = {.a = 1, .b = 2};
  ASSERT_TRUE(value);
  EXPECT_EQ(value->b, 2);
  value = {};
  EXPECT_FALSE(value);
}

TEST(Sparse, IsEqualByItsValue) {
  EXPECT_EQ(Sparse<int>(1), Sparse<int>(1));
  EXPECT_NE(Sparse<int>(1), Sparse<int>(2));
  EXPECT_NE(Sparse<int>(1), Sparse<int>());
  EXPECT_EQ(Sparse<int>(), Sparse<int>());
}

}  // namespace
}  // namespace errand::sparse_test
