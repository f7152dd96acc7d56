#include "cli/show/terminal_approver.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "async/task_group.hpp"
#include "base/descriptor.hpp"
#include "sdk/internal/tell_stderr.hpp"
#include "support/run_task.hpp"

namespace errand::cli::terminal_approver_test {
namespace {

Task<void> keep_answer(TerminalApprover* approver, std::string what, std::optional<bool>* answer) {
  *answer = co_await approver->approve({.what = std::move(what)});
}

int open_keyboard() {
  int fd = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_EQ(::grantpt(fd), 0);
  EXPECT_EQ(::unlockpt(fd), 0);
  return fd;
}

// A terminal with a test at its keyboard.
class TerminalApproverTest : public testing::Test {
 protected:
  TerminalApproverTest() {
    // Somebody has it open all the time, as a shell does.
    shell_ = Descriptor(::open(terminal_.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios settings{};
    ::tcgetattr(shell_.get(), &settings);
    settings.c_lflag &= ~static_cast<tcflag_t>(ECHO);  // so that only questions are read back
    ::tcsetattr(shell_.get(), TCSANOW, &settings);
  }

  // Begins to ask, and returns what the terminal shows once the question is there.
  std::string begin(const std::string& what) {
    answer_.reset();
    tasks_.spawn("question", keep_answer(&approver_, what, &answer_));
    run_ready(io_);
    std::string shown;
    for (char c = 0; !shown.ends_with("] ") && ::read(keyboard_.get(), &c, 1) == 1;) shown += c;
    return shown;
  }
  void type(std::string_view keys) {
    EXPECT_EQ(::write(keyboard_.get(), keys.data(), keys.size()),
              static_cast<ssize_t>(keys.size()));
  }
  bool answer() {
    run_until(io_, [this] { return answer_.has_value(); });
    return *answer_;
  }
  bool ask(const std::string& what, std::string_view keys) {
    begin(what);
    type(keys);
    return answer();
  }

  asio::io_context io_{1};
  Console console_;
  std::unique_ptr<EventPrinter> printer_ = make_printer(Form::text, {});
  Descriptor keyboard_{open_keyboard()};
  const std::string terminal_{::ptsname(keyboard_.get())};
  Descriptor shell_;
  std::optional<bool> answer_;
  ShownCalls shown_{io_.get_executor()};
  TerminalApprover approver_{console_, *printer_, shown_, terminal_,
                             TerminalApprover::Consent::asked_for};
  TaskGroup tasks_{io_.get_executor(), sdk::report_bug};
};

TEST_F(TerminalApproverTest, OnlyAYesIsOne) {
  EXPECT_TRUE(ask("ls", "y\n"));
  EXPECT_TRUE(ask("ls", " YES\n"));
  EXPECT_FALSE(ask("ls", "n\n"));
  EXPECT_FALSE(ask("ls", "\n"));
  EXPECT_FALSE(ask("ls", "yikes\n"));
  EXPECT_FALSE(ask("ls", "\x04"));
}

TEST_F(TerminalApproverTest, AnAIsAYesToAllThatFollow) {
  EXPECT_TRUE(ask("ls", "a\n"));
  EXPECT_TRUE(run_task(io_, approver_.approve({.what = "rm"})));
}

TEST_F(TerminalApproverTest, TheQuestionCannotMoveTheCursor) {
  EXPECT_EQ(begin("ls \x1b[2J\n\u202E"), "ls \\x1b[2J \\u202e? [y/N/a] ");
  type("n\n");
  EXPECT_FALSE(answer());
}

TEST_F(TerminalApproverTest, WhatWasTypedBeforeIsNoAnswer) {
  type("y\n");
  EXPECT_EQ(begin("ls"), "ls? [y/N/a] ");
  EXPECT_FALSE(answer_.has_value());
  type("n\n");
  EXPECT_FALSE(answer());
}

TEST_F(TerminalApproverTest, OthersWriteOnceTheQuestionIsAnswered) {
  begin("ls");
  bool is_written = false;
  tasks_.spawn("note", [](Console* console, bool* written) -> Task<void> {
    Pieces nothing{{.to = Piece::To::err, .text = ""}};
    [[maybe_unused]] auto done = co_await console->write(std::move(nothing));
    *written = true;
  }(&console_, &is_written));
  run_ready(io_);
  EXPECT_FALSE(is_written);
  type("y\n");
  EXPECT_TRUE(answer());
  run_until(io_, [&] { return is_written; });
}

TEST_F(TerminalApproverTest, AQuestionCanBeCalledOff) {
  begin("ls");
  run_task(io_, tasks_.stop(CancelReason::user_stop));
  EXPECT_NE(answer_, true);
}

TEST(TerminalApprover, WithoutATerminalTheAnswerIsNo) {
  asio::io_context io(1);
  Console console;
  auto printer = make_printer(Form::text, {});
  using Consent = TerminalApprover::Consent;
  ShownCalls shown(io.get_executor());
  TerminalApprover asking(console, *printer, shown, "/dev/null", Consent::asked_for);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(run_task(io, asking.approve({.what = "run \x1bls"})));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "errand: refused, as there is no terminal to ask on (--yes allows it): "
            "run \\x1bls\n");
  TerminalApprover allowing(console, *printer, shown, "/dev/null", Consent::given);
  EXPECT_TRUE(run_task(io, allowing.approve({.what = "ls"})));
}

}  // namespace
}  // namespace errand::cli::terminal_approver_test
