#include "process/line_streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <string>

#include "base/descriptor.hpp"
#include "support/run_task.hpp"

namespace errand::process::line_streams_test {
namespace {

class LineStreamsTest : public testing::Test {
 protected:
  LineStreamsTest() {
    int fds[2];
    EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    their_input_.reset(fds[1]);
    Descriptor input(fds[0]);
    EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    their_output_.reset(fds[0]);
    Descriptor output(fds[1]);
    streams_ = LineStreams::open(io_.get_executor(), input.get(), output.get(), 1000).value();
  }

  void say(std::string_view text) {
    EXPECT_EQ(::write(their_input_.get(), text.data(), text.size()), std::ssize(text));
  }
  std::string next() {
    auto line = run_task(io_, streams_->receive());
    return line ? line->text : "(end)";
  }

  asio::io_context io_{1};
  Descriptor their_input_;
  Descriptor their_output_;
  std::unique_ptr<LineStreams> streams_;
};

TEST_F(LineStreamsTest, LinesComeInUntilTheEnd) {
  say("one\ntwo\nrest");
  EXPECT_EQ(next(), "one");
  EXPECT_EQ(next(), "two");
  their_input_.reset(-1);
  EXPECT_EQ(next(), "(end)");
}

TEST_F(LineStreamsTest, LinesGoOutInOrder) {
  ASSERT_TRUE(streams_->send("one"));
  ASSERT_TRUE(streams_->send("two"));
  run_task(io_, streams_->flush());
  char memory[100];
  EXPECT_EQ(std::string(memory, static_cast<std::size_t>(
                                    ::read(their_output_.get(), memory, sizeof memory))),
            "one\ntwo\n");
}

TEST_F(LineStreamsTest, AReaderThatStopsMeetsALimit) {
  const std::string half(LineStreams::kQueuedBytesMax / 2, 'x');
  ASSERT_TRUE(streams_->send(half));
  auto refused = streams_->send(half);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "output_full");
}

TEST_F(LineStreamsTest, ClosingEndsTheWait) {
  streams_->close();
  EXPECT_EQ(next(), "(end)");
  EXPECT_FALSE(streams_->send("x"));
}

TEST_F(LineStreamsTest, APlainFileIsRefused) {
  Descriptor file(::open("/etc/passwd", O_RDONLY | O_CLOEXEC));
  EXPECT_FALSE(LineStreams::open(io_.get_executor(), file.get(), their_input_.get(), 1000));
}

}  // namespace
}  // namespace errand::process::line_streams_test
