#include "engine/records/secret_vault.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "store/memory/memory_store.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::engine::secret_vault_test {
namespace {

constexpr std::string_view kCanary = "canary-5e1f-value";

// Keys that a test puts in place.
class TestKeys final : public MasterKeys {
 public:
  Task<Result<std::vector<crypto::SealKey>>> read() override { co_return keys; }
  Task<Result<crypto::SealKey>> make() override {
    keys = {crypto::random_seal_key()};
    co_return keys.front();
  }
  std::string place() const override { return "the test"; }

  std::vector<crypto::SealKey> keys;
};

class SecretVaultTest : public testing::Test {
 protected:
  template <class T>
  T wait(Task<T> task) {
    return run_task(io, std::move(task));
  }
  Result<SavedSecret> put(std::string name, std::string value) {
    return wait(vault->put(here, std::move(name), std::move(value), {}));
  }
  Result<std::string> find(std::string name) { return wait(vault->find(here, std::move(name))); }
  // As after a restart.
  void reopen() { vault.emplace(store, keys); }
  template <class T>
  static std::string reason(const Result<T>& result) {
    if (result) return "no error";
    const Error& error = result.error();
    return error.reason().empty() ? std::string(to_string(error.code())) : error.reason();
  }
  std::vector<Record> all(std::string kind) {
    return wait(store.list_records({.workspace = here, .kind = std::move(kind)})).value();
  }

