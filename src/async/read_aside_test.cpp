#include "async/read_aside.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "support/run_task.hpp"

namespace errand::read_aside_test {
namespace {

struct Seen {
  std::size_t bytes = 0;
  std::thread::id reader;
};

Result<Seen> see(std::string_view text) {
  return Seen{.bytes = text.size(), .reader = std::this_thread::get_id()};
}

TEST(ReadAside, AShortTextIsReadAtHomeAndALongOneOnThePool) {
  asio::io_context io(1);
  BlockingPool pool(1, 10);
  std::string text(kBytesInABreath, 'x');
  auto at_home = run_task(io, read_aside(&text, &pool, see)).value();
  EXPECT_EQ(at_home.reader, std::this_thread::get_id());

  text += 'x';
  auto aside = run_task(io, read_aside(&text, &pool, see)).value();
  EXPECT_EQ(aside.bytes, kBytesInABreath + 1);
  EXPECT_NE(aside.reader, std::this_thread::get_id());
  EXPECT_EQ(text.size(), kBytesInABreath + 1) << "the text is whole again";
}

TEST(ReadAside, WithoutAPoolEverythingIsReadAtHome) {
  asio::io_context io(1);
  std::string text(kBytesInABreath + 1, 'x');
  auto at_home = run_task(io, read_aside(&text, nullptr, see)).value();
  EXPECT_EQ(at_home.reader, std::this_thread::get_id());
}

struct Freed {
  std::thread::id* by;
  ~Freed() { *by = std::this_thread::get_id(); }
};

TEST(FreeAside, ThePoolFreesTheLastReference) {
  asio::io_context io(1);
  BlockingPool pool(1, 10);
  std::thread::id by;
  run_task(io, free_aside(&pool, std::shared_ptr<const Freed>(new Freed{&by})));
  EXPECT_NE(by, std::thread::id());
  EXPECT_NE(by, std::this_thread::get_id());
}

}  // namespace
}  // namespace errand::read_aside_test
