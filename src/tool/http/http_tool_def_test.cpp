#include "tool/http/http_tool_def.hpp"

#include <gtest/gtest.h>

#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::http_tool_def_test {
namespace {

json::Value parsed(std::string_view text) {
  return json::parse(text).value();
}

HttpToolDef tool_of(std::string_view text) {
  return parse_http_tool(parsed(text)).value();
}

TEST(HttpToolDef, EveryMemberIsRead) {
  HttpToolDef tool = tool_of(R"({
      "name":"add_note","description":"Adds a note",
      "parameters":{"type":"object","properties":{"text":{"type":"string"}}},
      "http":{"method":"POST","url":"https://crm.example.com/people/{{args.id}}/notes",
              "headers":{"Authorization":"Bearer {{secret:CRM}}"},"query":{"lang":"{{args.lang}}"},
              "body":{"text":"{{args.text}}"},"result":"/data/id"},
      "annotations":{"idempotent":true,"parallelSafe":false},"timeoutMs":5000})");

  EXPECT_EQ(tool.name, "add_note");
  EXPECT_EQ(tool.method, net::Method::post);
  EXPECT_EQ(tool.url, "https://crm.example.com/people/{{args.id}}/notes");
  EXPECT_EQ(tool.headers, (Headers{{"Authorization", "Bearer {{secret:CRM}}"}}));
  EXPECT_EQ(tool.query, (Headers{{"lang", "{{args.lang}}"}}));
  EXPECT_EQ(json::write(*tool.body), R"({"text":"{{args.text}}"})");
  EXPECT_EQ(tool.result, "/data/id");
  EXPECT_EQ(tool.annotations, (ToolAnnotations{.read_only = false,
                                               .idempotent = true,
                                               .parallel_safe = false,
                                               .timeout = milliseconds(5000)}));
}

TEST(HttpToolDef, OnlyAGetIsReadOnlyWithoutSayingSo) {
  HttpToolDef get = tool_of(R"({"name":"a","http":{"url":"https://x.example"}})");
  HttpToolDef put = tool_of(R"({"name":"a","http":{"method":"PUT","url":"https://x.example"}})");

  EXPECT_TRUE(get.annotations.read_only);
  EXPECT_TRUE(get.annotations.idempotent);
  EXPECT_FALSE(put.annotations.read_only);
  EXPECT_FALSE(put.annotations.idempotent);
  EXPECT_EQ(get.annotations.timeout, kHttpToolTimeout);
}

TEST(HttpToolDef, MistakesHaveTheirPlace) {
  auto pointer = [](std::string_view body) {
    auto tool = parse_http_tool(parsed(body));
    return tool ? "no error" : tool.error().pointer();
  };
  EXPECT_EQ(pointer(R"({"http":{"url":"https://x.example"}})"), "/name");
  EXPECT_EQ(pointer(R"({"name":"a-b","http":{"url":"https://x.example"}})"), "/name");
  EXPECT_EQ(pointer(R"({"name":"a"})"), "/http");
  EXPECT_EQ(pointer(R"({"name":"a","http":{}})"), "/http/url");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"ftp://x.example"}})"), "/http/url");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://{{args.host}}/x"}})"), "/http/url");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://x{{secret:A}}.example"}})"), "/http/url");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://x.example/{{arg.x}}"}})"), "/http/url");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://x.example","metod":"GET"}})"),
            "/http/metod");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://x.example","method":"TRACE"}})"),
            "/http/method");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://x.example","headers":{"Host":"y"}}})"),
            "/http/headers/Host");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://x.example","headers":{"A":"b\nc"}}})"),
            "/http/headers/A");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://x.example","body":{"a":1}}})"),
            "/http/body");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"method":"POST","url":"https://x.example",
                        "body":{"a":["{{secret:}}"]}}})"),
            "/http/body/a/0");
  EXPECT_EQ(pointer(R"({"name":"a","http":{"url":"https://x.example","result":"data"}})"),
            "/http/result");
  EXPECT_EQ(pointer(R"({"name":"a","timeoutMs":0,"http":{"url":"https://x.example"}})"),
            "/timeoutMs");
  EXPECT_EQ(pointer(R"({"name":"a","parameters":{},"http":{"url":"https://x.example"}})"),
            "/parameters");
}

TEST(HttpToolDef, KeysInHeadersAreNotShown) {
  json::Object shown = shown_http_tool(
      parsed(R"({"http":{"url":"https://x.example","headers":{"X-Key":"k3y","Accept":"text/csv",
                 "Authorization":"Bearer {{secret:CRM}}"}}})")
          .as_object());

  EXPECT_EQ(
      json::write(shown["http"].at("headers")),
      R"({"X-Key":"[redacted]","Accept":"text/csv","Authorization":"Bearer {{secret:CRM}}"})");
  EXPECT_FALSE(parse_http_tool(json::Value(shown), "a"));
}

}  // namespace
}  // namespace errand::http_tool_def_test