  asio::io_context io;
  ManualClock clock{1'800'000'000'000};
  MemoryStore store{make_memory_store_data(), clock};
  TestKeys keys;
  std::optional<SecretVault> vault{std::in_place, store, keys};
  const WorkspaceSlug here = *WorkspaceSlug::parse("default");
  const WorkspaceSlug elsewhere = *WorkspaceSlug::parse("other");
};

TEST_F(SecretVaultTest, ASecretIsFoundAgainAfterARestart) {
  ASSERT_TRUE(put("TOKEN", std::string(kCanary)));
  reopen();

  EXPECT_EQ(find("TOKEN").value(), kCanary);
  EXPECT_EQ(reason(find("OTHER")), "not_found");
  EXPECT_EQ(reason(wait(vault->find(elsewhere, "TOKEN"))), "not_found");
}

TEST_F(SecretVaultTest, TheStoreNeverHoldsAValue) {
  ASSERT_TRUE(put("TOKEN", std::string(kCanary)));

  for (const char* kind : {"secret", "data_key"}) {
    ASSERT_EQ(all(kind).size(), 1U);
    EXPECT_EQ(all(kind).front().body.find(kCanary), std::string::npos);
    EXPECT_EQ(all(kind).front().body.find(crypto::to_hex(keys.keys.front())), std::string::npos);
  }
}

TEST_F(SecretVaultTest, NoKeyIsMadeUntilASecretIs) {
  EXPECT_EQ(reason(find("TOKEN")), "not_found");
  EXPECT_TRUE(wait(vault->list(here, "", 10)).value().secrets.empty());
  EXPECT_TRUE(keys.keys.empty());

  ASSERT_TRUE(put("TOKEN", "value"));

  EXPECT_EQ(keys.keys.size(), 1U);
}

TEST_F(SecretVaultTest, AValueCannotBeMovedToAnotherNameOrWorkspace) {
  ASSERT_TRUE(put("TOKEN", std::string(kCanary)));
  std::string body = all("secret").front().body;
  for (const WorkspaceSlug& workspace : {here, elsewhere}) {
    std::vector<RecordChange> copy;
    copy.push_back({.key = {.workspace = workspace, .kind = "secret", .id = "COPY"}, .body = body});
    ASSERT_TRUE(wait(store.change_records(std::move(copy))));
    EXPECT_EQ(reason(wait(vault->find(workspace, "COPY"))), "internal");
  }
}

TEST_F(SecretVaultTest, AMissingOrWrongKeyIsToldAtTheUse) {
  ASSERT_TRUE(put("TOKEN", std::string(kCanary)));
  keys.keys.clear();
  reopen();
  EXPECT_EQ(reason(find("TOKEN")), "secret_key_missing");
  EXPECT_EQ(reason(put("OTHER", "value")), "secret_key_missing");
  EXPECT_TRUE(keys.keys.empty());

  keys.keys = {crypto::random_seal_key()};
  reopen();
  EXPECT_EQ(reason(find("TOKEN")), "secret_key_wrong");
  EXPECT_EQ(find("TOKEN").error().describe().find(kCanary), std::string::npos);
}

TEST_F(SecretVaultTest, ANewKeyTakesOverFromTheOldOne) {
  ASSERT_TRUE(put("TOKEN", std::string(kCanary)));
  keys.keys.insert(keys.keys.begin(), crypto::random_seal_key());
  reopen();

  EXPECT_EQ(find("TOKEN").value(), kCanary);
  EXPECT_TRUE(wait(vault->rewrap()).value());
  EXPECT_FALSE(wait(vault->rewrap()).value());
  keys.keys.pop_back();
  reopen();

  EXPECT_EQ(find("TOKEN").value(), kCanary);
}

TEST_F(SecretVaultTest, AfterAKeyIsLostSecretsAreSetAgain) {
  ASSERT_TRUE(put("TOKEN", std::string(kCanary)));
  keys.keys = {crypto::random_seal_key()};
  reopen();
  ASSERT_TRUE(wait(vault->start_anew()));

  EXPECT_EQ(reason(find("TOKEN")), "secret_lost");
  ASSERT_TRUE(put("TOKEN", "another value"));
  EXPECT_EQ(find("TOKEN").value(), "another value");
}

TEST_F(SecretVaultTest, ASecretIsCreatedOnceAndReplacedByVersion) {
  const Idempotency key{.key = "k", .fingerprint = "f"};
  ASSERT_TRUE(wait(vault->create(here, "TOKEN", "first", key)));

  EXPECT_EQ(reason(wait(vault->create(here, "TOKEN", "first", key))), "no error");
  EXPECT_EQ(reason(wait(vault->create(here, "TOKEN", "first", {}))), "name_taken");
  EXPECT_EQ(reason(wait(vault->put(here, "TOKEN", "second", 7))), "version_mismatch");
  EXPECT_EQ(wait(vault->put(here, "TOKEN", "second", 1)).value().info.version, 2);
  EXPECT_EQ(find("TOKEN").value(), "second");
  EXPECT_EQ(reason(wait(vault->remove(here, "TOKEN", 1))), "version_mismatch");
  EXPECT_EQ(reason(wait(vault->remove(here, "TOKEN", {}))), "no error");
  EXPECT_EQ(reason(find("TOKEN")), "not_found");
}

TEST_F(SecretVaultTest, NamesAndValuesHaveLimits) {
  EXPECT_EQ(put("a b", "value").error().pointer(), "/name");
  EXPECT_EQ(put("TOKEN", "abc").error().pointer(), "/value");
  EXPECT_EQ(put("TOKEN", std::string(SecretVault::kValueBytesMax + 1, 'x')).error().limit(),
            "secretBytes");
  EXPECT_TRUE(put("TOKEN", std::string(SecretVault::kValueBytesMax, 'x')));
}

TEST_F(SecretVaultTest, HeadersOfToolsAreSealedUnlessTheyOnlyNameSecrets) {
  McpServer server{.name = "crm", .url = "https://crm.example.com"};
  server.headers = {{"X-Key", std::string(kCanary)}, {"Authorization", "Bearer {{secret:TOKEN}}"}};
  ToolSetPtr given = share_tools({server});

  ToolSetPtr sealed = wait(vault->seal_headers(here, given)).value();
  ToolSetPtr again = wait(vault->seal_headers(here, sealed)).value();

  std::string text;
  write(text, *sealed);
  EXPECT_EQ(text.find(kCanary), std::string::npos);
  EXPECT_NE(text.find("Bearer {{secret:TOKEN}}"), std::string::npos);
  EXPECT_EQ(again, sealed);
  ASSERT_TRUE(put("TOKEN", "t0ken"));
  reopen();
  CallSecrets secrets(&*vault, here);
  Headers filled = wait(secrets.fill(std::get<McpServer>(sealed->refs[0]).headers)).value();
  EXPECT_EQ(filled, (Headers{{"X-Key", std::string(kCanary)}, {"Authorization", "Bearer t0ken"}}));
  CallSecrets others(&*vault, elsewhere);
  EXPECT_FALSE(wait(others.fill(std::get<McpServer>(sealed->refs[0]).headers)));
}

TEST_F(SecretVaultTest, WhatACallWasGivenIsBlottedOut) {
  ASSERT_TRUE(put("TOKEN", "a \"quoted\" one/two"));
  CallSecrets secrets(&*vault, here);
  EXPECT_EQ(secrets.blot_out("a \"quoted\" one/two"), "a \"quoted\" one/two");
  ASSERT_TRUE(wait(secrets.find("TOKEN")));

  EXPECT_EQ(secrets.blot_out("<a \"quoted\" one/two>"), "<[redacted]>");
  EXPECT_EQ(secrets.blot_out("u=a%20%22quoted%22%20one%2Ftwo"), "u=[redacted]");
  EXPECT_EQ(secrets.blot_out(R"({"t":"a \"quoted\" one/two"})"), R"({"t":"[redacted]"})");
}

TEST_F(SecretVaultTest, ASecretThatWasCutOffIsBlottedOutToo) {
  ASSERT_TRUE(put("TOKEN", std::string(kCanary)));
  CallSecrets secrets(&*vault, here);
  ASSERT_TRUE(wait(secrets.find("TOKEN")));

  EXPECT_EQ(secrets.blot_out("you sent canary-5e1f-valu"), "you sent [redacted]");
  EXPECT_EQ(secrets.blot_out("you sent cana"), "you sent [redacted]");
  EXPECT_EQ(secrets.blot_out("a word that ends in can"), "a word that ends in can");
  EXPECT_EQ(secrets.blot_out("canary-5e1f is a bird"), "canary-5e1f is a bird");
}

TEST_F(SecretVaultTest, APlaceholderThatIsMalformedIsAnError) {
  CallSecrets secrets(&*vault, here);
  EXPECT_EQ(wait(secrets.fill(std::string("plain"))).value(), "plain");
  EXPECT_EQ(reason(wait(secrets.fill(std::string("{{secret:a b}}")))), "invalid_argument");
  EXPECT_EQ(reason(wait(secrets.fill(std::string("{{secret:A")))), "invalid_argument");
  EXPECT_EQ(reason(wait(secrets.fill(std::string("{{secret:NONE}}")))), "not_found");
}

}  // namespace
}  // namespace errand::engine::secret_vault_test
