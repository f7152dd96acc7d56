#include "tool/files/files_tool.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "tool/files/line_window.hpp"

namespace errand::files_tool_test {

namespace {

namespace fs = std::filesystem;

struct Answer {
  bool ok = true;
  std::string text;

  friend bool operator==(const Answer&, const Answer&) = default;
};

void PrintTo(const Answer& answer, std::ostream* out) {
  *out << (answer.ok ? "result: " : "error: ") << answer.text;
}

Answer result(std::string text) {
  return {.ok = true, .text = std::move(text)};
}
Answer error(std::string text) {
  return {.ok = false, .text = std::move(text)};
}

// A temporary folder with `shared`, which the tool sees, and `secret.txt` beside it.
class FilesToolTest : public testing::Test {
 protected:
  FilesToolTest() {
    std::string pattern = (fs::temp_directory_path() / "errand-files-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    fs::create_directory(root_ / "shared");
    write_outside("secret.txt", "outside\n");
  }
  ~FilesToolTest() override { fs::remove_all(root_); }

  void write_outside(const std::string& name, std::string_view text) {
    std::ofstream(root_ / name, std::ios::binary) << text;
  }
  void write(const std::string& path, std::string_view text) {
    fs::create_directories((shared() / path).parent_path());
    write_outside(cat("shared/", path), text);
  }
  fs::path shared() const { return root_ / "shared"; }

  Answer call(std::string_view name, std::string_view args) const {
    auto directory = SharedDirectory::open(shared(), shared() / ".errand/credentials");
    ToolAnswer answer = FilesTool(std::move(*directory)).call(name, *json::parse(args));
    return {.ok = answer.ok, .text = std::move(answer.text)};
  }
  Answer read(std::string_view path) const {
    return call("read_file", cat(R"({"path":")", path, R"("})"));
  }

  fs::path root_;
};

TEST_F(FilesToolTest, ReadsAFile) {
  write("src/a.txt", "one\ntwo\n");
  EXPECT_EQ(read("src/a.txt"), result("one\ntwo\n"));
  EXPECT_EQ(read("./src/../src/a.txt"), result("one\ntwo\n"));
}

TEST_F(FilesToolTest, ReadsTheLinesAskedFor) {
  write("a.txt", "one\ntwo\nthree\nfour");
  EXPECT_EQ(call("read_file", R"({"path":"a.txt","offset":2,"limit":2})"),
            result("two\nthree\n[the file goes on; read on with offset 4]\n"));
  EXPECT_EQ(call("read_file", R"({"path":"a.txt","offset":3})"), result("three\nfour"));
  EXPECT_EQ(call("read_file", R"({"path":"a.txt","offset":5})"),
            result("(the file has only 4 lines)\n"));
}

TEST_F(FilesToolTest, SaysThatAFileIsEmpty) {
  write("a.txt", "");
  EXPECT_EQ(read("a.txt"), result("(the file is empty)\n"));
}

TEST_F(FilesToolTest, CutsAHugeFileAtALineAndSaysHowToReadOn) {
  std::string text;
  while (text.size() < 3 * FilesTool::kResultBytesMax) text += "123456789\n";
  write("huge.txt", text);
  EXPECT_EQ(read("huge.txt"), result(cat(text.substr(0, FilesTool::kResultBytesMax),
                                         "[the file goes on; read on with offset 10001]\n")));
  EXPECT_EQ(call("read_file", R"({"path":"huge.txt","offset":30000})"), result("123456789\n"));
}

TEST_F(FilesToolTest, CutsALineThatNeverFits) {
  std::string line(FilesTool::kResultBytesMax + 5, 'x');
  write("long.txt", cat(line, "\nnext\n"));
  EXPECT_EQ(read("long.txt"),
            result(cat(line.substr(0, FilesTool::kResultBytesMax),
                       "\n[line 1 is cut here because it is too long; read on with offset 2]\n")));
  EXPECT_EQ(call("read_file", R"({"path":"long.txt","offset":2})"), result("next\n"));
}

TEST_F(FilesToolTest, RefusesBinaryFiles) {
  write("a.bin", std::string_view("ab\0cd", 5));
  write("latin1.txt",
        "Gr\xFC\xDF"
        "e\n");
  EXPECT_EQ(read("a.bin"),
            error("\"a.bin\" is a binary file of 5 bytes; only UTF-8 text can be read"));
  EXPECT_EQ(read("latin1.txt"),
            error("\"latin1.txt\" is a binary file of 6 bytes; only UTF-8 text can be read"));
}

TEST_F(FilesToolTest, SaysWhatIsMissingOrOfTheWrongKind) {
  fs::create_directory(shared() / "src");
  write("a.txt", "one\n");
  EXPECT_EQ(read("b.txt"), error("there is no \"b.txt\""));
  EXPECT_EQ(read("src"), error("\"src\" is a directory"));
  EXPECT_EQ(read("a.txt/b"), error("\"a.txt/b\" leads through something that is not a directory"));
  EXPECT_EQ(call("list_files", R"({"path":"a.txt"})"), error("\"a.txt\" is not a directory"));
  EXPECT_EQ(call("read_file", "{}"), error("\"path\" is missing: expected a string (at /path)"));
  EXPECT_EQ(call("write_file", "{}"), error("there is no tool \"write_file\" here"));
}

TEST_F(FilesToolTest, RefusesPathsThatLeaveTheDirectory) {
  std::string outside = " is outside the shared directory: use paths relative to it";
  EXPECT_EQ(read("../secret.txt"), error(cat("\"../secret.txt\"", outside)));
  std::string absolute = (root_ / "secret.txt").string();
  EXPECT_EQ(read(absolute), error(cat("\"", absolute, "\"", outside)));
  std::string inside = (shared() / "a.txt").string();
  EXPECT_EQ(read(inside), error(cat("\"", inside, "\"", outside)));
  EXPECT_EQ(call("list_files", R"({"path":".."})"), error(cat("\"..\"", outside)));
  EXPECT_EQ(call("search_files", R"({"query":"o","path":"../"})"), error(cat("\"../\"", outside)));
}

TEST_F(FilesToolTest, RefusesLinksThatLeaveTheDirectory) {
  std::string outside = " is outside the shared directory: use paths relative to it";
  fs::create_symlink("../secret.txt", shared() / "relative");
  fs::create_symlink(root_ / "secret.txt", shared() / "absolute");
  fs::create_directory_symlink("..", shared() / "up");
  EXPECT_EQ(read("relative"), error(cat("\"relative\"", outside)));
  EXPECT_EQ(read("absolute"), error(cat("\"absolute\"", outside)));
  EXPECT_EQ(read("up/secret.txt"), error(cat("\"up/secret.txt\"", outside)));
  EXPECT_EQ(call("list_files", R"({"path":"up"})"), error(cat("\"up\"", outside)));
  EXPECT_EQ(call("search_files", R"({"query":"outside"})"), result("(no line contains it)\n"));
}

TEST_F(FilesToolTest, FollowsLinksThatStayInside) {
  write("src/a.txt", "one\n");
  fs::create_directory_symlink("src", shared() / "link");
  EXPECT_EQ(read("link/a.txt"), result("one\n"));
}

TEST_F(FilesToolTest, OpensNoFifo) {
  ASSERT_EQ(::mkfifo((shared() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(read("pipe"), error("\"pipe\" is not a file but a pipe, a socket or a device"));
  EXPECT_EQ(call("search_files", R"({"query":"x"})"), result("(no line contains it)\n"));
}

TEST_F(FilesToolTest, WithholdsTheKeyUnderAnyName) {
  write(".errand/credentials", "mantyx_0123\n");
  fs::create_hard_link(shared() / ".errand/credentials", shared() / "other");
  EXPECT_EQ(read("other"), error("\"other\" is not shared: it holds a key"));
  EXPECT_EQ(call("search_files", R"({"query":"mantyx_"})"),
            result("(no line contains it)\n"
                   "[1 file was skipped: binary, too large or not readable]\n"));
}

TEST_F(FilesToolTest, WithholdsEveryDataDirectory) {
  write("src/.errand/errand.db", "what others asked\n");
  fs::create_symlink("src/.errand/errand.db", shared() / "link");
  fs::create_directory_symlink("src/.errand", shared() / "data");
  for (std::string path : {"src/.errand/errand.db", "link", "data/errand.db"}) {
    EXPECT_EQ(read(path),
              error(cat("\"", path, "\" is not shared: it belongs to the data of Errand")));
  }
  EXPECT_EQ(call("list_files", R"({"path":"src/.errand"})"),
            error("\"src/.errand\" is not shared: it belongs to the data of Errand"));
  EXPECT_EQ(call("list_files", R"({"path":"src"})"), result("(the directory is empty)\n"));
  auto opened = SharedDirectory::open(shared() / "data", {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), ErrorCode::invalid_argument);
}

TEST_F(FilesToolTest, ListsNamesKindsAndSizes) {
  write("b.txt", "1");
  write("a.txt", "12345");
  write("src/c.txt", "");
  fs::create_symlink("a.txt", shared() / "link");
  ASSERT_EQ(::mkfifo((shared() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(call("list_files", "{}"),
            result("a.txt  5 bytes\nb.txt  1 byte\nlink  symbolic link\npipe  not a file\nsrc/\n"));
  EXPECT_EQ(call("list_files", R"({"path":"src"})"), result("c.txt  0 bytes\n"));
}

TEST_F(FilesToolTest, ListsAnEmptyDirectoryAndNamesThatWouldForgeLines) {
  EXPECT_EQ(call("list_files", "{}"), result("(the directory is empty)\n"));
  write("a\nb", "1");
  EXPECT_EQ(call("list_files", "{}"), result("a b  1 byte\n"));
}

TEST_F(FilesToolTest, ListsNoMoreThanItsLimit) {
  for (std::size_t i = 0; i < FilesTool::kListedMax + 3; ++i) write(cat("f", 10'000 + i), "");
  std::string text = call("list_files", "{}").text;
  EXPECT_TRUE(text.ends_with("f10999  0 bytes\n[3 more names are not shown]\n"));
}

TEST_F(FilesToolTest, FindsLinesInAllFilesBelowAPath) {
  write("a.txt", "needle one\nhay\ntwo needles, needle\n");
  write("src/deep/b.txt", "hay\nneedle");
  write("image.bin", std::string_view("needle\0", 7));
  write(".git/config", "needle\n");
  std::string skipped = "[1 file was skipped: binary, too large or not readable]\n";
  EXPECT_EQ(call("search_files", R"({"query":"needle"})"),
            result(cat("a.txt:1: needle one\na.txt:3: two needles, needle\n"
                       "src/deep/b.txt:2: needle\n",
                       skipped)));
  EXPECT_EQ(call("search_files", R"({"query":"needle","path":"src/"})"),
            result("src/deep/b.txt:2: needle\n"));
  EXPECT_EQ(call("search_files", R"({"query":"one","path":"a.txt"})"),
            result("a.txt:1: needle one\n"));
}

TEST_F(FilesToolTest, ShowsTheMatchOfALongLine) {
  write("a.txt", cat(std::string(5000, 'x'), "needle", std::string(5000, 'y'), "\n"));
  EXPECT_EQ(
      call("search_files", R"({"query":"needle"})"),
      result(cat("a.txt:1: ...", std::string(100, 'x'), "needle", std::string(194, 'y'), "...\n")));
}

TEST_F(FilesToolTest, StopsSearchingAtItsLimits) {
  std::string text;
  for (std::size_t i = 0; i <= FilesTool::kMatchesMax; ++i) text += "needle\n";
  write("a.txt", text);
  write("large.txt", std::string(FilesTool::kSearchedFileBytesMax + 1, 'x'));
  Answer answer = call("search_files", R"({"query":"needle"})");
  EXPECT_TRUE(answer.text.ends_with(
      "a.txt:200: needle\n[stopped: there are more matches; choose a path or a longer query]\n"));
  EXPECT_EQ(call("search_files", R"({"query":"x","path":"large.txt"})"),
            result("(no line contains it)\n"
                   "[1 file was skipped: binary, too large or not readable]\n"));
  EXPECT_EQ(call("search_files", R"({"query":""})"),
            error("the query must be one line that is not empty (at /query)"));
}

TEST(SharedDirectory, SaysThatItIsNotThere) {
  auto directory = SharedDirectory::open("/nonexistent", {});
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().message(),
            "cannot read the directory \"/nonexistent\": No such file or directory");
}

// However the bytes are cut into pieces, the lines are the same.
TEST(LineWindow, TakesPiecesOfAnySize) {
  std::string_view text = "one\ntwo\nthree\nfour\n";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    LineWindow window(2, 2, 100);
    for (std::size_t i = 0; i < text.size() && window.take(text.substr(i, size)); i += size) {
    }
    EXPECT_EQ(window.finish(), "two\nthree\n[the file goes on; read on with offset 4]\n");
  }
}

TEST(LineWindow, LeavesALineThatDoesNotFitForTheNextCall) {
  LineWindow window(1, 10, 6);
  EXPECT_FALSE(window.take("one\ntwo\n"));
  EXPECT_EQ(window.finish(), "one\n[the file goes on; read on with offset 2]\n");
}

// ---- Writing ------------------------------------------------------------------------------------

class WriteFilesTest : public FilesToolTest {
 protected:
  Answer change(std::string_view name, std::string_view args) const {
    auto directory = SharedDirectory::open(shared(), shared() / "key.txt");
    ToolAnswer answer =
        FilesTool(std::move(*directory), FileAccess::write).call(name, *json::parse(args));
    return {.ok = answer.ok, .text = std::move(answer.text)};
  }
  Answer put(std::string_view path, std::string_view content) const {
    return change("write_file", cat(R"({"path":")", path, R"(","content":")", content, R"("})"));
  }
  std::string found(const fs::path& file) const {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(WriteFilesTest, MakesAFileAndItsFolders) {
  EXPECT_EQ(put("a/b/c.txt", "new"), result("Made a/b/c.txt with 3 bytes.\n"));
  EXPECT_EQ(found(shared() / "a/b/c.txt"), "new");
  EXPECT_EQ(put("a/b/c.txt", "newer"), result("Replaced a/b/c.txt with 5 bytes.\n"));
  EXPECT_EQ(found(shared() / "a/b/c.txt"), "newer");
  EXPECT_EQ(std::distance(fs::directory_iterator(shared() / "a/b"), {}), 1);
}

TEST_F(WriteFilesTest, AReplacedFileKeepsItsMode) {
  write("run.sh", "old");
  fs::permissions(shared() / "run.sh", fs::perms(0750));
  EXPECT_TRUE(put("run.sh", "new").ok);
  EXPECT_EQ(fs::status(shared() / "run.sh").permissions(), fs::perms(0750));
}

TEST_F(WriteFilesTest, NothingOutsideIsWritten) {
  fs::create_symlink(root_, shared() / "out");
  fs::create_symlink(root_ / "secret.txt", shared() / "link");
  write("key.txt", "key");
  for (const char* path : {"../secret.txt", "/etc/errand-test", "out/secret.txt", "out/new.txt",
                           "link", ".errand/x", "a/.errand/x", ".errand", "key.txt", "..", "."}) {
    EXPECT_FALSE(put(path, "changed").ok) << path;
  }
  EXPECT_EQ(found(root_ / "secret.txt"), "outside\n");
  EXPECT_EQ(found(shared() / "key.txt"), "key");
  EXPECT_FALSE(fs::exists(root_ / "new.txt"));
  EXPECT_FALSE(fs::exists(shared() / ".errand"));
  EXPECT_FALSE(fs::exists(shared() / "a/.errand"));
}

TEST_F(WriteFilesTest, AHardLinkKeepsWhatItHad) {
  fs::create_hard_link(root_ / "secret.txt", shared() / "same");
  EXPECT_TRUE(put("same", "changed").ok);
  EXPECT_EQ(found(root_ / "secret.txt"), "outside\n");
}

TEST_F(WriteFilesTest, EditsATextThatIsThereOnce) {
  write("a.txt", "one two one\n");
  EXPECT_EQ(change("edit_file", R"({"path":"a.txt","old_text":"two","new_text":"2"})"),
            result("Replaced 1 place in a.txt.\n"));
  EXPECT_EQ(found(shared() / "a.txt"), "one 2 one\n");
  EXPECT_EQ(change("edit_file", R"({"path":"a.txt","old_text":"one","new_text":"1"})"),
            error("the text to replace occurs 2 times: add lines around it, or set replace_all"));
  EXPECT_EQ(
      change("edit_file", R"({"path":"a.txt","old_text":"one","new_text":"1","replace_all":true})"),
      result("Replaced 2 places in a.txt.\n"));
  EXPECT_EQ(found(shared() / "a.txt"), "1 2 1\n");
  EXPECT_FALSE(change("edit_file", R"({"path":"a.txt","old_text":"x","new_text":"y"})").ok);
  EXPECT_FALSE(change("edit_file", R"({"path":"a.txt","old_text":"","new_text":"y"})").ok);
}

TEST_F(WriteFilesTest, AReaderMayNotWrite) {
  EXPECT_EQ(call("write_file", R"({"path":"a.txt","content":"x"})"),
            error("there is no tool \"write_file\" here"));
  EXPECT_EQ(FilesTool::declarations().size(), 3U);
  EXPECT_EQ(FilesTool::declarations(FileAccess::write).size(), 5U);
}

}  // namespace
}  // namespace errand::files_tool_test
