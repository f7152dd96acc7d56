#include "sdk/credentials.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>

#include "base/text.hpp"

namespace errand::sdk::credentials_test {
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
  std::string find(const ServerFlags& flags = {}) {
    auto found = find_server(
        flags,
        [this](const std::string& name) -> std::optional<std::string> {
          auto value = variables_.find(name);
          if (value == variables_.end()) return {};
          return value->second;
        },
        root_ / "a" / "b");
    return found ? cat(found->url, " ", found->key) : found.error().describe();
  }

  std::filesystem::path root_;
  std::map<std::string, std::string> variables_;
};

TEST_F(FindServerTest, RootGivesTheFileToTheOwnerOfTheDataDirectory) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  constexpr uid_t kOwner = 12345;
  ASSERT_EQ(::chown(root_.c_str(), kOwner, kOwner), 0);
  ASSERT_TRUE(write_data_credentials(root_, {.url = "http://own", .key = "own"}));
  struct stat about{};
  ASSERT_EQ(::stat(credentials_file(root_).c_str(), &about), 0);
  EXPECT_EQ(about.st_uid, kOwner);
  EXPECT_EQ(about.st_gid, kOwner);
  EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

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

TEST_F(FindServerTest, ANamedDataDirectoryComesBeforeTheEnvironment) {
  keep(root_, {.url = "http://file", .key = "file"});
  ServerFlags flags{.data = (root_ / ".errand").string()};
  variables_ = {{"ERRAND_API_KEY", "env"}};
  EXPECT_EQ(find(flags), "http://file env");
  variables_ = {{"ERRAND_SERVER", "http://env"}, {"ERRAND_API_KEY", "env"}};
  EXPECT_EQ(find(flags), "http://file file");
}

TEST_F(FindServerTest, TheKeyOfAFileIsNotSentElsewhere) {
  keep(root_, {.url = "http://file", .key = "file"});
  variables_ = {{"ERRAND_SERVER", "http://env"}};
  EXPECT_EQ(find(), "no key for the server http://env");
}

TEST_F(FindServerTest, TheLoginIsTheLastPlace) {
  std::filesystem::path login = root_ / "home" / ".config" / "errand";
  std::filesystem::create_directories(login);
  ASSERT_TRUE(write_credentials(login / "credentials", {.url = "http://login", .key = "login"}));
  variables_ = {{"HOME", (root_ / "home").string()}};
  EXPECT_EQ(find(), "http://login login");
  variables_ = {{"XDG_CONFIG_HOME", (root_ / "home" / ".config").string()}};
  EXPECT_EQ(find(), "http://login login");
  keep(root_, {.url = "http://file", .key = "file"});
  EXPECT_EQ(find(), "http://file file");
}

TEST_F(FindServerTest, AFileThatOthersMayReadIsAnError) {
  keep(root_, {.url = "http://file", .key = "file"});
  std::filesystem::path file = credentials_file(root_ / ".errand");
  std::filesystem::permissions(file, std::filesystem::perms(0640));
  EXPECT_EQ(find(), cat(file.string(), " holds a key, and other users may read or change it"));
  EXPECT_EQ(find({.server = "http://own", .key = "own"}), "http://own own");
}

TEST_F(FindServerTest, FilesOfOtherUsersArePassedOver) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  keep(root_ / "a", {.url = "http://planted", .key = "planted"});
  ASSERT_EQ(::chown(credentials_file(root_ / "a" / ".errand").c_str(), 65534, 65534), 0);
  keep(root_, {.url = "http://file", .key = "file"});
  EXPECT_EQ(find(), "http://file file");
}

TEST_F(FindServerTest, AFileThatCannotBeReadIsAnError) {
  std::filesystem::path file = credentials_file(root_ / ".errand");
  std::filesystem::create_directories(file);
  std::filesystem::permissions(file, std::filesystem::perms(0700));
  std::string unreadable = cat("cannot read the file ", file.string(), ": Is a directory");
  EXPECT_EQ(find(), unreadable);
  EXPECT_EQ(find({.data = (root_ / ".errand").string()}), unreadable);
  EXPECT_EQ(find({.server = "http://own", .key = "own"}), "http://own own");
}

TEST_F(FindServerTest, NoServerSaysWhereItWasLookedFor) {
  EXPECT_EQ(find(), cat("no server: there is no file ",
                        (root_ / "a" / "b" / ".errand" / "credentials").string(),
                        ", none in a folder above, and no login"));
}

}  // namespace
}  // namespace errand::sdk::credentials_test
