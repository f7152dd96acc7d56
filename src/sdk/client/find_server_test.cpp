#include "sdk/client/find_server.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>

#include "base/text.hpp"

namespace errand::sdk {
namespace {

class FindServerTest : public testing::Test {
 protected:
  FindServerTest() {
    std::string name = testing::TempDir() + "errand-find-XXXXXX";
    root_ = ::mkdtemp(name.data());
    std::filesystem::create_directories(root_ / "a" / "b");
  }
  ~FindServerTest() override { std::filesystem::remove_all(root_); }

  void keep(const std::filesystem::path& folder, const Credentials& credentials) {
    std::filesystem::create_directories(folder / ".errand");
    ASSERT_TRUE(write_credentials(credentials_file(folder / ".errand"), credentials));
  }
  std::string find(ServerFlags flags = {}) {
    auto found = find_nearby_server(
        std::move(flags),
        [this](const std::string& name) -> std::optional<std::string> {
          auto value = variables_.find(name);
          if (value == variables_.end()) return {};
          return value->second;
        },
        root_ / "a" / "b");
    return found ? cat(found->url, " ", found->key) : std::string(to_string(found.error().code()));
  }

  std::filesystem::path root_;
  std::map<std::string, std::string> variables_;
};

TEST_F(FindServerTest, TheNearestFileAboveIsFound) {
  keep(root_, {.url = "http://far", .key = "far"});
  EXPECT_EQ(find(), "http://far far");
  keep(root_ / "a", {.url = "http://near", .key = "near"});
  EXPECT_EQ(find(), "http://near near");
}

TEST_F(FindServerTest, TheEnvironmentComesBeforeTheFile) {
  keep(root_, {.url = "http://file", .key = "file"});
  variables_ = {{"ERRAND_SERVER", "http://env"}, {"ERRAND_API_KEY", "env"}};
  EXPECT_EQ(find(), "http://env env");
  EXPECT_EQ(find({.server = "http://own", .key = "own"}), "http://own own");
}

TEST_F(FindServerTest, TheKeyOfAFileIsNotSentElsewhere) {
  keep(root_, {.url = "http://file", .key = "file"});
  variables_ = {{"ERRAND_SERVER", "http://env"}};
  EXPECT_EQ(find(), "unauthorized");
}

TEST_F(FindServerTest, NoServerIsNotFound) {
  EXPECT_EQ(find(), "not_found");
}

}  // namespace
}  // namespace errand::sdk
