#include <errand/content.hpp>

#include <gtest/gtest.h>

namespace content_test {
namespace {

using errand::Content;
using errand::Json;

Json parse(std::string_view text) {
  return Json::parse(text).value();
}

TEST(Content, OfEveryKindHasItsBlock) {
  struct Case {
    Content content;
    std::string block;
  };
  const Case kCases[] = {
      {errand::TextContent{"hi"}, R"({"type":"text","text":"hi"})"},
      {errand::JsonContent{parse("[1]")}, R"({"type":"text","text":"[1]"})"},
      {errand::ImageContent{"\x01\x02", "image/png"},
       R"({"type":"image","data":"AQI=","mimeType":"image/png"})"},
      {errand::AudioContent{"\x01", "audio/wav"},
       R"({"type":"audio","data":"AQ==","mimeType":"audio/wav"})"},
      {errand::FileContent{"x", "text/plain", "a b.txt"},
       R"({"type":"resource","resource":{"uri":"file:///a%20b.txt","mimeType":"text/plain",)"
       R"("blob":"eA=="}})"},
      {errand::LinkContent{.url = "https://x.example", .name = "x"},
       R"({"type":"resource_link","uri":"https://x.example","name":"x"})"},
      {errand::ResourceContent{.uri = "a://b", .text = "t"},
       R"({"type":"resource","resource":{"uri":"a://b","text":"t"}})"},
      {errand::EmptyContent{}, R"({"type":"text","text":""})"},
  };
  for (const Case& one : kCases) EXPECT_EQ(errand::to_block(one.content).dump(), one.block);
}

TEST(Content, IsReadFromBlocksOfSeveralProtocols) {
  EXPECT_EQ(errand::from_block(parse(R"({"type":"text","text":"hi"})")),
            Content(errand::TextContent{"hi"}));
  Content image = errand::ImageContent{"\x01\x02", "image/png"};
  EXPECT_EQ(errand::from_block(parse(R"({"type":"image","data":"AQI=","mimeType":"image/png"})")),
            image);
  EXPECT_EQ(errand::from_block(parse(R"({"type":"image","source":{"type":"base64",
                "media_type":"image/png","data":"AQI="}})")),
            image);
  EXPECT_EQ(
      errand::from_block(parse(R"({"type":"resource","resource":{"uri":"a://b","blob":"AQI="}})")),
      Content(errand::ResourceContent{.uri = "a://b", .bytes = "\x01\x02"}));
  EXPECT_EQ(errand::from_block(parse(R"({"type":"resource_link","uri":"a://b","name":"n"})")),
            Content(errand::LinkContent{.url = "a://b", .name = "n"}));
}

TEST(Content, IsNotReadFromOtherJson) {
  for (std::string text :
       {"1", "{}", R"({"type":"text"})", R"({"type":"text","text":1})", R"({"type":"image"})",
        R"({"type":"image","data":"*"})", R"({"type":"image","source":{"type":"url"}})",
        R"({"type":"resource","resource":{}})", R"({"type":"other","text":"x"})"}) {
    EXPECT_EQ(errand::from_block(parse(text)), std::nullopt) << text;
  }
}

TEST(ToolResult, TextHasALineForEachTextAndJson) {
  errand::ToolResult result;
  result.content = {errand::TextContent{"a"}, errand::ImageContent{"x", "image/png"},
                    errand::JsonContent{parse("{}")}};
  EXPECT_EQ(result.text(), "a\n{}");
  EXPECT_EQ(errand::ToolResult::failed("no").outcome, errand::ToolOutcome::failed);
}

}  // namespace
}  // namespace content_test
