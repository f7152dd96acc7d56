#include "async/blocking_pool.hpp"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "async/home.hpp"
#include "async/task_group.hpp"
#include "support/run_task.hpp"
#include "support/whole_error.hpp"

namespace errand::blocking_pool_test {
namespace {

struct Threads {
  std::thread::id worker;
  std::thread::id waiter;
};

Result<std::thread::id> this_thread() {
  return std::this_thread::get_id();
}

Task<Threads> where_it_runs(BlockingPool* pool) {
  auto worker = co_await pool->run(this_thread);
  co_return Threads{.worker = worker.value(), .waiter = std::this_thread::get_id()};
}

TEST(BlockingPool, WorkRunsElsewhereAndItsResultArrivesAtHome) {
  asio::io_context io(1);
  BlockingPool pool(1, 10);
  Threads threads = run_task(io, where_it_runs(&pool));
  EXPECT_NE(threads.worker, std::this_thread::get_id());
  EXPECT_EQ(threads.waiter, std::this_thread::get_id());
}

TEST(BlockingPool, ResultsThatCanOnlyBeMovedArrive) {
  asio::io_context io(1);
  BlockingPool pool(1, 10);
  auto work = [] { return Result<std::unique_ptr<int>>(std::make_unique<int>(7)); };
  EXPECT_EQ(*run_task(io, pool.run(work)).value(), 7);
}

TEST(BlockingPool, AnErrorArrivesWhole) {
  asio::io_context io(1);
  BlockingPool pool(1, 10);
  auto work = []() -> Result<int> {
    return Error(ErrorCode::conflict, "stale").reason("stale_epoch");
  };
  EXPECT_EQ(whole(run_task(io, pool.run(work)).error()),
            (WholeError{.code = ErrorCode::conflict, .message = "stale", .reason = "stale_epoch"}));
}

TEST(BlockingPool, AnExceptionIsAnInternalError) {
  asio::io_context io(1);
  BlockingPool pool(1, 10);
  auto work = []() -> Result<int> { throw std::logic_error("broken"); };
  EXPECT_EQ(whole(run_task(io, pool.run(work)).error()),
            (WholeError{.code = ErrorCode::internal, .message = "broken"}));
  EXPECT_EQ(run_task(io, pool.run([] { return Result<int>(7); })).value(), 7);
}

// A pool whose only thread is busy until the test lets it go.
class BusyPoolTest : public testing::Test {
 protected:
  BusyPoolTest() {
    group_.spawn("hold", hold());
    run_ready(io_);
    started_.get_future().wait();
  }
  ~BusyPoolTest() override { run_task(io_, group_.join()); }

  Task<void> hold() {
    (void)co_await pool_.run([this] {
      started_.set_value();
      released_.get_future().wait();
      return Result<void>();
    });
  }
  Task<void> number(int value) {
    auto result = co_await pool_.run([value] { return Result<int>(value); });
    if (result) {
      numbers_.push_back(*result);
    } else {
      refusals_.push_back(whole(result.error()));
    }
  }

  static constexpr std::size_t kQueueMax = 3;
  asio::io_context io_{1};
  std::promise<void> started_;
  std::promise<void> released_;
  std::vector<int> numbers_;
  std::vector<WholeError> refusals_;
  BlockingPool pool_{1, kQueueMax};
  TaskGroup group_{io_.get_executor(),
                   [](const char*, const std::string& what) { FAIL() << what; }};
};

TEST_F(BusyPoolTest, OverflowIsRefusedAtOnceAndTheRestStillRuns) {
  for (int value : {1, 2, 3, 4}) group_.spawn("number", number(value));
  run_ready(io_);
  WholeError full{.code = ErrorCode::unavailable,
                  .message = "too many calls wait for a blocking thread"};
  EXPECT_EQ(refusals_, (std::vector<WholeError>{full, full}));
  EXPECT_EQ(numbers_, std::vector<int>{});
  released_.set_value();
  run_task(io_, group_.join());
  EXPECT_EQ(numbers_, (std::vector<int>{1, 2}));
}

TEST_F(BusyPoolTest, ThereIsRoomAgainOnceCallsAreDone) {
  group_.spawn("number", number(1));
  group_.spawn("number", number(2));
  run_ready(io_);
  released_.set_value();
  run_task(io_, group_.join());
  EXPECT_EQ(run_task(io_, pool_.run([] { return Result<int>(3); })).value(), 3);
}

// Hands over the completion and the home's view of who called.
struct HandOver {
  std::promise<Completion<int>>* out;
  void operator()(Completion<int> done) { out->set_value(std::move(done)); }
};

Task<std::pair<int, bool>> wait_for_number(HandOver start, Home home) {
  int number = co_await await_completion<int>(start);
  co_return std::pair(number, home.is_here());
}

TEST(Completion, MayBeCalledFromAnotherThreadAndResumesAtHome) {
  asio::io_context io(1);
  std::promise<Completion<int>> handed;
  std::thread caller([&] { handed.get_future().get()(7); });
  auto answer = run_task(io, wait_for_number({&handed}, Home(io)));
  caller.join();
  EXPECT_EQ(answer, std::pair(7, true));
}

struct CallAtOnce {
  void operator()(const Completion<int>& done) const { done(8); }
};

TEST(Completion, MayBeCalledBeforeStartReturns) {
  asio::io_context io(1);
  EXPECT_EQ(run_task(io, await_completion<int>(CallAtOnce())), 8);
}

TEST(Home, KnowsWhetherTheCallerIsThere) {
  asio::io_context io(1);
  asio::io_context other_io(1);
  Home home(io);
  Home other(other_io);
  EXPECT_FALSE(home.is_here());
  std::pair<bool, bool> inside;
  home.post([&] { inside = {home.is_here(), other.is_here()}; });
  io.run();
  EXPECT_EQ(inside, std::pair(true, false));
  EXPECT_FALSE(home.is_here());
}

TEST(Home, IsNotElsewhereWhileItRuns) {
  asio::io_context io(1);
  Home home(io);
  std::optional<bool> elsewhere;
  home.post([&] { std::thread([&] { elsewhere = home.is_here(); }).join(); });
  io.run();
  EXPECT_EQ(elsewhere, false);
}

}  // namespace
}  // namespace errand::blocking_pool_test
