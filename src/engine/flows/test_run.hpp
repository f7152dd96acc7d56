#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/flows/test_world.hpp"

namespace errand::engine::testing {

using Types = std::vector<std::string>;

inline Types types_of(const std::vector<std::string>& lines) {
  Types types;
  for (const std::string& line : lines) types.emplace_back(type_of_line(line));
  return types;
}

// A client and its disk. Runs leave nothing behind that a check finds fault with.
struct RunTest : ::testing::Test {
  Disk disk;
  Client client;

  void run(World& world) {
    world.tasks.spawn("client", client.go(&world));
    world.run_until([&] { return client.done; });
    EXPECT_EQ(world.bugs, std::vector<std::string>());
    EXPECT_EQ(findings_of(disk), std::vector<std::string>());
  }
};

}  // namespace errand::engine::testing
