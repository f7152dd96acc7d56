#include "async/post_after_ready.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <string>
#include <vector>

namespace errand::post_after_ready_test {
namespace {

using Socket = asio::local::stream_protocol::socket;

TEST(PostAfterReady, ComesAfterWhatIsPostedAndWhatSocketsHaveBrought) {
  asio::io_context io(1);
  Socket near(io);
  Socket far(io);
  asio::local::connect_pair(near, far);
  std::vector<std::string> calls;
  near.async_wait(Socket::wait_read, [&](const boost::system::error_code&) {
    calls.emplace_back("brought");
    asio::post(io, [&] { calls.emplace_back("posted for it"); });
  });
  asio::write(far, asio::buffer("x", 1));

  asio::post(io, [&] {
    post_after_ready(io.get_executor(), [&] { calls.emplace_back("after"); });
    asio::post(io, [&] { calls.emplace_back("posted"); });
  });
  io.run();

  EXPECT_EQ(calls.back(), "after");
  EXPECT_EQ(calls.size(), 4U);
}

}  // namespace
}  // namespace errand::post_after_ready_test
