#include "tool/files/memory_files.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"
#include "tool/files/files_tool.hpp"

namespace errand::memory_files_test {
namespace {

class MemoryFilesTest : public testing::Test {
 protected:
  std::string call(std::string_view name, std::string_view args) const {
    return FilesTool(files_, FileAccess::write).call(name, *json::parse(args)).text;
  }

  std::shared_ptr<MemoryFiles> files_ = std::make_shared<MemoryFiles>();
};

TEST_F(MemoryFilesTest, TheToolsWorkOnThem) {
  ASSERT_TRUE(files_->add({{"docs/plan.md", "bake bread\n"}, {"docs/b/c.txt", "c"}}));
  EXPECT_EQ(call("read_file", R"({"path":"./docs/../docs/plan.md"})"), "bake bread\n");
  EXPECT_EQ(call("list_files", "{}"), "docs/\n");
  EXPECT_EQ(call("list_files", R"({"path":"docs"})"), "b/\nplan.md  11 bytes\n");
  EXPECT_EQ(call("search_files", R"({"query":"bread"})"), "docs/plan.md:1: bake bread\n");
  EXPECT_EQ(call("edit_file", R"({"path":"docs/plan.md","old_text":"bread","new_text":"a cake"})"),
            "Replaced 1 place in docs/plan.md.\n");
  EXPECT_EQ(call("write_file", R"({"path":"new.txt","content":"n"})"),
            "Made new.txt with 1 bytes.\n");
  EXPECT_EQ(files_->all(),
            (std::map<std::string, std::string>{
                {"docs/b/c.txt", "c"}, {"docs/plan.md", "bake a cake\n"}, {"new.txt", "n"}}));
}

TEST_F(MemoryFilesTest, WrongPathsAreRefused) {
  ASSERT_TRUE(files_->add({{"a/b", "x"}}));
  for (const char* path : {"../x", "/x", "a/../../x", "a", "a/b/c", ""}) {
    EXPECT_FALSE(files_->replace(path, "y")) << path;
  }
  EXPECT_EQ(files_->open_file("a/c").error().message(), "there is no \"a/c\"");
  EXPECT_EQ(files_->open_file("a").error().message(), "\"a\" is a directory");
}

TEST_F(MemoryFilesTest, TheyAreBounded) {
  std::string half(MemoryFiles::kBytesMax / 2, 'x');
  EXPECT_TRUE(files_->replace("a", half));
  EXPECT_TRUE(files_->replace("b", half));
  EXPECT_EQ(files_->replace("c", "x").error().code(), ErrorCode::too_large);
  EXPECT_TRUE(files_->replace("b", "x"));
  EXPECT_TRUE(files_->replace("c", "x"));
}

}  // namespace
}  // namespace errand::memory_files_test
