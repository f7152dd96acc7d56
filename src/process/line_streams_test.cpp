#include "process/line_streams.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <string>
#include <vector>

#include "async/task_group.hpp"
#include "base/descriptor.hpp"
#include "support/run_task.hpp"

namespace errand::process::line_streams_test {
namespace {

class LineStreamsTest : public testing::Test {
 protected:
  LineStreamsTest() {
    std::signal(SIGPIPE, SIG_IGN);
    int fds[2];
    EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    their_input_.reset(fds[1]);
    Descriptor input(fds[0]);
    EXPECT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    their_output_.reset(fds[0]);
    EXPECT_EQ(::fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
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

  // What the other side can read now.
  std::string heard() {
    std::string all;
    char memory[4096];
    for (ssize_t count; (count = ::read(their_output_.get(), memory, sizeof memory)) > 0;) {
      all.append(memory, static_cast<std::size_t>(count));
    }
    return all;
  }
  Task<void> keep_next() {
    auto line = co_await streams_->receive();
    kept_.push_back(line ? line->text : "(end)");
  }

  asio::io_context io_{1};
  Descriptor their_input_;
  Descriptor their_output_;
  std::unique_ptr<LineStreams> streams_;
  std::vector<std::string> kept_;
  TaskGroup tasks_{io_.get_executor(),
                   [](const char*, const std::string& what) { ADD_FAILURE() << what; }};
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
  EXPECT_EQ(heard(), "one\ntwo\n");
}

TEST_F(LineStreamsTest, ALineThatFitsLeavesTheLoopNothingToDo) {
  ASSERT_TRUE(streams_->send("one"));
  EXPECT_EQ(heard(), "one\n");
  EXPECT_EQ(io_.poll(), 0U);
}

TEST_F(LineStreamsTest, WhatDoesNotFitGoesOutWhenThereIsRoom) {
  const std::string large(300'000, 'x');
  ASSERT_TRUE(streams_->send(large));
  std::string all = heard();
  ASSERT_TRUE(streams_->send("two"));  // there is room again, but not for this line
  run_until(io_, [&] { return (all += heard()).ends_with("two\n"); });
  EXPECT_EQ(all, large + "\ntwo\n");
  run_task(io_, streams_->flush());
  ASSERT_TRUE(streams_->send("three"));
  EXPECT_EQ(heard(), "three\n");
}

TEST_F(LineStreamsTest, AnOutputThatNobodyReadsAnyMoreIsClosed) {
  their_output_.reset(-1);
  ASSERT_TRUE(streams_->send("lost"));
  run_task(io_, streams_->flush());
  EXPECT_EQ(streams_->send("x").error().reason(), "output_closed");
}

TEST_F(LineStreamsTest, ACancelledWaitTakesNoLineAndEndsNothing) {
  tasks_.spawn("next", keep_next());
  run_ready(io_);
  run_task(io_, tasks_.stop(CancelReason::shutdown));
  say("one\n");
  EXPECT_EQ(next(), "one");
  EXPECT_EQ(kept_, std::vector<std::string>());
}

TEST_F(LineStreamsTest, AReaderThatStopsMeetsALimit) {
  const std::string half(LineStreams::kQueuedBytesMax / 2, 'x');
  ASSERT_TRUE(streams_->send(half));  // the pipe takes some of it
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
