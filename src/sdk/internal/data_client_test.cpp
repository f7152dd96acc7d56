#include "sdk/internal/data_client.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/embedded/own_host.hpp"

namespace errand::sdk::data_client_test {
namespace {

class DataClientTest : public testing::Test {
 protected:
  DataClientTest() {
    std::string pattern = testing::TempDir() + "data-client-XXXXXX";
    data_ = ::mkdtemp(pattern.data());
  }
  ~DataClientTest() override { std::filesystem::remove_all(data_); }

  DataPlace place(std::string workspace = {}) const {
    return {.server = {.server = {}, .key = {}, .workspace = std::move(workspace), .data = data_},
            .config = {},
            .without = WithoutData::is_refused};
  }

  // What a server leaves behind.
  void make_store() const {
    asio::io_context io(1);
    auto config = host::load_config("");
    ASSERT_TRUE(config) << config.error().describe();
    auto host = OwnHost::open({.io = io, .config = std::move(*config), .data = data_});
    ASSERT_TRUE(host) << host.error().describe();
  }

  std::string data_;
};

// The working folder, the home and ERRAND_SERVER of this process, until the test ends.
class Surroundings final {
 public:
  Surroundings(const std::filesystem::path& folder, const std::filesystem::path& home,
               const char* server) {
    std::filesystem::current_path(folder);
    ::setenv("XDG_CONFIG_HOME", home.c_str(), 1);
    if (server) ::setenv("ERRAND_SERVER", server, 1);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;
  ~Surroundings() {
    std::filesystem::current_path(before_);
    ::unsetenv("XDG_CONFIG_HOME");
    ::unsetenv("ERRAND_SERVER");
  }

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
};

TEST_F(DataClientTest, AnswersForADirectoryThatNoServerUses) {
  make_store();
  OpenedData opened = open_data(place());
  ASSERT_TRUE(opened.client) << opened.client.error().describe();
  ApiClient& api = **opened.client;
  EXPECT_TRUE(api.is_here());
  EXPECT_EQ(api.workspace(), "default");
  auto runs = api.ask({.path = "/agent-runs", .query = {{"limit", "1"}}});
  ASSERT_TRUE(runs) << runs.error().describe();
  EXPECT_EQ(json::write(*runs), R"({"runs":[],"nextCursor":null})");
  auto typed = api.wait(api.runs().list({}));
  ASSERT_TRUE(typed) << typed.error().describe();
  EXPECT_TRUE(typed->runs.empty());
}

TEST_F(DataClientTest, TellsErrorsAsAServerDoes) {
  make_store();
  OpenedData opened = open_data(place());
  ASSERT_TRUE(opened.client) << opened.client.error().describe();
  auto missing = (*opened.client)->ask({.path = run_path("run_0", "")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::not_found);
  auto refused = (*opened.client)->ask({.path = "/agent-runs", .query = {{"limit", "many"}}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::invalid_argument);
}

TEST_F(DataClientTest, LeavesADirectoryInUseToItsServer) {
  asio::io_context io(1);
  auto config = host::load_config("");
  ASSERT_TRUE(config) << config.error().describe();
  auto holder = OwnHost::open({.io = io, .config = std::move(*config), .data = data_});
  ASSERT_TRUE(holder) << holder.error().describe();
  OpenedData opened = open_data(place());
  ASSERT_FALSE(opened.client);
  EXPECT_TRUE(opened.is_server);  // of which no credentials are known here
  EXPECT_EQ(opened.client.error().code(), ErrorCode::not_found);
}

TEST_F(DataClientTest, ANamedDirectoryComesBeforeTheServerOfTheEnvironment) {
  make_store();
  Surroundings surroundings(data_, data_, "http://127.0.0.1:1");
  OpenedData opened = open_data(place());
  EXPECT_FALSE(opened.is_server);
  ASSERT_TRUE(opened.client) << opened.client.error().describe();
}

TEST_F(DataClientTest, ALoginComesBeforeTheDirectoryHere) {
  std::filesystem::path root = data_;
  data_ = root / ".errand";
  make_store();
  std::filesystem::create_directories(root / "errand");
  Surroundings surroundings(root, root, nullptr);
  DataPlace here{.server = {}};
  EXPECT_FALSE(open_data(here).is_server);
  Credentials login{.url = "http://127.0.0.1:1", .key = "k"};
  ASSERT_TRUE(write_credentials(root / "errand" / "credentials", login));
  EXPECT_TRUE(open_data(here).is_server);
  // A server that ran here once has left its credentials, which are nearer than the login.
  ASSERT_TRUE(write_credentials(credentials_file(data_), login));
  EXPECT_FALSE(open_data(here).is_server);
  data_ = root;
}

TEST_F(DataClientTest, RefusesAWorkspaceThatIsNoSlug) {
  make_store();
  OpenedData opened = open_data(place("No Slug"));
  ASSERT_FALSE(opened.client);
  EXPECT_FALSE(opened.is_server);
  EXPECT_EQ(opened.client.error().code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace errand::sdk::data_client_test
