#include "async/breath.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <string>

namespace errand::breath_test {
namespace {

TEST(Breath, IsDueEveryTimeEnoughWasDone) {
  Breath breath(10);
  std::string due;
  for (std::size_t done : {4U, 5U, 1U, 25U, 9U, 1U}) due += breath.is_due(done) ? '+' : '-';
  EXPECT_EQ(due, "--++-+");
}

Task<void> work(std::string* shown, char name) {
  for (int i = 0; i < 3; ++i) {
    shown->push_back(name);
    co_await let_others_run();
  }
}

TEST(Breath, LetsOthersRun) {
  asio::io_context io;
  std::string shown;
  asio::co_spawn(io, work(&shown, 'a'), asio::detached);
  asio::co_spawn(io, work(&shown, 'b'), asio::detached);
  io.run();
  EXPECT_EQ(shown, "ababab");
}

}  // namespace
}  // namespace errand::breath_test
