#include <errand/toolkits.hpp>

#include <gtest/gtest.h>
#include <stdlib.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <errand/runtime.hpp>
#include <errand/testing.hpp>
#include <filesystem>
#include <thread>

#include "async/task.hpp"
#include "base/text.hpp"

namespace errand::v1::toolkits_test {
namespace {

std::vector<std::string> names_of(const Toolkit& toolkit) {
  std::vector<std::string> names;
  for (const Tool& tool : toolkit.tools()) names.push_back(tool.name());
  return names;
}

ToolResult call(const Toolkit& toolkit, std::string_view name, const Json& arguments) {
  ToolContext context;
  return toolkit.execute(context, name, arguments);
}

TEST(Toolkits, FilesInMemoryAreReadAndWrittenByARun) {
  toolkits::MemoryFiles memory({{"plan.md", "bake bread"}});
  auto model = scripted(
      {{.calls = {{"read_file", Json::object({{"path", "plan.md"}})},
                  {"write_file", Json::object({{"path", "done.md"}, {"content", "baked"}})}}},
       {.text = "Done."}});
  Runtime runtime({.models = {{.id = "s", .model = model}}});
  runtime.run({.prompt = "Go.", .toolkits = {toolkits::files(memory)}});
  EXPECT_EQ(model->questions().at(1).messages.back().results.at(0).text, "bake bread");
  EXPECT_EQ(memory.all(),
            (std::map<std::string, std::string>{{"done.md", "baked"}, {"plan.md", "bake bread"}}));
}

TEST(Toolkits, FilesOfADirectoryAreReadOnlyUnlessAsked) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_of(toolkits::files(testing::TempDir())),
            (Names{"read_file", "list_files", "search_files"}));
  EXPECT_EQ(names_of(toolkits::files(testing::TempDir(), toolkits::Access::write)),
            (Names{"read_file", "list_files", "search_files", "write_file", "edit_file"}));
  EXPECT_THROW(toolkits::files("/nonexistent"), Error);
}

TEST(Toolkits, TheShellAsksBeforeEachCommand) {
  std::vector<std::string> asked;
  Toolkit shell =
      toolkits::shell({.directory = testing::TempDir(), .approve = [&](const std::string& command) {
                         asked.push_back(command);
                         return command == "echo hi";
                       }});
  ToolResult allowed = call(shell, "shell", Json::object({{"command", "echo hi"}}));
  EXPECT_TRUE(allowed.ok());
  EXPECT_NE(allowed.text().find("hi"), std::string::npos) << allowed.text();
  EXPECT_FALSE(call(shell, "shell", Json::object({{"command", "echo no"}})).ok());
  EXPECT_EQ(asked, (std::vector<std::string>{"echo hi", "echo no"}));
  EXPECT_THROW(toolkits::shell({}), Error);
}

TEST(Toolkits, SmallOnesAreCalled) {
  EXPECT_EQ(
      call(toolkits::calculator(), "calculator", Json::object({{"expression", "6*7"}})).text(),
      "42");
  EXPECT_TRUE(call(toolkits::time(), "current_time", Json::object()).ok());
}

TEST(Toolkits, TheWebIsReachedByItsRules) {
  EXPECT_FALSE(
      call(toolkits::web_fetch(), "web_fetch", Json::object({{"url", "http://127.0.0.1:9/"}}))
          .ok());
  EXPECT_THROW(toolkits::web_fetch({.allow_networks = {"nowhere"}}), Error);
  EXPECT_THROW(toolkits::web_search({.provider = "nobody", .key = "k"}), Error);
  EXPECT_EQ(names_of(toolkits::web_search({.provider = "exa", .key = "k"})),
            (std::vector<std::string>{"web_search"}));
}

// Answers one request, on a thread of its own.
class OneAnswer final {
 public:
  OneAnswer(std::string_view type, std::string_view body)
      : answer_(cat("HTTP/1.1 200 OK\r\nContent-Type: ", type, "\r\nContent-Length: ", body.size(),
                    "\r\nConnection: close\r\n\r\n", body)),
        url_(cat("http://127.0.0.1:", acceptor_.local_endpoint().port())),
        thread_([this] { serve(); }) {}
  ~OneAnswer() {
    if (thread_.joinable()) thread_.join();
  }
  OneAnswer(const OneAnswer&) = delete;
  OneAnswer& operator=(const OneAnswer&) = delete;

