#include "process/subprocess.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <filesystem>
#include <string>
#include <utility>

#include "async/task_group.hpp"
#include "base/text.hpp"
#include "support/run_task.hpp"

namespace errand::process::subprocess_test {
namespace {

using Kind = ProcessEvent::Kind;

SteadyTime far_away() {
  return std::chrono::steady_clock::now() + std::chrono::hours(1);
}

// A named pipe. Processes that hold it open for writing can be seen to have ended.
class Watch final {
 public:
  Watch() {
    std::string folder = (std::filesystem::temp_directory_path() / "errand-XXXXXX").string();
    folder_ = ::mkdtemp(folder.data());
    EXPECT_EQ(::mkfifo(path().c_str(), 0600), 0);
    fd_ = ::open(path().c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  }
  ~Watch() {
    ::close(fd_);
    std::filesystem::remove_all(folder_);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  std::string path() const { return folder_ + "/pipe"; }
  // Whether all that had it open are gone, or go within the time that a passing test needs.
  bool are_gone() const {
    pollfd poll{.fd = fd_, .events = POLLIN, .revents = 0};
    return ::poll(&poll, 1, 20'000) == 1 && (poll.revents & POLLHUP) != 0;
  }

 private:
  std::string folder_;
  int fd_;
};

class SubprocessTest : public testing::Test {
 protected:
  Result<std::unique_ptr<Subprocess>> spawn(ProcessOptions options) {
    return Subprocess::spawn(io_.get_executor(), options);
  }
  std::unique_ptr<Subprocess> shell(std::string script, ProcessOptions options = {}) {
    options.command = {"/bin/sh", "-c", std::move(script)};
    if (options.environment.empty()) options.environment = {"PATH=/usr/bin:/bin"};
    return spawn(std::move(options)).value();
  }
  ProcessEvent next(Subprocess& process, SteadyTime deadline = far_away()) {
    return run_task(io_, process.next(deadline));
  }
  // The output up to the end of the program.
  std::string rest(Subprocess& process) {
    std::string output;
    for (;;) {
      ProcessEvent event = next(process);
      if (event.kind != Kind::output) return output;
      output += event.output;
    }
  }
  std::string wait_for(Subprocess& process, std::string_view pattern) {
    std::string output;
    while (output.find(pattern) == std::string::npos) {
      ProcessEvent event = next(process);
      if (event.kind != Kind::output) break;
      output += event.output;
    }
    return output;
  }

  asio::io_context io_{1};
};

TEST_F(SubprocessTest, OutputComesBeforeTheEndWithItsCode) {
  auto process = shell("echo one; echo two >&2; echo three; exit 3");
  EXPECT_EQ(rest(*process), "one\ntwo\nthree\n");
  EXPECT_EQ(process->end(), (ProcessEnd{.exit_code = 3, .signal = 0}));
  EXPECT_EQ(next(*process).kind, Kind::ended);
}

TEST_F(SubprocessTest, AProgramThatASignalEndsSaysWhich) {
  auto process = shell("kill -SEGV $$");
  EXPECT_EQ(rest(*process), "");
  EXPECT_EQ(process->end(), (ProcessEnd{.exit_code = 0, .signal = SIGSEGV}));
}

TEST_F(SubprocessTest, MoreOutputThanAPipeHoldsComesWhole) {
  auto process = shell("head -c 3000000 /dev/zero");
  EXPECT_EQ(rest(*process).size(), 3'000'000U);
}

TEST_F(SubprocessTest, AProgramThatClosesItsOutputIsStillWaitedFor) {
  auto process = shell("exec >&- 2>&-; exit 4");
  EXPECT_EQ(rest(*process), "");
  EXPECT_EQ(process->end().exit_code, 4);
}

TEST_F(SubprocessTest, WhatItLeavesBehindNeitherHoldsUpTheEndNorLivesOn) {
  Watch watch;
  auto process = shell(cat("exec 3>", watch.path(), "; sleep 1000 & echo started"));
  EXPECT_EQ(rest(*process), "started\n");
  EXPECT_EQ(process->end(), ProcessEnd{});
  EXPECT_TRUE(watch.are_gone());
}

TEST_F(SubprocessTest, WhatItLeavesBehindMayNotTalkForEver) {
  auto process = shell("yes & exit 5");
  rest(*process);
  EXPECT_EQ(process->end().exit_code, 5);
}

TEST_F(SubprocessTest, SilenceMeetsTheDeadline) {
  auto process = shell("sleep 1000");
  EXPECT_EQ(next(*process, std::chrono::steady_clock::now() + milliseconds(20)).kind,
            Kind::timed_out);
  run_task(io_, process->stop());
}

TEST_F(SubprocessTest, OutputWithoutEndMeetsTheDeadline) {
  auto process = shell("yes");
  SteadyTime deadline = std::chrono::steady_clock::now() + milliseconds(20);
  ProcessEvent event{.kind = Kind::output};
  while (event.kind == Kind::output) event = next(*process, deadline);
  EXPECT_EQ(event.kind, Kind::timed_out);
  run_task(io_, process->stop());
  EXPECT_EQ(process->end().signal, SIGTERM);
}

TEST_F(SubprocessTest, InputArrivesAndEnds) {
  auto process = shell("cat", {.input = ProcessOptions::Input::open});
  const std::string text = "hello\n";
  ASSERT_TRUE(run_task(io_, process->write(&text)));
  EXPECT_EQ(wait_for(*process, "\n"), "hello\n");
  process->close_input();
  EXPECT_EQ(rest(*process), "");
  EXPECT_EQ(process->end(), ProcessEnd{});
}

TEST_F(SubprocessTest, WritingToAProgramThatDoesNotReadIsAnError) {
  auto process =
      shell("exec 0<&-; echo closed; sleep 1000", {.input = ProcessOptions::Input::open});
  EXPECT_EQ(wait_for(*process, "\n"), "closed\n");
  const std::string text = "hello\n";
  auto written = run_task(io_, process->write(&text));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason(), "input_closed");
}

TEST_F(SubprocessTest, WithoutInputThereIsNothingToRead) {
  auto process = shell("cat; echo done");
  EXPECT_EQ(rest(*process), "done\n");
}

TEST_F(SubprocessTest, TheEnvironmentIsExactlyWhatIsGiven) {
  auto process =
      spawn({.command = {"/usr/bin/env"}, .environment = {"A=1", "B=two words"}}).value();
  EXPECT_EQ(rest(*process), "A=1\nB=two words\n");
}

TEST_F(SubprocessTest, TheDirectoryIsTheOneGiven) {
  auto process = shell("pwd -P", {.directory = "/usr/bin"});
  EXPECT_EQ(rest(*process), "/usr/bin\n");
}

TEST_F(SubprocessTest, FilesOfThisProcessAreNotInherited) {
  int open = ::fcntl(STDOUT_FILENO, F_DUPFD, 57);  // without FD_CLOEXEC
  auto process = shell(cat("test -e /proc/self/fd/", open, " && echo there || echo none"));
  EXPECT_EQ(rest(*process), "none\n");
  ::close(open);
}

TEST_F(SubprocessTest, SignalsThatThisProcessIgnoresAreNotIgnoredByTheProgram) {
  auto before = std::signal(SIGTERM, SIG_IGN);
  auto process = shell("kill -TERM $$; echo alive");
  std::signal(SIGTERM, before);
  EXPECT_EQ(rest(*process), "");
  EXPECT_EQ(process->end().signal, SIGTERM);
}

TEST_F(SubprocessTest, AProgramThatCannotStartSaysWhy) {
  auto process = spawn({.command = {"/nonexistent/program"}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code(), ErrorCode::unavailable);
  EXPECT_EQ(process.error().message(),
            "cannot start /nonexistent/program: No such file or directory");
  auto nowhere = spawn({.command = {"/bin/sh"}, .directory = "/nonexistent"});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().message(),
            "cannot start /bin/sh in /nonexistent: No such file or directory");
}

TEST_F(SubprocessTest, ANameWithoutASlashIsLookedUpInThePathOfTheProgram) {
  auto process =
      spawn({.command = {"echo", "hi"}, .environment = {"PATH=relative:/nonexistent:/bin"}});
  EXPECT_EQ(rest(*process.value()), "hi\n");
}

TEST_F(SubprocessTest, ANameThatNoFolderHasSaysWhereItWasSought) {
  auto process = spawn({.command = {"no-such-program"}, .environment = {"PATH=/usr/bin:/bin"}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code(), ErrorCode::not_found);
  EXPECT_EQ(process.error().message(),
            "cannot start no-such-program: PATH (/usr/bin:/bin) has no such program");
}

TEST_F(SubprocessTest, AFileThatCannotBeExecutedIsNamed) {
  auto process = spawn({.command = {"passwd"}, .environment = {"PATH=/etc"}});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().message(),
            "cannot start passwd: /etc/passwd is not an executable file");
}

TEST_F(SubprocessTest, ErrorsAreKeptApartFromTheOutput) {
  auto process = shell("echo out; echo err >&2", {.errors = ProcessOptions::Errors::apart});
  EXPECT_EQ(rest(*process), "out\n");
  EXPECT_EQ(process->errors(), "err\n");
}

TEST_F(SubprocessTest, OfManyErrorsTheLastOnesAreKept) {
  auto process = shell("head -c 3000000 /dev/zero >&2; echo the end >&2; echo out",
                       {.errors = ProcessOptions::Errors::apart});
  EXPECT_EQ(rest(*process), "out\n");
  EXPECT_EQ(process->errors().size(), Subprocess::kErrorsBytesMax);
  EXPECT_TRUE(process->errors().ends_with("the end\n"));
}

TEST_F(SubprocessTest, SentBytesArriveWholeAndInOrder) {
  auto process = shell("cat", {.input = ProcessOptions::Input::open});
  const std::string large(1'000'000, 'x');
  ASSERT_TRUE(process->send(large + "1\n"));
  ASSERT_TRUE(process->send("two\n"));
  EXPECT_EQ(wait_for(*process, "two\n"), large + "1\ntwo\n");
  process->close_input();
  EXPECT_EQ(rest(*process), "");
}

TEST_F(SubprocessTest, ASentLineIsThereBeforeTheLoopTurns) {
  auto process =
      shell("read line; test \"$line\" = one && exit 7", {.input = ProcessOptions::Input::open});
  ASSERT_TRUE(process->send("one\n"));
  process->close_input();  // what is queued would be lost
  EXPECT_EQ(rest(*process), "");
  EXPECT_EQ(process->end().exit_code, 7);
}

TEST_F(SubprocessTest, AProgramThatDoesNotReadMeetsALimit) {
  auto process = shell("sleep 1000", {.input = ProcessOptions::Input::open});
  const std::string part(Subprocess::kQueuedBytesMax / 2, 'x');
  ASSERT_TRUE(process->send(part));  // the program's input takes some of it
  ASSERT_TRUE(process->send(part));
  auto refused = process->send(part);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason(), "input_full");
  run_task(io_, process->stop());
}

TEST_F(SubprocessTest, WithPatienceStopLetsTheEndOfTheInputEndAProgram) {
  auto process = shell("trap 'exit 8' TERM; cat; exit 6",
                       {.input = ProcessOptions::Input::open, .patience = std::chrono::hours(1)});
  run_task(io_, process->stop());
  EXPECT_EQ(process->end().exit_code, 6);
}

TEST_F(SubprocessTest, PatienceHasAnEnd) {
  auto process = shell("trap 'exit 8' TERM; echo ready; while :; do :; done",
                       {.input = ProcessOptions::Input::open, .patience = milliseconds(20)});
  EXPECT_EQ(wait_for(*process, "\n"), "ready\n");
  run_task(io_, process->stop());
  EXPECT_EQ(process->end().exit_code, 8);
}

TEST_F(SubprocessTest, StopLetsAProgramEndByItself) {
  auto process = shell("trap 'exit 7' TERM; echo ready; while :; do :; done");
  EXPECT_EQ(wait_for(*process, "\n"), "ready\n");
  run_task(io_, process->stop());
  EXPECT_EQ(process->end(), (ProcessEnd{.exit_code = 7, .signal = 0}));
}

TEST_F(SubprocessTest, StopGivesTheGraceToAllOfTheGroup) {
  Watch watch;
  std::string file = watch.path() + ".done";
  auto process = shell(cat("(trap 'echo cleaned up > ", file,
                           "; exit' TERM; echo ready; while :; do :; done) & wait"),
                       {.grace = std::chrono::hours(1)});
  EXPECT_EQ(wait_for(*process, "\n"), "ready\n");
  run_task(io_, process->stop());
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(SubprocessTest, StopKillsAProgramThatWillNotEnd) {
  Watch watch;
  auto process = shell(cat("trap '' TERM; exec 3>", watch.path(), "; echo ready; sleep 1000"),
                       {.grace = milliseconds(20)});
  EXPECT_EQ(wait_for(*process, "\n"), "ready\n");
  run_task(io_, process->stop());
  EXPECT_EQ(process->end(), (ProcessEnd{.exit_code = 0, .signal = SIGKILL}));
  EXPECT_TRUE(watch.are_gone());
}

TEST_F(SubprocessTest, AllProgramsCanBeKilledWithAllTheyStarted) {
  Watch watch;
  std::string script =
      cat("trap '' TERM; exec 3>", watch.path(), "; sleep 1000 & echo ready; wait");
  auto one = shell(script);
  auto other = shell(script);
  EXPECT_EQ(wait_for(*one, "\n"), "ready\n");
  EXPECT_EQ(wait_for(*other, "\n"), "ready\n");
  Subprocess::kill_all();
  EXPECT_TRUE(watch.are_gone());
}

TEST_F(SubprocessTest, DestroyingOneThatRunsEndsItAndAllItStarted) {
  Watch watch;
  auto process = shell(
      cat("trap '' TERM; exec 3>", watch.path(), "; (sleep 1000 & sleep 1000) & echo ready; wait"),
      {.grace = milliseconds(20)});
  EXPECT_EQ(wait_for(*process, "\n"), "ready\n");
  process.reset();
  io_.restart();
  io_.run();  // comes to its end, because nothing is left to wait for
  EXPECT_TRUE(watch.are_gone());
}

TEST(SubprocessLoop, TheEndOfTheLoopKillsWhatStillRuns) {
  Watch watch;
  {
    asio::io_context io(1);
    auto process = Subprocess::spawn(
        io.get_executor(),
        {.command = {"/bin/sh", "-c",
                     cat("trap '' TERM; exec 3>", watch.path(), "; echo ready; sleep 1000")},
         .environment = {"PATH=/usr/bin:/bin"},
         .grace = std::chrono::hours(1)});
    EXPECT_EQ(run_task(io, process.value()->next(far_away())).output, "ready\n");
    process.value().reset();
  }
  EXPECT_TRUE(watch.are_gone());
}

Task<void> read_to_the_end(std::unique_ptr<Subprocess> process, int* events) {
  for (;;) {
    ProcessEvent event = co_await process->next(far_away());
    ++*events;
    if (event.kind != Kind::output) co_return;
  }
}

TEST_F(SubprocessTest, CancellingTheReaderEndsTheProgram) {
  Watch watch;
  int events = 0;
  TaskGroup group(io_.get_executor(), [](const char*, const std::string& what) { FAIL() << what; });
  group.spawn("read",
              read_to_the_end(shell(cat("exec 3>", watch.path(), "; echo; sleep 1000")), &events));
  run_until(io_, [&] { return events == 1; });
  run_task(io_, group.stop(CancelReason::user_stop));
  EXPECT_EQ(events, 1);
  io_.restart();
  io_.run();
  EXPECT_TRUE(watch.are_gone());
}

}  // namespace
}  // namespace errand::process::subprocess_test
