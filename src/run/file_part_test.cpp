#include "run/file_part.hpp"

#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "run/log/mail.hpp"
#include "run/spec.hpp"

namespace errand::file_part_test {
namespace {

constexpr std::string_view kImage =
    R"({"type":"input_file","filename":"a.png","mimeType":"image/png","data":"Zm9v"})";

std::string error_of(const Error& error) {
  std::string out = cat(error.pointer(), ": ", error.message());
  if (!error.limit().empty()) append(out, " [", error.limit(), " ", error.max(), "]");
  return out;
}

// What is wrong with one attachment; empty if nothing is.
std::string mistake_in(std::string_view attachment) {
  json::Value items = json::Array{*json::parse(attachment)};
  auto files = parse_attachments(items.as_array(), "/a");
  return files ? "" : error_of(files.error());
}

std::string inline_file(std::string_view filename, std::string_view mime_type,
                        std::string_view data) {
  json::Object file{
      {"type", "input_file"}, {"filename", filename}, {"mimeType", mime_type}, {"data", data}};
  return json::write(file);
}

std::string mistake_in_messages(std::string_view messages) {
  auto spec = parse_spec(*json::parse(cat(R"({"messages":)", messages, "}")));
  return spec ? "" : error_of(spec.error());
}

json::Array many(std::size_t count) {
  json::Array items;
  for (std::size_t i = 0; i < count; ++i) items.push_back(*json::parse(kImage));
  return items;
}

TEST(FilePart, AnInlineFileComesWithItsBytes) {
  json::Value items = *json::parse(
      R"([{"type":"input_file","filename":"Ä b.txt","mimeType":"Text/Plain; charset=utf-8",)"
      R"("data":"Zm9v"}])");
  auto files = parse_attachments(items.as_array(), "/a").value();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_EQ(files[0].filename, "Ä b.txt");
  EXPECT_EQ(files[0].mime_type, "text/plain");
  EXPECT_EQ(files[0].size, 3);
  EXPECT_EQ(*files[0].bytes, "foo");
  EXPECT_EQ(files[0].url, "");
}

TEST(FilePart, AUrlIsPassedOnAsItIs) {
  json::Value items = *json::parse(R"([{"type":"input_file_url","url":"https://a.b/c.png?d=e"},
      {"type":"input_file_url","url":"https://a.b","mimeType":"image/jpg","filename":"c"}])");
  auto files = parse_attachments(items.as_array(), "/a").value();
  EXPECT_EQ(json::write(to_json(files)),
            R"([{"type":"input_file_url","url":"https://a.b/c.png?d=e"},)"
            R"({"type":"input_file_url","url":"https://a.b","filename":"c",)"
            R"("mimeType":"image/jpeg"}])");
}

TEST(FilePart, WhatIsWrongIsNamed) {
  constexpr std::string_view kName =
      "/a/0/filename: a filename has 1 to 255 bytes, and neither control characters nor slashes";
  constexpr std::string_view kType = "/a/0/mimeType: expected a type such as \"image/png\"";
  constexpr std::string_view kData =
      "/a/0/data: this is not base64 (RFC 4648, padded, without line breaks)";
  constexpr std::string_view kUrl = "/a/0/url: expected a URL that begins with https://";
  EXPECT_EQ(mistake_in(kImage), "");
  EXPECT_EQ(mistake_in("{}"),
            "/a/0/type: \"type\" is missing: expected \"input_file\" or \"input_file_url\"");
  EXPECT_EQ(mistake_in(R"({"type":"file"})"),
            "/a/0/type: expected one of \"input_file\", \"input_file_url\", got \"file\"");
  for (std::string_view name : {"", ".", "..", "a/b", "a\\b", "a\nb", "a\x7f"}) {
    EXPECT_EQ(mistake_in(inline_file(name, "image/png", "Zm9v")), kName) << name;
  }
  EXPECT_EQ(mistake_in(inline_file(std::string(255, 'a'), "image/png", "Zm9v")), "");
  EXPECT_EQ(mistake_in(inline_file(std::string(256, 'a'), "image/png", "Zm9v")), kName);
  for (std::string_view type : {"", "png", "image/", "/png", "image/p ng", "a/b/c", "a/\"b\""}) {
    EXPECT_EQ(mistake_in(inline_file("a", type, "Zm9v")), kType) << type;
  }
  for (std::string_view data : {"Zg", "Zm9v\n", "data:image/png;base64,Zm9v", "Zh=="}) {
    EXPECT_EQ(mistake_in(inline_file("a", "image/png", data)), kData) << data;
  }
  EXPECT_EQ(mistake_in(R"({"type":"input_file","filename":"a","mimeType":"a/b"})"),
            "/a/0/data: \"data\" is missing: expected a value");
  EXPECT_EQ(mistake_in(R"({"type":"input_file","filename":"a","mimeType":"a/b","data":1})"),
            "/a/0/data: expected the bytes of the file in base64");
  for (std::string_view url : {"http://a.b", "https://", "https:///a", "ftp://a", "https://a b",
                               "file:///etc/passwd", "https://a\\u0000"}) {
    EXPECT_EQ(mistake_in(cat(R"({"type":"input_file_url","url":")", url, "\"}")), kUrl) << url;
  }
}

