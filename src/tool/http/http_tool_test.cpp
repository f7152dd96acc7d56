#include "tool/http/http_tool.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <map>

#include "json/parse.hpp"
#include "support/run_task.hpp"
#include "tool/http/placeholders.hpp"

namespace errand::http_tool_test {
namespace {

class TestSecrets final : public SecretSource {
 public:
  Task<Result<std::string>> find(WorkspaceSlug, std::string name) override {
    auto known = values.find(name);
    if (known == values.end()) co_return Error(ErrorCode::not_found, "there is no such secret");
    co_return known->second;
  }
  Task<Result<std::string>> unseal_header(WorkspaceSlug, std::string, std::string) override {
    co_return std::string("unsealed");
  }
  std::map<std::string, std::string> values{{"KEY", "s3cret/&\"x"}};
};

class RenderTest : public testing::Test {
 protected:
  Result<RenderedRequest> render(std::string_view http, std::string_view arguments) {
    auto body = json::parse(http).value();
    HttpToolDef tool =
        parse_http_tool(json::Value(json::Object{{"name", "a"}, {"http", body}})).value();
    ToolCall call{.run = {}, .id = *ToolUseId::parse("tu_1"), .arguments = {}};
    call.arguments = json::parse(arguments).value().as_object();
    return run_task(io, render_request(&tool, &call, &secrets));
  }
  std::string url(std::string_view http, std::string_view arguments) {
    auto rendered = render(http, arguments);
    return rendered ? rendered->request.url : rendered.error().message();
  }
  std::string body(std::string_view http, std::string_view arguments) {
    auto rendered = render(http, arguments);
    return rendered ? rendered->request.body : rendered.error().message();
  }

  asio::io_context io;
  TestSecrets source;
  CallSecrets secrets{&source, *WorkspaceSlug::parse("default")};
};

TEST_F(RenderTest, APathAndAQueryAreEscaped) {
  EXPECT_EQ(url(R"({"url":"https://x.example/a/{{args.id}}?k={{args.q}}"})",
                R"({"id":"../b?c","q":"1&2"})"),
            "https://x.example/a/..%2Fb%3Fc?k=1%262");
  EXPECT_EQ(url(R"({"url":"https://x.example/a","query":{"q":"{{args.q}}","n":"{{args.n}}",
                    "gone":"{{args.gone}}","fixed":"a b"}})",
                R"({"q":"ä&b","n":7})"),
            "https://x.example/a?q=%C3%A4%26b&n=7&fixed=a%20b");
  EXPECT_EQ(url(R"({"url":"https://x.example/{{args.a.b}}"})", R"({"a":{"b":true}})"),
            "https://x.example/true");
}

TEST_F(RenderTest, AnArgumentThatTheUrlNeedsMustBeThere) {
  EXPECT_EQ(url(R"({"url":"https://x.example/{{args.id}}"})", "{}"),
            "the argument \"id\" is missing");
}

TEST_F(RenderTest, AnArgumentCannotClimbToAnotherPath) {
  constexpr std::string_view kHttp = R"({"url":"https://x.example/users/{{args.id}}/posts"})";

  EXPECT_EQ(url(kHttp, R"({"id":".."})"),
            "\".\" and \"..\" cannot be a part of the path of the URL");
  EXPECT_EQ(url(kHttp, R"({"id":"..."})"), "https://x.example/users/.../posts");
  EXPECT_EQ(url(R"({"url":"https://x.example/a/../{{args.id}}"})", R"({"id":"b"})"),
            "https://x.example/a/../b");
}

TEST_F(RenderTest, ABodyKeepsTheTypesOfItsArguments) {
  EXPECT_EQ(body(R"({"method":"POST","url":"https://x.example","body":
                     {"n":"{{args.n}}","list":["{{args.s}}","{{args.gone}}"],"gone":"{{args.gone}}",
                      "text":"n is {{args.n}}","key":"{{secret:KEY}}"}})",
                 R"({"n":7,"s":"a\"b"})"),
            R"({"n":7,"list":["a\"b"],"text":"n is 7","key":"s3cret/&\"x"})");
}

