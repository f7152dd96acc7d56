#include "base/log.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/text.hpp"
#include "support/manual_clock.hpp"

namespace errand::log_test {
namespace {

// A log whose lines can be read back, at 2026-11-15T12:00:00.000Z.
class PipeLog final {
 public:
  explicit PipeLog(LogFormat format, LogLevel least = LogLevel::info)
      : ends_(open_pipe()), log_(clock_, ends_[1], format, least) {}
  ~PipeLog() {
    ::close(ends_[0]);
    if (ends_[1] >= 0) ::close(ends_[1]);
  }
  PipeLog(const PipeLog&) = delete;
  PipeLog& operator=(const PipeLog&) = delete;

  Log& operator*() { return log_; }

  // Everything that was written; ends the log.
  std::string text() {
    ::close(ends_[1]);
    ends_[1] = -1;
    std::string out;
    char buffer[4096];
    for (ssize_t count = 0; (count = ::read(ends_[0], buffer, sizeof buffer)) > 0;) {
      out.append(buffer, static_cast<std::size_t>(count));
    }
    return out;
  }

 private:
  static std::array<int, 2> open_pipe() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::pipe(ends.data()), 0);
    return ends;
  }

  ManualClock clock_{1'794'744'000'000};
  std::array<int, 2> ends_;
  Log log_;
};

// One line of each format with the same value in it, without what comes before the message.
std::string value_as_text(std::string value) {
  PipeLog log(LogFormat::text);
  (*log).info("m", {{"v", std::move(value)}});
  return log.text().substr(30);
}
std::string value_as_json(std::string value) {
  PipeLog log(LogFormat::json);
  (*log).info("m", {{"v", std::move(value)}});
  return log.text().substr(58);
}

TEST(Log, ATextLineHasTimeLevelMessageAndFields) {
  PipeLog log(LogFormat::text);
  (*log).info("listening", {{"host", "127.0.0.1"}, {"port", "8080"}});
  (*log).warning("slow disk");
  (*log).error("a task failed", {{"task", "run"}});
  EXPECT_EQ(log.text(),
            "2026-11-15T12:00:00.000Z info listening host=\"127.0.0.1\" port=\"8080\"\n"
            "2026-11-15T12:00:00.000Z warning slow disk\n"
            "2026-11-15T12:00:00.000Z error a task failed task=\"run\"\n");
}

TEST(Log, LinesBelowTheLeastLevelAreLeftOut) {
  PipeLog log(LogFormat::text, LogLevel::warning);
  (*log).info("listening");
  (*log).warning("slow disk");
  EXPECT_EQ(log.text(), "2026-11-15T12:00:00.000Z warning slow disk\n");
}

TEST(Log, AJsonLineIsOneObject) {
  PipeLog log(LogFormat::json);
  (*log).info("listening", {{"host", "127.0.0.1"}, {"port", "8080"}});
  (*log).warning("slow disk");
  EXPECT_EQ(log.text(),
            R"({"at":"2026-11-15T12:00:00.000Z","level":"info","message":"listening",)"
            R"("host":"127.0.0.1","port":"8080"})"
            "\n"
            R"({"at":"2026-11-15T12:00:00.000Z","level":"warning","message":"slow disk"})"
            "\n");
}

TEST(Log, AValueCannotForgeALine) {
  EXPECT_EQ(value_as_text("a\nb\r\nc"), "m v=\"a\\u000ab\\u000d\\u000ac\"\n");
  EXPECT_EQ(value_as_json("a\nb\r\nc"), "\"m\",\"v\":\"a\\u000ab\\u000d\\u000ac\"}\n");
}

TEST(Log, AValueCannotEndItsQuotes) {
  EXPECT_EQ(value_as_text("\" x=\"1\\"), "m v=\"\\\" x=\\\"1\\\\\"\n");
  EXPECT_EQ(value_as_json("\" x=\"1\\"), "\"m\",\"v\":\"\\\" x=\\\"1\\\\\"}\n");
}

TEST(Log, AMessageIsEscapedLikeAValue) {
  PipeLog text(LogFormat::text);
  (*text).error("a\n\"b\"");
  EXPECT_EQ(text.text(), "2026-11-15T12:00:00.000Z error a\\u000a\\\"b\\\"\n");
  PipeLog json(LogFormat::json);
  (*json).error("a\n\"b\"");
  EXPECT_EQ(json.text(),
            "{\"at\":\"2026-11-15T12:00:00.000Z\",\"level\":\"error\","
            "\"message\":\"a\\u000a\\\"b\\\"\"}\n");
}

TEST(Log, AValueCannotMoveTheCursor) {
  EXPECT_EQ(value_as_text("\x1B[2J\x7F"), "m v=\"\\u001b[2J\\u007f\"\n");
  // U+009B does to a terminal what ESC [ does.
  EXPECT_EQ(value_as_text("\xC2\x9B"
                          "2J"),
            "m v=\"\\u009b2J\"\n");
  EXPECT_EQ(value_as_json("\xC2\x80\xC2\x9F\xC2\xA0"), "\"m\",\"v\":\"\\u0080\\u009f\xC2\xA0\"}\n");
}

TEST(Log, EveryControlCharacterIsEscaped) {
  std::string controls;
  for (int c = 0; c < 0x20; ++c) controls.push_back(static_cast<char>(c));
  std::string line = value_as_json(controls);
  for (char c : line.substr(0, line.size() - 1)) EXPECT_GE(c, 0x20);
}

TEST(Log, WellFormedUtf8PassesAndOtherBytesDoNot) {
  EXPECT_EQ(value_as_text("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
            "m v=\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"\n");
  EXPECT_EQ(value_as_json("a\xFF\x9B"
                          "b\xC3"),
            "\"m\",\"v\":\"a\\ufffd\\ufffdb\\ufffd\"}\n");
}

TEST(Log, LinesOfManyThreadsStayWhole) {
  PipeLog log(LogFormat::text);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&log] {
      for (int line = 0; line < 50; ++line) (*log).info("m", {{"v", std::string(100, 'x')}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    append(expected, "2026-11-15T12:00:00.000Z info m v=\"", std::string(100, 'x'), "\"\n");
  }
  EXPECT_EQ(log.text(), expected);
}

TEST(Log, ALogThatCannotBeWrittenStopsNobody) {
  ManualClock clock;
  Log log(clock, -1, LogFormat::text);
  log.error("nobody reads this");
}

}  // namespace
}  // namespace errand::log_test
