#include "cli/show/log_lines.hpp"
#include "base/whole_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <string>

#include "cli/show/plain_printer.hpp"

namespace errand::cli::log_lines_test {
namespace {

void write_log(const LogLines& lines, std::string_view text) {
  ASSERT_TRUE(write_fully(lines.fd(), text));
}

TEST(LogLines, AreShownWhole) {
  asio::io_context io;
  PlainPrinter printer;
  Console console;
  LogLines lines({.io = io, .printer = printer, .console = console});
  testing::internal::CaptureStderr();
  int times = 0;
  lines.start([&] {
    if (++times == 1) write_log(lines, "ond\n");
    if (times == 2) lines.close();
  });
  write_log(lines, "first\nsec");
  io.run();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "first\nsecond\n");
}

TEST(LogLines, ThoseThatNobodyHasShownAreWrittenAtTheEnd) {
  asio::io_context io;
  PlainPrinter printer;
  Console console;
  testing::internal::CaptureStderr();
  {
    LogLines lines({.io = io, .printer = printer, .console = console});
    write_log(lines, "first\n");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "first\n");
}

TEST(LogLines, NobodyWaitsForTheReader) {
  asio::io_context io;
  PlainPrinter printer;
  Console console;
  testing::internal::CaptureStderr();
  {
    LogLines lines({.io = io, .printer = printer, .console = console});
    std::string line(1000, 'x');
    line.back() = '\n';
    for (int i = 0; i < 1000; ++i) {
      [[maybe_unused]] auto written = ::write(lines.fd(), line.data(), line.size());
    }
  }
  EXPECT_LT(testing::internal::GetCapturedStderr().size(), 1'000'000U);
}

}  // namespace
}  // namespace errand::cli::log_lines_test
