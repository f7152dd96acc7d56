#include "engine/access/key_ring.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "engine/access/workspaces.hpp"
#include "store/memory/memory_store.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::engine::key_ring_test {
namespace {

WorkspaceSlug slug(const char* text) {
  return *WorkspaceSlug::parse(text);
}

// A process with its keys, on a disk that outlives it.
struct Process {
  Process(const std::shared_ptr<MemoryStoreData>& data, ManualClock& clock)
      : store(data, clock), ids(clock, [] { return 7; }), keys(store, clock, ids) {
    EXPECT_TRUE(run_task(io, keys.load()));
  }

  NewKey create(KeyParams params, const char* workspace = "default") {
    return run_task(io, keys.create(slug(workspace), std::move(params), KeyRing::make_secret()))
        .value();
  }

  asio::io_context io;
  MemoryStore store;
  IdSource ids;
  KeyRing keys;
};

class KeyRingTest : public testing::Test {
 protected:
  Process& start() {
    process_.reset();
    return process_.emplace(data_, clock_);
  }

  ManualClock clock_{1'000'000};
  std::shared_ptr<MemoryStoreData> data_ = make_memory_store_data();
  std::optional<Process> process_;
};

TEST_F(KeyRingTest, AnUnrestrictedKeyMayDoEverything) {
  Process& process = start();
  auto made = process.create({.name = "laptop"});
  auto who = process.keys.find(made.secret);
  ASSERT_TRUE(who);
  EXPECT_EQ(who->workspace.view(), "default");
  EXPECT_TRUE(who->has_scope("runs:write"));
  EXPECT_TRUE(who->may_use_agent("anything"));
}

TEST_F(KeyRingTest, ScopesAndAgentsOutliveTheProcess) {
  auto made = start().create(
      {.name = "ci", .grant = {.scopes = {{"runs:read"}}, .agents = {{"reviewer"}}}});
  auto who = start().keys.find(made.secret);
  ASSERT_TRUE(who);
  EXPECT_TRUE(who->has_scope("runs:read"));
  EXPECT_FALSE(who->has_scope("runs:write"));
  EXPECT_TRUE(who->may_use_agent("reviewer"));
  EXPECT_FALSE(who->may_use_agent("deployer"));
}

TEST_F(KeyRingTest, AKeyExpires) {
  Process& process = start();
  auto made = process.create({.name = "short", .lives_for = seconds(10)});
  EXPECT_EQ(process.keys.time_left(made.key.row.id), milliseconds(10'000));
  clock_.pass(milliseconds(9'999));
  EXPECT_TRUE(process.keys.find(made.secret));
  clock_.pass(milliseconds(1));
  EXPECT_FALSE(process.keys.find(made.secret));
  EXPECT_FALSE(start().keys.find(made.secret));
}

TEST_F(KeyRingTest, ARevocationIsToldAtOnce) {
  Process& process = start();
  auto made = process.create({.name = "lost"});
  std::vector<KeyId> told;
  process.keys.on_revoked([&](const KeyId& key) { told.push_back(key); });
  EXPECT_TRUE(run_task(process.io, process.keys.revoke(slug("default"), made.key.row.id)));
  EXPECT_EQ(told, std::vector{made.key.row.id});
  EXPECT_FALSE(process.keys.is_good(made.key.row.id));
  EXPECT_FALSE(process.keys.find(made.secret));
}

TEST_F(KeyRingTest, TheLastUseIsStoredNowAndThen) {
  Process& process = start();
  auto made = process.create({.name = "used", .grant = {.scopes = {{"runs:read"}}}});
  clock_.pass(seconds(5));
  process.keys.find(made.secret);
  EXPECT_TRUE(run_task(process.io, process.keys.store_uses()));
  auto listed = start().keys.list(slug("default"));
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.front().more.last_used_at, from_millis(1'005'000));
  EXPECT_EQ(listed.front().more.grant.scopes, Grant::Names({"runs:read"}));
}

TEST_F(KeyRingTest, WhatRunsHaveUsedIsAddedUpAndOutlivesTheProcess) {
  Process& process = start();
  auto made = process.create({.name = "paying"});
  const KeyId& key = made.key.row.id;
  process.keys.add(key, {.usage = {.input_tokens = 100, .output_tokens = 10}, .cost_usd = 0.5});
  process.keys.add(key, {.usage = {.input_tokens = 20, .output_tokens = 2}, .cost_usd = 0.25});
  process.keys.add(key, {.usage = {.input_tokens = 3, .output_tokens = 1}});
  process.keys.add(*KeyId::parse("mantyx_oa_1"), {.cost_usd = 1});
  EXPECT_TRUE(run_task(process.io, process.keys.store_uses()));
  auto listed = start().keys.list(slug("default"));
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.front().more.usage, (KeyUsage{.runs = 3,
                                                 .input_tokens = 123,
                                                 .output_tokens = 13,
                                                 .cost_usd = 0.75,
                                                 .unpriced_runs = 1}));
}

TEST_F(KeyRingTest, ARepeatedRequestLeavesNothingBehind) {
  Process& process = start();
  auto create = [&] {
    return run_task(process.io,
                    process.keys.create_once(slug("default"),
                                             {.name = "ci", .grant = {.scopes = {{"runs:read"}}}},
                                             "secret", {.key = "once", .fingerprint = "f"}))
        .value();
  };
  auto first = create();
  auto second = create();
  EXPECT_EQ(first.secret, second.secret);
  EXPECT_EQ(first.key.row.id, second.key.row.id);
  EXPECT_EQ(second.key.more.grant.scopes, Grant::Names({"runs:read"}));
  RecordFilter filter{.workspace = slug("default"), .kind = "api-key"};
  EXPECT_EQ(run_task(process.io, process.store.list_records(filter)).value().size(), 1U);
}

TEST_F(KeyRingTest, ARecordOfANewerVersionStopsTheStart) {
  auto made = start().create({.name = "ci", .grant = {.scopes = {{"runs:read"}}}});
  RecordChange change{
      .key = {.workspace = slug("default"), .kind = "api-key", .id = made.key.row.id.str()},
      .body = R"({"version":2})"};
  EXPECT_TRUE(run_task(process_->io, process_->store.change_records({change})));
  KeyRing next(process_->store, clock_, process_->ids);
  EXPECT_FALSE(run_task(process_->io, next.load()));
}

TEST_F(KeyRingTest, AWorkspaceIsThereOnceAndHasAFirstKey) {
  Process& process = start();
  Workspaces workspaces(process.store, process.keys);
  auto made = run_task(process.io, workspaces.create(slug("acme"), "Acme Inc."));
  ASSERT_TRUE(made);
  EXPECT_EQ(process.keys.find(made->key.secret)->workspace, slug("acme"));
  auto again = run_task(process.io, workspaces.create(slug("acme"), "Other"));
  EXPECT_EQ(again.error().reason(), "workspace_exists");
  EXPECT_FALSE(run_task(process.io, workspaces.create(slug("default"), "Mine")));

  Process& next = start();
  auto listed = run_task(next.io, Workspaces(next.store, next.keys).list()).value();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed.front().slug, slug("acme"));
  EXPECT_EQ(listed.front().name, "Acme Inc.");
}

TEST_F(KeyRingTest, TheStoredKeyOfASecretThatTheFileNamesIsNotRevoked) {
  auto made = start().create({.name = "stored"});
  Process& process = start();
  ASSERT_TRUE(process.keys.adopt(slug("default"), made.secret));

  auto revoked = run_task(process.io, process.keys.revoke(slug("default"), made.key.row.id));

  ASSERT_FALSE(revoked);
  EXPECT_EQ(revoked.error().reason(), "key_of_configuration");
  auto elsewhere = run_task(process.io, process.keys.revoke(slug("other"), made.key.row.id));
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code(), ErrorCode::not_found);
  auto who = process.keys.find(made.secret);
  ASSERT_TRUE(who);
  EXPECT_NE(who->key, made.key.row.id);
  EXPECT_EQ(process.keys.list(slug("default")).size(), 1U);
}

}  // namespace
}  // namespace errand::engine::key_ring_test