TEST_F(RenderTest, ABodyOfTextIsEscapedAsItsTypeNeedsIt) {
  EXPECT_EQ(body(R"({"method":"POST","url":"https://x.example","body":"a={{args.a}}",
                     "headers":{"Content-Type":"application/x-www-form-urlencoded"}})",
                 R"({"a":"1&2"})"),
            "a=1%262");
  EXPECT_EQ(body(R"({"method":"POST","url":"https://x.example","body":"{\"a\":\"{{args.a}}\"}",
                     "headers":{"Content-Type":"application/json"}})",
                 R"({"a":"1\"2"})"),
            R"({"a":"1\"2"})");
  EXPECT_EQ(body(R"({"method":"POST","url":"https://x.example","body":"{{args.a}}!"})",
                 R"({"a":"1\"2"})"),
            "1\"2!");
}

TEST_F(RenderTest, AHeaderHoldsOneLine) {
  constexpr std::string_view kHttp =
      R"({"url":"https://x.example","headers":{"X-A":"{{args.a}}"}})";

  auto fine = render(kHttp, R"({"a":"b c"})");
  auto wrong = render(kHttp, R"({"a":"b\r\nX-Evil: 1"})");

  EXPECT_EQ(net::find_header(fine.value().request.headers, "X-A"), "b c");
  EXPECT_EQ(wrong.error().message(), "an argument for the header X-A has a line break in it");
}

TEST_F(RenderTest, ARequestHasTheCallAsItsIdempotencyKeyAndIsSentOnceUnlessItMayRepeat) {
  auto get = render(R"({"url":"https://x.example"})", "{}").value().request;
  auto post = render(R"({"method":"POST","url":"https://x.example"})", "{}").value().request;

  EXPECT_EQ(net::find_header(post.headers, "Idempotency-Key"), "tu_1");
  EXPECT_EQ(post.resend, net::Resend::never);
  EXPECT_EQ(get.resend, net::Resend::once);
  EXPECT_EQ(get.redirects, net::Redirects::shown);
}

TEST_F(RenderTest, SecretsAreEscapedByTheirPlaceAndNotShown) {
  auto rendered = render(R"({"url":"https://x.example/?k={{secret:KEY}}",
                             "headers":{"Authorization":"Bearer {{secret:KEY}}"}})",
                         "{}")
                      .value();

  EXPECT_EQ(rendered.request.url, "https://x.example/?k=s3cret%2F%26%22x");
  EXPECT_EQ(net::find_header(rendered.request.headers, "Authorization"), "Bearer s3cret/&\"x");
  EXPECT_EQ(rendered.shown_url, "https://x.example/?k=[redacted]");
  EXPECT_EQ(secrets.blot_out("s3cret/&\"x"), "[redacted]");
}

TEST_F(RenderTest, ASecretThatIsNotSetIsAnError) {
  EXPECT_EQ(url(R"({"url":"https://x.example/{{secret:NONE}}"})", "{}"), "there is no such secret");
}

TEST(Placeholders, AreTakenApart) {
  auto parts = parse_template("a{{args.x.y}}b{{ secret:K }}").value();

  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(std::get<std::string>(parts[0]), "a");
  EXPECT_EQ(std::get<ArgumentPlace>(parts[1]).path, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(std::get<SecretPlace>(parts[3]).name, "K");
  for (std::string_view wrong : {"{{", "{{x}}", "{{args.}}", "{{args.a..b}}", "{{secret:a b}}"}) {
    EXPECT_FALSE(parse_template(wrong)) << wrong;
  }
  EXPECT_TRUE(parse_template("}} and { {").value().size() == 1);
}

}  // namespace
}  // namespace errand::http_tool_test
