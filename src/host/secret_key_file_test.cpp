#include "host/secret_key_file.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"
#include "support/run_task.hpp"

namespace errand::host::secret_key_file_test {
namespace {

namespace fs = std::filesystem;

net::Environment variables(std::optional<std::string> key) {
  return [key](const std::string& name) -> std::optional<std::string> {
    if (name == kSecretKeyVariable) return key;
    return {};
  };
}

class SecretKeyFileTest : public testing::Test {
 protected:
  SecretKeyFileTest() { fs::create_directories(folder); }
  ~SecretKeyFileTest() override { fs::remove_all(folder); }

  const fs::path folder = fs::path(testing::TempDir()) / "secret_key_file_test";
  const fs::path file = secret_key_path(folder);
  asio::io_context io;
  BlockingPool pool{1, 10};
};

TEST_F(SecretKeyFileTest, AKeyIsMadeOnceAndIsForItsOwnerAlone) {
  SecretKeyFile keys(file, variables({}), pool);
  EXPECT_TRUE(run_task(io, keys.read()).value().empty());

  crypto::SealKey made = run_task(io, keys.make()).value();

  EXPECT_EQ(run_task(io, keys.read()).value().front().bytes, made.bytes);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(keys.place(), file.string());
}

TEST_F(SecretKeyFileTest, TheVariableTakesThePlaceOfTheFile) {
  SecretKeyFile keys(file, variables(std::string(64, 'a') + "," + std::string(64, 'b')), pool);

  auto read = run_task(io, keys.read()).value();

  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(crypto::to_hex(read[0]), std::string(64, 'a'));
  EXPECT_EQ(keys.place(), "ERRAND_SECRET_KEY");
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(SecretKeyFileTest, WhatIsNoKeyIsRefusedWithoutBeingShown) {
  std::ofstream(file) << "hunter2\n";
  SecretKeyFile keys(file, variables({}), pool);

  auto read = run_task(io, keys.read());

  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason(), "secret_key_wrong");
  EXPECT_EQ(read.error().message(), file.string() + " does not hold a key: expected 64 hex digits");
  std::ofstream(file) << "\n";
  EXPECT_FALSE(run_task(io, keys.read()));
}

TEST_F(SecretKeyFileTest, AFolderOrAHugeFileInItsPlaceIsAnError) {
  fs::create_directory(file);
  auto folder_read = read_secret_keys(file);
  fs::remove(file);
  std::ofstream(file) << std::string(100'000, 'a');
  auto huge_read = read_secret_keys(file);

  ASSERT_FALSE(folder_read || huge_read);
  EXPECT_EQ(folder_read.error().message(),
            cat("cannot read the file ", file.string(), ": Is a directory"));
  EXPECT_EQ(huge_read.error().message(),
            cat("the file ", file.string(), " has more than 65536 bytes"));
}

TEST_F(SecretKeyFileTest, SeveralKeysStandBelowEachOther) {
  std::vector<crypto::SealKey> keys{crypto::random_seal_key(), crypto::random_seal_key()};
  ASSERT_TRUE(write_secret_keys(file, keys));

  auto read = read_secret_keys(file).value();

  ASSERT_EQ(read.size(), 2U);
  EXPECT_EQ(read[0].bytes, keys[0].bytes);
  EXPECT_EQ(read[1].bytes, keys[1].bytes);
}

}  // namespace
}  // namespace errand::host::secret_key_file_test