  const std::string& url() const { return url_; }
  // The whole request, once it is answered and the connection closed. Call it once.
  std::string asked() {
    thread_.join();
    return asked_;
  }

 private:
  void serve() {
    auto socket = acceptor_.accept();
    asio::read_until(socket, asio::dynamic_buffer(asked_), "\r\n\r\n");
    asio::write(socket, asio::buffer(answer_));
    boost::system::error_code closed;
    asio::read(socket, asio::dynamic_buffer(asked_), closed);
  }

  asio::io_context io_{1};
  asio::ip::tcp::acceptor acceptor_{io_, {asio::ip::address_v4::loopback(), 0}};
  const std::string answer_;
  const std::string url_;
  std::string asked_;
  std::thread thread_;
};

TEST(Toolkits, APageAndASearchAreRead) {
  OneAnswer page("text/html", "<h1>Owls</h1><p>They fly.</p>");
  ToolResult read = call(toolkits::web_fetch({.allow_networks = {"127.0.0.0/8"}}), "web_fetch",
                         Json::object({{"url", page.url()}}));
  EXPECT_NE(read.text().find("# Owls"), std::string::npos) << read.text();
  OneAnswer exa("application/json",
                R"({"results":[{"title":"One","url":"https://a.b/1","text":"First."}]})");
  ToolResult found =
      call(toolkits::web_search({.provider = "exa", .key = "k", .base_url = exa.url()}),
           "web_search", Json::object({{"query", "owls"}}));
  EXPECT_NE(found.text().find("1. One\nhttps://a.b/1\nFirst."), std::string::npos) << found.text();
}

// The number of hits that a search service is asked for by a call with these arguments.
std::string asked_hits(int num_results, const Json& arguments) {
  OneAnswer exa("application/json", R"({"results":[]})");
  call(toolkits::web_search(
           {.provider = "exa", .key = "k", .base_url = exa.url(), .num_results = num_results}),
       "web_search", arguments);
  const std::string asked = exa.asked();
  auto from = asked.find("\"numResults\":");
  return from == std::string::npos ? asked : asked.substr(from, asked.find(',', from) - from);
}

TEST(Toolkits, ASearchHasTheDefaultThatItIsGiven) {
  const Json owls = Json::object({{"query", "owls"}});
  const Json two = Json::object({{"query", "owls"}, {"num_results", 2}});
  EXPECT_EQ(asked_hits(7, owls), "\"numResults\":7");
  EXPECT_EQ(asked_hits(7, two), "\"numResults\":2");
  Toolkit seven = toolkits::web_search({.provider = "exa", .key = "k", .num_results = 7});
  EXPECT_EQ(seven.get_tool("web_search")
                .input_schema()
                .at("properties")
                .at("num_results")
                .at("description"),
            Json("Hits to give; 7 if left out"));
  for (int wrong : {0, 21}) {
    EXPECT_THROW(toolkits::web_search({.provider = "exa", .key = "k", .num_results = wrong}),
                 Error);
  }
}

TEST(Toolkits, FilesOfADirectoryAreChangedAndNothingOutsideOfIt) {
  std::string name = testing::TempDir() + "errand-files-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(name.data());
  Toolkit files = toolkits::files(folder, toolkits::Access::write);
  EXPECT_TRUE(
      call(files, "write_file", Json::object({{"path", "a.md"}, {"content", "one owl"}})).ok());
  EXPECT_TRUE(call(files, "edit_file",
                   Json::object({{"path", "a.md"}, {"old_text", "one"}, {"new_text", "two"}}))
                  .ok());
  EXPECT_EQ(call(files, "read_file", Json::object({{"path", "a.md"}})).text(), "two owl");
  EXPECT_NE(call(files, "search_files", Json::object({{"query", "owl"}})).text().find("a.md"),
            std::string::npos);
  EXPECT_NE(call(files, "list_files", Json::object()).text().find("a.md"), std::string::npos);
  EXPECT_FALSE(call(files, "read_file", Json::object({{"path", "../a.md"}})).ok());
  std::filesystem::remove_all(folder);
}

TEST(Toolkits, TheyAreComposed) {
  Toolkit both = toolkits::time().plus(toolkits::calculator());
  EXPECT_EQ(names_of(both), (std::vector<std::string>{"current_time", "calculator"}));
}

}  // namespace
}  // namespace errand::v1::toolkits_test
