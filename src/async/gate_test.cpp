#include "async/gate.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "async/task_group.hpp"

namespace errand::gate_test {
namespace {

class GateTest : public testing::Test {
 protected:
  static Task<void> visit(GateTest* test, char name) {
    Gate::Pass pass = co_await test->gate_.enter();
    test->shown_.push_back(name);
    co_await test->bell(name).wait();
    test->shown_.push_back(static_cast<char>(name - 'a' + 'A'));
  }
  Wakeup& bell(char name) { return *bells_.at(static_cast<std::size_t>(name - 'a')); }
  TaskGroup::Ticket start(char name) {
    bells_.push_back(std::make_unique<Wakeup>(io_.get_executor()));
    return tasks_.spawn("visit", visit(this, name));
  }
  const std::string& settled() {
    io_.restart();
    io_.poll();
    return shown_;
  }
  void end(char name) {
    bell(name).notify();
    settled();
  }

  asio::io_context io_;
  std::vector<std::unique_ptr<Wakeup>> bells_;
  std::string shown_;
  Gate gate_{io_.get_executor(), 2};
  TaskGroup tasks_{io_.get_executor(),
                   [](const char*, const std::string& what) { FAIL() << what; }};
};

TEST_F(GateTest, AFewPassAndOthersWaitTheirTurn) {
  for (char name : std::string("abcd")) start(name);
  EXPECT_EQ(settled(), "ab");
  end('b');
  EXPECT_EQ(shown_, "abBc");
  end('a');
  EXPECT_EQ(shown_, "abBcAd");
  end('c');
  end('d');
  EXPECT_EQ(shown_, "abBcAdCD");
}

TEST_F(GateTest, OneWhoIsCancelledTakesNoPlace) {
  start('a');
  start('b');
  settled();
  TaskGroup::Ticket waits = start('c');
  start('d');
  settled();
  tasks_.cancel_one(waits);
  settled();
  end('a');
  EXPECT_EQ(shown_, "abAd");
  end('b');
  end('d');
  start('e');
  EXPECT_EQ(settled(), "abAdBDe");
  end('e');
}

TEST_F(GateTest, OneWhoIsCancelledInsideLeavesItsPlaceToTheNext) {
  start('a');
  start('b');
  settled();
  TaskGroup::Ticket waits = start('c');
  start('d');
  settled();
  bell('a').notify();
  io_.restart();
  // The place was given to c, which is about to take it.
  while (shown_ != "abA") io_.poll_one();
  tasks_.cancel_one(waits);
  EXPECT_EQ(settled(), "abAcCd");
  end('b');
  end('d');
}

}  // namespace
}  // namespace errand::gate_test
