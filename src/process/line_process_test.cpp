#include "process/line_process.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <vector>

#include "support/run_task.hpp"

namespace errand::process::line_process_test {
namespace {

std::vector<Line> split(std::vector<std::string> pieces, std::size_t line_bytes_max) {
  LineSplitter splitter(line_bytes_max);
  for (const std::string& piece : pieces) splitter.feed(piece);
  std::vector<Line> lines;
  while (auto line = splitter.take()) lines.push_back(*line);
  return lines;
}

Line whole(std::string text) {
  std::size_t bytes = text.size();
  return {.text = std::move(text), .bytes = bytes};
}

TEST(LineSplitter, FindsLinesInPiecesOfAnySize) {
  EXPECT_EQ(split({"o", "ne\nt", "wo\r", "\n\nrest"}, 100),
            (std::vector<Line>{whole("one"), whole("two"), whole("")}));
}

TEST(LineSplitter, KeepsBothEndsOfALineThatIsTooLong) {
  std::string first(LineSplitter::kEndBytes, 'a');
  std::string last(LineSplitter::kEndBytes, 'z');
  Line cut{.text = first, .tail = last, .bytes = 3 * LineSplitter::kEndBytes, .is_cut = true};
  std::string middle(LineSplitter::kEndBytes, 'm');
  EXPECT_EQ(split({first + middle, last + "\nnext\n"}, 10), (std::vector{cut, whole("next")}));
  EXPECT_EQ(split({first + middle + last + "\nnext\n"}, 10), (std::vector{cut, whole("next")}));
}

class LineProcessTest : public testing::Test {
 protected:
  std::unique_ptr<LineProcess> shell(std::string script) {
    return LineProcess::spawn(io_.get_executor(),
                              {.command = {"sh", "-c", std::move(script)},
                               .environment = {"PATH=/usr/bin:/bin"},
                               .patience = std::chrono::hours(1)},
                              1000)
        .value();
  }
  std::string next(LineProcess& process) {
    auto line = run_task(io_, process.receive());
    return line ? line->text : "(end)";
  }

  asio::io_context io_{1};
};

TEST_F(LineProcessTest, LinesGoInAndOutUntilTheProgramEnds) {
  auto process = shell("while read line; do echo \"got $line\"; echo log >&2; done; exit 3");
  ASSERT_TRUE(process->send("one"));
  ASSERT_TRUE(process->send("two"));
  EXPECT_EQ(next(*process), "got one");
  EXPECT_EQ(next(*process), "got two");
  run_task(io_, process->stop());
  EXPECT_EQ(process->end().exit_code, 3);
  EXPECT_EQ(process->errors(), "log\nlog\n");
}

TEST_F(LineProcessTest, AProgramThatEndsIsNoticed) {
  auto process = shell("echo one; printf unfinished; echo why >&2; exit 4");
  EXPECT_EQ(next(*process), "one");
  EXPECT_EQ(next(*process), "(end)");
  EXPECT_EQ(process->end().exit_code, 4);
  EXPECT_EQ(process->errors(), "why\n");
}

}  // namespace
}  // namespace errand::process::line_process_test
