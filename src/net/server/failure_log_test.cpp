#include "net/server/failure_log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <vector>

#include "support/manual_clock.hpp"

namespace errand::net::failure_log_test {
namespace {

class FailureLogTest : public testing::Test {
 protected:
  ~FailureLogTest() override {
    for (int end : ends_) ::close(end);
  }

  static std::array<int, 2> open_pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0);
    EXPECT_GT(::fcntl(ends[1], F_SETPIPE_SZ, 1 << 20), 0);
    return ends;
  }

  // The lines that were written since the last call, without their times.
  std::vector<std::string> lines() {
    std::string text(1 << 20, '\0');
    const ssize_t count = ::read(ends_[0], text.data(), text.size());
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    std::vector<std::string> out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const std::string line = text.substr(at, end - at);
      out.push_back(line.substr(line.find(' ') + 1));
      at = end + 1;
    }
    return out;
  }

  static FailedRequest request(int status) {
    return {.id = "req-1",
            .method = "POST",
            .path = "/api/v1/workspaces/default/agent-runs",
            .status = status,
            .what = "invalid_request"};
  }

  const std::array<int, 2> ends_ = open_pipe();
  ManualClock clock_{1'800'000'000'000};
  Log log_{clock_, ends_[1], LogFormat::text};
  FailureLog failures_{log_};
  const SteadyTime now_ = SteadyTime(seconds(1000));
};

TEST_F(FailureLogTest, AFailedRequestIsOneLineWithItsId) {
  failures_.tell(request(400), now_);
  failures_.tell(request(503), now_);

  EXPECT_EQ(lines(), (std::vector<std::string>{
                         R"(info a request failed requestId="req-1" method="POST" )"
                         R"(path="/api/v1/workspaces/default/agent-runs" status="400" )"
                         R"(error="invalid_request")",
                         R"(warning a request failed requestId="req-1" method="POST" )"
                         R"(path="/api/v1/workspaces/default/agent-runs" status="503" )"
                         R"(error="invalid_request")"}));
}

TEST_F(FailureLogTest, AFloodIsCutAndCounted) {
  for (int i = 0; i < FailureLog::kLinesAtOnce + 7; ++i) failures_.tell(request(401), now_);
  EXPECT_EQ(lines().size(), static_cast<std::size_t>(FailureLog::kLinesAtOnce));

  failures_.tell(request(500), now_);
  EXPECT_EQ(lines().size(), 1U) << "an error of the server is told nonetheless";

  failures_.tell(request(401), now_ + FailureLog::kLineEvery);
  const std::vector<std::string> later = lines();
  ASSERT_EQ(later.size(), 2U);
  EXPECT_EQ(later.front(), R"(warning more requests failed than are logged leftOut="7")");
}

TEST_F(FailureLogTest, ALongPathIsCut) {
  FailedRequest failed = request(404);
  failed.path.assign(1000, 'x');
  failures_.tell(failed, now_);
  EXPECT_LT(lines().front().size(), 400U);
}

}  // namespace
}  // namespace errand::net::failure_log_test
