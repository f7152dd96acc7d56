#include "host/descriptors.hpp"

#include <gtest/gtest.h>

namespace errand::host::descriptors_test {
namespace {

TEST(Descriptors, BoundWhatTheConfigurationLeavesOpen) {
  Config config;
  bound_by_descriptors(config, 1024);
  EXPECT_EQ(config.connections_max, 512U);
  EXPECT_EQ(config.limits.turns.turns, 256U);
  EXPECT_EQ(config.limits.slots.in_all, 256U);
  EXPECT_EQ(config.limits.slots.per_workspace, 224U);
  EXPECT_EQ(config.limits.turns.per_workspace, 224U);
}

TEST(Descriptors, LeaveChosenLimitsAlone) {
  Config config;
  config.connections_max = 900;
  config.limits.turns.turns = 7;
  config.limits.slots = {.per_workspace = 30, .in_all = 30};
  bound_by_descriptors(config, 1024);
  EXPECT_EQ(config.connections_max, 900U);
  EXPECT_EQ(config.limits.turns.turns, 7U);
  EXPECT_EQ(config.limits.slots.in_all, 30U);
  EXPECT_EQ(config.limits.slots.per_workspace, 30U);
}

TEST(Descriptors, FewSlotsAreNotShared) {
  Config config;
  config.limits.turns.turns = 7;
  bound_by_descriptors(config, 1024);
  EXPECT_EQ(config.limits.slots.per_workspace, 7U);
  EXPECT_EQ(config.limits.turns.per_workspace, 7U);
}

TEST(Descriptors, ManyAllowNoMoreClientsThanUsual) {
  Config config;
  bound_by_descriptors(config, 1'048'576);
  EXPECT_EQ(config.connections_max, 20'000U);
  EXPECT_EQ(config.limits.turns.turns, 262'144U);
}

}  // namespace
}  // namespace errand::host::descriptors_test
