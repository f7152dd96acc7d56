#include "base/close_names.hpp"

#include <gtest/gtest.h>

namespace errand::close_names_test {
namespace {

const std::vector<std::string> kCommands = {"serve", "run", "runs", "keys", "models", "doctor"};

TEST(CloseNames, ATypoInEveryThreeCharactersIsForgiven) {
  EXPECT_EQ(did_you_mean("sevre", kCommands), "did you mean serve?");
  EXPECT_EQ(did_you_mean("modles", kCommands), "did you mean models?");
  EXPECT_EQ(did_you_mean("docktr", kCommands), "did you mean doctor?");
  EXPECT_EQ(did_you_mean("dokkto", kCommands), "");
}

TEST(CloseNames, TheClosestComesFirst) {
  EXPECT_EQ(did_you_mean("runn", kCommands), "did you mean run or runs?");
  EXPECT_EQ(did_you_mean("fasst", std::vector<std::string>{"fasters", "fasst2", "fast", "fassten"}),
            "did you mean fasst2, fast or fassten?");
}

TEST(CloseNames, OneThatIsRightButForItsCaseStandsAlone) {
  EXPECT_EQ(did_you_mean("RUN", kCommands), "did you mean run?");
  EXPECT_EQ(did_you_mean("vendorModelID", std::vector<std::string>{"vendorModelId", "model"}),
            "did you mean vendorModelId?");
}

TEST(CloseNames, ThreeCharactersThatBeginANameMeanIt) {
  EXPECT_EQ(did_you_mean("mod", kCommands), "did you mean models?");
  EXPECT_EQ(did_you_mean("models-list", kCommands), "did you mean models?");
  EXPECT_EQ(did_you_mean("mo", kCommands), "");
}

TEST(CloseNames, WhatIsFarEmptyOrEndlessMeansNothing) {
  EXPECT_EQ(did_you_mean("quux", kCommands), "");
  EXPECT_EQ(did_you_mean("", kCommands), "");
  EXPECT_EQ(did_you_mean(std::string(65, 'a'), std::vector<std::string>{std::string(64, 'a')}), "");
  EXPECT_EQ(did_you_mean("aaa", std::vector<std::string>{"", std::string(65, 'a')}), "");
  EXPECT_EQ(did_you_mean("aaa", std::vector<std::string>()), "");
}

}  // namespace
}  // namespace errand::close_names_test