TEST(FilePart, LimitsHoldAtThemAndPastThem) {
  auto of_size = [](std::size_t bytes) {
    return mistake_in(inline_file("a", "image/png", to_base64(std::string(bytes, 'x'))));
  };
  EXPECT_EQ(of_size(0), "");
  EXPECT_EQ(of_size(kFileBytesMax), "");
  EXPECT_EQ(of_size(kFileBytesMax + 1),
            "/a/0/data: the file has 5242881 bytes; at most 5242880 are allowed "
            "[fileBytes 5242880]");
  EXPECT_EQ(of_size(kFileBytesMax * 2),
            "/a/0/data: the file has more than 5242880 bytes [fileBytes 5242880]");

  EXPECT_TRUE(parse_attachments(many(20), "/a"));
  EXPECT_EQ(error_of(parse_attachments(many(21), "/a").error()),
            "/a: there are 21 files; at most 20 are allowed [files 20]");
  EXPECT_TRUE(parse_result_files(many(20), "/files"));
  EXPECT_EQ(error_of(parse_result_files(many(21), "/files").error()),
            "/files: there are 21 files; at most 20 are allowed [files 20]");

  auto of_url = [](std::size_t bytes) {
    std::string url = cat("https://", std::string(bytes - 8, 'a'));
    return mistake_in(cat(R"({"type":"input_file_url","url":")", url, "\"}"));
  };
  EXPECT_EQ(of_url(2048), "");
  EXPECT_EQ(of_url(2049), "/a/0/url: the URL has more than 2048 bytes [urlBytes 2048]");
}

TEST(FilePart, OnlyTheLastMessageOfTheUserHasAttachments) {
  std::string with = cat(R"({"role":"user","content":"a","attachments":[)", kImage, "]}");
  constexpr std::string_view kPlain = R"({"role":"user","content":"b","attachments":[]})";
  constexpr std::string_view kSystem = R"({"role":"system","content":"c"})";
  constexpr std::string_view kTurn = R"({"role":"assistant","content":"d"})";
  constexpr std::string_view kOnlyLast = "only the last message of the user has attachments";
  EXPECT_EQ(mistake_in_messages(cat("[", kPlain, ",", with, ",", kSystem, "]")), "");
  EXPECT_EQ(mistake_in_messages(cat("[", with, ",", kTurn, ",", kPlain, "]")),
            cat("/messages/0/attachments: ", kOnlyLast));
  EXPECT_EQ(mistake_in_messages(cat("[", with, ",", kTurn, "]")),
            "/messages/1/role: the last message that is not the system's has to be the user's");
  EXPECT_EQ(mistake_in_messages(cat("[", kSystem, "]")),
            "/messages: there is no message of the user's to answer");
  EXPECT_EQ(mistake_in_messages(cat("[", R"({"role":"system","content":"c","attachments":[)",
                                    kImage, "]},", with, "]")),
            cat("/messages/0/attachments: ", kOnlyLast));
  auto beside = parse_spec(*json::parse(cat(R"({"prompt":"p","attachments":[)", kImage, "]}")));
  EXPECT_EQ(error_of(beside.error()),
            "/attachments: attachments belong to the last of the \"messages\"");
}

TEST(FilePart, MessagesHaveAtMostSoManyCharacters) {
  auto of_chars = [](std::size_t chars) {
    std::string text;
    for (std::size_t i = 0; i < chars; ++i) text += "ä";
    return mistake_in_messages(cat(R"([{"role":"user","content":")", text, "\"}]"));
  };
  EXPECT_EQ(of_chars(200'000), "");
  EXPECT_EQ(of_chars(200'001),
            "/messages/0/content: the message has more than 200000 characters "
            "[messageChars 200000]");
}

// Else a caller could have the bytes of somebody else's file read.
TEST(FilePart, ACallerCannotNameBytesByTheirHash) {
  EXPECT_EQ(mistake_in(R"({"type":"input_file","filename":"a","mimeType":"a/b","size":3,)"
                       R"("sha256":"00"})"),
            "/a/0/data: \"data\" is missing: expected a value");
}

TEST(FilePart, MailNamesFilesWithoutTheirBytes) {
  ToolAnswer answer{.text = "t"};
  answer.files = {{.filename = "a.png",
                   .mime_type = "image/png",
                   .sha256 = "00ff",
                   .size = 3,
                   .bytes = std::make_shared<const std::string>("foo")}};
  std::string body = to_mail_body(answer);
  EXPECT_EQ(body, R"({"ok":true,"text":"t","files":[{"type":"input_file","filename":"a.png",)"
                  R"("mimeType":"image/png","size":3,"sha256":"00ff"}]})");
  EXPECT_EQ(to_mail_body(parse_tool_answer(body).value()), body);
}

}  // namespace
}  // namespace errand::file_part_test
