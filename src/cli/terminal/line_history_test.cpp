#include "cli/terminal/line_history.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "base/text.hpp"

namespace errand::cli::line_history_test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

class LineHistoryTest : public testing::Test {
 protected:
  LineHistoryTest() {
    std::string pattern = (fs::temp_directory_path() / "errand-history-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    file_ = folder_ / "state" / "history";
  }
  ~LineHistoryTest() override { fs::remove_all(folder_); }

  Lines load() const {
    auto lines = LineHistory(file_).load();
    return lines ? *lines : Lines{lines.error().message()};
  }
  std::string text() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& text) const {
    fs::create_directories(file_.parent_path());
    std::ofstream(file_, std::ios::binary) << text;
  }

  fs::path folder_;
  fs::path file_;
};

TEST_F(LineHistoryTest, LinesComeBackInOrder) {
  EXPECT_EQ(load(), Lines());
  LineHistory(file_).add("one");
  LineHistory(file_).add("two");
  EXPECT_EQ(load(), (Lines{"one", "two"}));
  struct stat about{};
  ASSERT_EQ(::stat(file_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST_F(LineHistoryTest, TheLastLinesAreKeptOfMany) {
  std::string all;
  for (int i = 0; i < 3000; ++i) append(all, "line ", i, "\n");
  write(all);
  Lines lines = load();
  ASSERT_EQ(lines.size(), LineHistory::kLinesMax);
  EXPECT_EQ(lines.front(), "line 2000");
  EXPECT_EQ(lines.back(), "line 2999");
  EXPECT_TRUE(text().starts_with("line 2000\n"));
}

TEST_F(LineHistoryTest, ALineThatIsCutIsLeftOut) {
  write(std::string(LineHistory::kBytesMax, 'x') + "\nlast\n");
  EXPECT_EQ(load(), (Lines{"last"}));
  EXPECT_EQ(text(), "last\n");
  write(std::string(LineHistory::kBytesMax * 2, 'x'));
  EXPECT_EQ(load(), Lines());
}

TEST_F(LineHistoryTest, APlaceThatCannotBeUsedIsNamed) {
  std::ofstream(folder_ / "state") << "a file";
  Lines said = load();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(
      said[0].starts_with(cat("the lines you enter cannot be kept in ", file_.string(), ": ")))
      << said[0];
}

TEST(ChatHistoryFile, IsWhereTheUserKeepsSuchFiles) {
  sdk::Environment both = [](const std::string& name) -> std::optional<std::string> {
    return name == "HOME" ? "/home/me" : "/state";
  };
  sdk::Environment home = [](const std::string& name) -> std::optional<std::string> {
    if (name == "HOME") return "/home/me";
    return {};
  };
  sdk::Environment none = [](const std::string&) -> std::optional<std::string> { return {}; };
  EXPECT_EQ(chat_history_file(both), "/state/errand/chat_history");
  EXPECT_EQ(chat_history_file(home), "/home/me/.local/state/errand/chat_history");
  EXPECT_EQ(chat_history_file(none), std::nullopt);
}

}  // namespace
}  // namespace errand::cli::line_history_test
