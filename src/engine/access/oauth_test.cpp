#include "engine/access/oauth.hpp"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "store/memory/memory_store.hpp"
#include "store/memory/test_faulty_store.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::engine::oauth_test {
namespace {

using Scopes = std::vector<std::string>;

class OAuthTest : public testing::Test {
 protected:
  OAuthTest() { start(); }

  // Another process on the same disk.
  void start() {
    oauth_.reset();
    faulty_.reset();
    store_.reset();
    store_.emplace(data_, clock_);
    faulty_.emplace(*store_, [this](FaultyStore::Operation op) {
      return op.kind == FaultyStore::Kind::read ? FaultyStore::Fault::none : fault_;
    });
    oauth_.emplace(*faulty_, clock_);
    EXPECT_TRUE(run_task(io_, oauth_->load({workspace_})));
  }
  NewOAuthClient create() {
    return run_task(io_, oauth_->create(workspace_,
                                        {.name = "portal",
                                         .grant = {.scopes = {{"runs:read", "runs:write"}}}}))
        .value();
  }
  Result<OAuthTokens> issue(const NewOAuthClient& made, Scopes scopes = {}) {
    return run_task(io_, oauth_->issue(made.client.id, std::move(scopes)));
  }
  std::size_t tokens_stored() {
    return run_task(io_, store_->list_records({.workspace = workspace_, .kind = "oauth-token"}))
        ->size();
  }

