#include "run/content.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace errand::content_test {
namespace {

FilePart file(std::string name, std::string type, std::string bytes) {
  return {.filename = std::move(name),
          .mime_type = std::move(type),
          .bytes = std::make_shared<const std::string>(std::move(bytes))};
}

std::vector<std::string> shown(const FlatContent& flat) {
  std::vector<std::string> out{flat.text};
  for (const FilePart& one : flat.files) {
    out.push_back(cat(one.filename, " ", one.mime_type, " ", one.size));
  }
  return out;
}

using Shown = std::vector<std::string>;

TEST(Content, FlattensToATextAndFiles) {
  std::vector<Content> content;
  content.emplace_back(TextContent{"one"});
  content.emplace_back(JsonContent{json::Object{{"b", 2}}});
  content.emplace_back(FileContent{FileContent::Kind::image, file("", "image/png", "abc")});
  content.emplace_back(LinkContent{.uri = "https://a.b/c", .name = "C", .description = "a page"});
  content.emplace_back(ResourceContent{.uri = "file:///x.txt", .text = "two"});
  content.emplace_back(ResourceContent{.uri = "file:///d/y.bin", .file = file("", "", "bytes")});
  EXPECT_EQ(shown(flatten(std::move(content))),
            (Shown{"one\n{\"b\":2}\nC: https://a.b/c (a page)\ntwo", "image-1.png image/png 3",
                   "y.bin application/octet-stream 5"}));
}

TEST(Content, NamesOfFilesLeadNowhere) {
  for (std::string_view name : {"../../etc/passwd", "C:\\passwd", "/passwd"}) {
    std::vector<Content> content;
    content.emplace_back(FileContent{.file = file(std::string(name), "text/plain", "x")});
    EXPECT_EQ(flatten(std::move(content)).files.front().filename, "passwd");
  }
  std::vector<Content> content;
  content.emplace_back(FileContent{.file = file("..", "text/x\ny", "x")});
  EXPECT_EQ(flatten(std::move(content)).files.front().filename, "file-1");
}

TEST(Content, LongTextLosesItsMiddle) {
  std::string head = "begin ";
  std::string tail = " end";
  std::vector<Content> content;
  std::string middle;
  while (middle.size() <= kResultBytesMax) middle += "äöü";
  content.emplace_back(TextContent{head + middle + tail});
  std::string text = flatten(std::move(content)).text;
  EXPECT_LE(text.size(), kResultBytesMax);
  EXPECT_TRUE(text.starts_with("begin ä"));
  EXPECT_TRUE(text.ends_with("ü end"));
  EXPECT_NE(text.find("bytes are left out]"), std::string::npos);
  EXPECT_EQ(utf8_prefix(text, text.size()).size(), text.size());
}

TEST(Content, FilesPastTheLimitsAreLeftOutAndNamed) {
  std::vector<Content> content;
  content.emplace_back(
      FileContent{.file = file("big", "text/plain", std::string(kFileBytesMax + 1, 'x'))});
  for (std::size_t i = 0; i <= kFilesMax; ++i) {
    content.emplace_back(FileContent{.file = file(cat("f", i), "text/plain", "x")});
  }
  FlatContent flat = flatten(std::move(content));
  EXPECT_EQ(flat.files.size(), kFilesMax);
  EXPECT_NE(flat.text.find("[big (5242881 bytes) is left out"), std::string::npos);
  EXPECT_NE(flat.text.find("[f20 (1 bytes) is left out"), std::string::npos);
}

}  // namespace
}  // namespace errand::content_test
