#include "cli/terminal/plain_input.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>

#include "async/task_group.hpp"
#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "sdk/internal/tell_stderr.hpp"
#include "support/run_task.hpp"

namespace errand::cli::plain_input_test {
namespace {

using Kind = InputLine::Kind;

Task<void> keep_line(PlainInput* input, std::optional<Result<InputLine>>* line) {
  auto got = co_await input->read("> ");
  line->emplace(std::move(got));
}

// A pipe with a test at its other end.
class PlainInputTest : public testing::Test {
 protected:
  PlainInputTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    input_end_ = Descriptor(ends[0]);
    writer_ = Descriptor(ends[1]);
    input_.emplace(input_end_.get(), PlainInput::Prompt::left_out);
  }

  void write(std::string_view text) {
    EXPECT_EQ(::write(writer_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  InputLine read() {
    auto line = run_task(io_, input_->read("> "));
    return line ? *line : InputLine{.text = cat("error: ", line.error().message())};
  }

  asio::io_context io_;
  Descriptor input_end_;
  Descriptor writer_;
  std::optional<PlainInput> input_;
};

TEST_F(PlainInputTest, LinesComeOneByOneWithoutTheirEnds) {
  write("one\n\ntwo\r\nthr");
  EXPECT_EQ(read(), (InputLine{.text = "one"}));
  EXPECT_EQ(read(), (InputLine{.text = ""}));
  EXPECT_EQ(read(), (InputLine{.text = "two"}));
  write("ee");
  writer_ = Descriptor();
  EXPECT_EQ(read(), (InputLine{.text = "three"}));
  EXPECT_EQ(read(), (InputLine{.kind = Kind::ended}));
}

TEST_F(PlainInputTest, AnInterruptionEndsTheReadThatGoesOn) {
  std::optional<Result<InputLine>> line;
  TaskGroup tasks(io_.get_executor(), sdk::report_bug);
  tasks.spawn("read", keep_line(&*input_, &line));
  run_ready(io_);
  input_->interrupt();
  run_until(io_, [&] { return line.has_value() && tasks.size() == 0; });
  EXPECT_EQ(**line, (InputLine{.kind = Kind::interrupted}));
}

TEST_F(PlainInputTest, AnInterruptionThatComesTooLateIsForgotten) {
  write("one\n");
  EXPECT_EQ(read(), (InputLine{.text = "one"}));
  input_->interrupt();
  write("two\n");
  EXPECT_EQ(read(), (InputLine{.text = "two"}));
}

TEST_F(PlainInputTest, WhatIsNotUtf8IsRefused) {
  write("\xff\n");
  EXPECT_EQ(read(), (InputLine{.text = "error: a line on stdin is not UTF-8"}));
}

}  // namespace
}  // namespace errand::cli::plain_input_test