  const WorkspaceSlug workspace_ = *WorkspaceSlug::parse("acme");
  ManualClock clock_{1'000'000};
  std::shared_ptr<MemoryStoreData> data_ = make_memory_store_data();
  std::optional<MemoryStore> store_;
  FaultyStore::Fault fault_ = FaultyStore::Fault::none;  // of every write
  std::optional<FaultyStore> faulty_;
  std::optional<OAuth> oauth_;
  asio::io_context io_;  // last: calls that never return use the others
};

TEST_F(OAuthTest, ATokenHasTheScopesThatWereAskedFor) {
  auto made = create();
  auto all = issue(made).value();
  EXPECT_EQ(all.scopes, (Scopes{"runs:read", "runs:write"}));
  auto some = issue(made, {"runs:read"}).value();
  auto who = oauth_->find(some.access_token);
  ASSERT_TRUE(who);
  EXPECT_EQ(who->workspace, workspace_);
  EXPECT_EQ(who->key, made.client.id);
  EXPECT_TRUE(who->has_scope("runs:read"));
  EXPECT_FALSE(who->has_scope("runs:write"));
  EXPECT_EQ(issue(made, {"keys:write"}).error().code(), ErrorCode::forbidden);
}

TEST_F(OAuthTest, TokensExpireAndOutliveARestart) {
  auto made = create();
  auto tokens = issue(made).value();
  clock_.pass(seconds(3599));
  start();
  EXPECT_TRUE(oauth_->find(tokens.access_token));
  EXPECT_EQ(oauth_->time_left(tokens.access_token), milliseconds(1000));
  clock_.pass(seconds(1));
  EXPECT_FALSE(oauth_->find(tokens.access_token));
}

TEST_F(OAuthTest, OnlyHashesAreStored) {
  auto made = create();
  auto tokens = issue(made).value();
  for (const char* kind : {"oauth-client", "oauth-token"}) {
    auto records = run_task(io_, store_->list_records({.workspace = workspace_, .kind = kind}));
    ASSERT_EQ(records->size(), 1U);
    std::string text = records->front().key.id + records->front().body;
    for (const std::string& secret : {made.secret, made.refresh_token, tokens.access_token}) {
      EXPECT_EQ(text.find(secret.substr(12)), std::string::npos);
    }
  }
}

TEST_F(OAuthTest, AClientIsKnownByItsSecret) {
  auto made = create();
  start();
  EXPECT_TRUE(oauth_->authenticate(made.client.id.view(), made.secret));
  EXPECT_FALSE(oauth_->authenticate(made.client.id.view(), "wrong"));
  EXPECT_FALSE(oauth_->authenticate("mantyx_oa_none", made.secret));
  const OAuthClient* client = oauth_->authenticate(made.client.id.view(), made.secret);
  EXPECT_TRUE(oauth_->is_refresh_token(*client, made.refresh_token));
  EXPECT_FALSE(oauth_->is_refresh_token(*client, ""));
}

TEST_F(OAuthTest, AnAccessTokenIsRevokedAlone) {
  auto made = create();
  auto first = issue(made).value();
  auto second = issue(made).value();
  EXPECT_TRUE(run_task(io_, oauth_->revoke(made.client.id, first.access_token)));
  EXPECT_FALSE(oauth_->find(first.access_token));
  EXPECT_TRUE(oauth_->find(second.access_token));
  EXPECT_TRUE(run_task(io_, oauth_->revoke(made.client.id, "unknown")));
}

TEST_F(OAuthTest, ARefreshTokenTakesAllTokensAlong) {
  auto made = create();
  auto tokens = issue(made).value();
  EXPECT_TRUE(run_task(io_, oauth_->revoke(made.client.id, made.refresh_token)));
  for (int process = 0; process < 2; ++process) {
    EXPECT_FALSE(oauth_->find(tokens.access_token));
    const OAuthClient* client = oauth_->authenticate(made.client.id.view(), made.secret);
    ASSERT_TRUE(client);
    EXPECT_FALSE(oauth_->is_refresh_token(*client, made.refresh_token));
    start();
  }
}

// A restart reads what was written, so a revocation that was not written must not look like one.
TEST_F(OAuthTest, ARevocationThatTheStoreDidNotTakeCanBeAskedForAgain) {
  using Fault = FaultyStore::Fault;
  for (Fault fault : {Fault::fail_before, Fault::fail_after}) {
    auto made = create();
    const std::string one = issue(made)->access_token;
    const std::string other = issue(made)->access_token;
    fault_ = fault;
    EXPECT_FALSE(run_task(io_, oauth_->revoke(made.client.id, one)));
    EXPECT_FALSE(run_task(io_, oauth_->revoke(made.client.id, made.refresh_token)));
    fault_ = Fault::none;
    EXPECT_EQ(run_task(io_, oauth_->revoke(made.client.id, one)).value(), OAuth::Revoked::token);
    EXPECT_EQ(run_task(io_, oauth_->revoke(made.client.id, made.refresh_token)).value(),
              OAuth::Revoked::client);
    start();
    EXPECT_FALSE(oauth_->find(one));
    EXPECT_FALSE(oauth_->find(other));
    const OAuthClient* client = oauth_->authenticate(made.client.id.view(), made.secret);
    ASSERT_TRUE(client);
    EXPECT_FALSE(oauth_->is_refresh_token(*client, made.refresh_token));
  }
}

TEST_F(OAuthTest, ARemovedClientLeavesNothing) {
  auto made = create();
  auto tokens = issue(made).value();
  auto elsewhere = *WorkspaceSlug::parse("other");
  EXPECT_FALSE(run_task(io_, oauth_->remove(elsewhere, made.client.id)));
  EXPECT_TRUE(run_task(io_, oauth_->remove(workspace_, made.client.id)));
  EXPECT_FALSE(oauth_->find(tokens.access_token));
  EXPECT_FALSE(oauth_->authenticate(made.client.id.view(), made.secret));
  EXPECT_EQ(tokens_stored(), 0U);
}

// A token may be on its way into the store while its client is removed, in either order.
TEST_F(OAuthTest, ATokenThatIsStoredWhileItsClientIsRemovedIsNotLeftBehind) {
  auto made = create();
  const KeyId client = made.client.id;
  std::optional<Result<OAuthTokens>> before;
  std::optional<Result<OAuthTokens>> after;
  std::optional<Result<void>> removed;
  fault_ = FaultyStore::Fault::stop_after;  // the process dies with both on their way
  asio::co_spawn(io_, detail::keep_value(oauth_->issue(client, {}), &before), asio::detached);
  asio::co_spawn(io_, detail::keep_value(oauth_->remove(workspace_, client), &removed),
                 asio::detached);
  asio::co_spawn(io_, detail::keep_value(oauth_->issue(client, {}), &after), asio::detached);
  run_ready(io_);
  EXPECT_FALSE(before || removed);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->error().code(), ErrorCode::not_found);
  EXPECT_EQ(tokens_stored(), 0U);
}

TEST_F(OAuthTest, ATokenThatTheStoreMayHaveTakenGoesWithItsClient) {
  auto made = create();
  fault_ = FaultyStore::Fault::fail_after;
  EXPECT_EQ(issue(made).error().code(), ErrorCode::outcome_unknown);
  fault_ = FaultyStore::Fault::none;
  EXPECT_EQ(tokens_stored(), 1U);
  EXPECT_TRUE(run_task(io_, oauth_->remove(workspace_, made.client.id)));
  EXPECT_EQ(tokens_stored(), 0U);
}

TEST_F(OAuthTest, TokensWithoutAClientAreRemovedAtTheNextStart) {
  auto made = create();
  EXPECT_TRUE(issue(made));
  std::vector<RecordChange> changes;
  changes.push_back(
      {.key = {.workspace = workspace_, .kind = "oauth-client", .id = made.client.id.str()},
       .body = {}});
  EXPECT_TRUE(run_task(io_, store_->change_records(std::move(changes))));
  start();
  EXPECT_EQ(tokens_stored(), 0U);
}

TEST_F(OAuthTest, ExpiredTokensAreClearedAway) {
  auto made = create();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(issue(made));
  clock_.pass(seconds(3600));
  EXPECT_TRUE(issue(made));
  EXPECT_EQ(tokens_stored(), 1U);
}

}  // namespace
}  // namespace errand::engine::oauth_test
