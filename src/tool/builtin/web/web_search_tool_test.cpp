#include "tool/builtin/web/web_search_tool.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"
#include "net/client/test_peer.hpp"

namespace errand::web_search_tool_test {
namespace {

using net::test::answers;
using net::test::Loop;
using net::test::Peer;

std::string answer(std::string_view body, std::string_view status = "200 OK") {
  return cat("HTTP/1.1 ", status,
             "\r\nContent-Type: application/json\r\nContent-Length: ", body.size(), "\r\n\r\n",
             body);
}

class WebSearchToolTest : public testing::Test {
 protected:
  ~WebSearchToolTest() override {
    loop_.call([this] { tool_.reset(); });
  }

  // "ok: text" or "failed: text".
  std::string search(std::optional<SearchService> service, std::string_view arguments) {
    loop_.call(
        [&] { tool_ = std::make_unique<WebSearchTool>(net::ClientOptions{}, std::move(service)); });
    ToolCall call{.run = *RunId::parse("run_1"),
                  .id = *ToolUseId::parse("tu_1"),
                  .arguments = json::parse(arguments)->as_object()};
    ToolOutcome result = loop_.run(tool_->invoke(std::move(call), {}));
    return cat(result.ok() ? "ok: " : "failed: ", text_of(result));
  }

  Loop loop_;
  std::unique_ptr<WebSearchTool> tool_;
};

TEST_F(WebSearchToolTest, EachHitHasTitleUrlAndSnippet) {
  Peer exa(answers(answer(
      R"({"results":[{"title":"One","url":"https://a.b/1","text":"First\npage."},
                     {"title":"","url":"https://a.b/2","text":""},
                     {"title":"Three","url":"https://a.b/3"}]})")));
  EXPECT_EQ(
      search(SearchService{.provider = SearchProvider::exa, .key = "k", .base_url = exa.url()},
             R"({"query":"pages","num_results":2})"),
      "ok: 1. One\nhttps://a.b/1\nFirst page.\n\n2. \nhttps://a.b/2");
}

TEST_F(WebSearchToolTest, WithoutAKeyACallSaysSo) {
  EXPECT_TRUE(search({}, R"({"query":"pages"})")
                  .starts_with("failed: Web search is not available: no key of a search service "
                               "is set. Set EXA_API_KEY, "));
}

TEST_F(WebSearchToolTest, ARefusedKeyIsNamedAndNotShown) {
  Peer brave(answers(answer("{}", "401 Unauthorized")));
  SearchService service{
      .provider = SearchProvider::brave, .key = "secret", .base_url = brave.url()};
  EXPECT_EQ(search(service, R"({"query":"pages"})"),
            "failed: brave answered with HTTP status 401: its key was refused");
}

TEST_F(WebSearchToolTest, WrongArgumentsAreRefused) {
  EXPECT_EQ(search({}, R"({"query":" "})"), "failed: \"query\" is empty (at /query)");
  EXPECT_EQ(search({}, R"({"query":"x","num_results":21})"),
            "failed: expected an integer from 1 to 20, got 21 (at /num_results)");
}

TEST(SearchServices, EachIsAskedInItsOwnWay) {
  auto told = [](SearchProvider provider) {
    net::ClientRequest request = search_request({.provider = provider, .key = "k"}, "a b", 3);
    return cat(net::to_string(request.method), " ", request.url, " ", request.body, " ",
               request.headers.at(provider == SearchProvider::brave ? 0 : 1).name, ": ",
               request.headers.at(provider == SearchProvider::brave ? 0 : 1).value);
  };
  EXPECT_EQ(told(SearchProvider::exa),
            R"(POST https://api.exa.ai/search {"query":"a b","numResults":3,)"
            R"("contents":{"text":{"maxCharacters":500}}} x-api-key: k)");
  EXPECT_EQ(told(SearchProvider::brave),
            "GET https://api.search.brave.com/res/v1/web/search?q=a%20b&count=3  "
            "X-Subscription-Token: k");
  EXPECT_EQ(told(SearchProvider::tavily),
            R"(POST https://api.tavily.com/search {"query":"a b","max_results":3} )"
            "Authorization: Bearer k");
}

TEST(SearchServices, AnswersAreRead) {
  using Hits = std::vector<SearchHit>;
  EXPECT_EQ(*parse_hits(SearchProvider::brave,
                        R"({"web":{"results":[{"title":"A <strong>b</strong>","url":"https://a.b",
                            "description":"c <b>d</b>"},{"title":"no url"}]}})"),
            (Hits{{"A b", "https://a.b", "c d"}}));
  EXPECT_EQ(*parse_hits(SearchProvider::brave,
                        R"({"web":{"results":[{"title":"Tom &amp; <strong>Jerry</strong>&#x27;s",
                            "url":"https://a.b","description":"&lt;b&gt; is bold, AT&T"}]}})"),
            (Hits{{"Tom & Jerry's", "https://a.b", "<b> is bold, AT&T"}}));
  EXPECT_EQ(*parse_hits(SearchProvider::tavily,
                        R"({"results":[{"title":"A","url":"https://a.b","content":"c"}]})"),
            (Hits{{"A", "https://a.b", "c"}}));
  EXPECT_EQ(*parse_hits(SearchProvider::brave, R"({"type":"search"})"), Hits());
  EXPECT_FALSE(parse_hits(SearchProvider::exa, R"({"error":"x"})"));
  EXPECT_FALSE(parse_hits(SearchProvider::tavily, "<html>"));
}

TEST(SearchServices, TheFirstKeyInTheEnvironmentCounts) {
  std::map<std::string, std::string> variables{{"TAVILY_API_KEY", "t"}, {"EXA_API_KEY", ""}};
  net::Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_EQ(search_service_in(environment),
            (SearchService{.provider = SearchProvider::tavily, .key = "t"}));
  variables["BRAVE_API_KEY"] = "b";
  variables["BRAVE_BASE_URL"] = "http://127.0.0.1:1";
  EXPECT_EQ(search_service_in(environment),
            (SearchService{
                .provider = SearchProvider::brave, .key = "b", .base_url = "http://127.0.0.1:1"}));
  variables.clear();
  EXPECT_EQ(search_service_in(environment), std::nullopt);
}

}  // namespace
}  // namespace errand::web_search_tool_test
