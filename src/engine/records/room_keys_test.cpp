#include "engine/records/room_keys.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <optional>

#include "store/memory/memory_store.hpp"
#include "support/manual_clock.hpp"
#include "support/run_task.hpp"

namespace errand::engine::room_keys_test {
namespace {

class RoomKeysTest : public testing::Test {
 protected:
  template <class T>
  T wait(Task<T> task) {
    return run_task(io, std::move(task));
  }
  // As after a restart.
  void reopen() {
    keys.reset();
    vault.emplace(store, masters);
    keys.emplace(store, *vault);
  }
  ErrorCode code_of(std::string id) { return wait(keys->find(std::move(id))).error().code(); }

  asio::io_context io;
  ManualClock clock{1'800'000'000'000};
  MemoryStore store{make_memory_store_data(), clock};
  PassingKeys masters;
  std::optional<SecretVault> vault{std::in_place, store, masters};
  std::optional<RoomKeys> keys{std::in_place, store, *vault};
  const WorkspaceSlug here = *WorkspaceSlug::parse("acme");
  const WorkspaceSlug elsewhere = *WorkspaceSlug::parse("other");
};

TEST_F(RoomKeysTest, AKeyIsFoundByItsIdAloneAfterARestart) {
  RoomKey made = wait(keys->create(here, "ci")).value();
  EXPECT_EQ(made.info.id.size(), 36U);
  EXPECT_EQ(made.secret.size(), 64U);
  reopen();
  RoomKey found = wait(keys->find(made.info.id)).value();
  EXPECT_EQ(found.secret, made.secret);
  EXPECT_EQ(found.workspace, here);
  EXPECT_EQ(found.project, RoomKeys::project_of(here));
  EXPECT_EQ(found.info.name, "ci");
  EXPECT_NE(found.project, RoomKeys::project_of(elsewhere));
}

TEST_F(RoomKeysTest, TheStoreNeverHoldsASecret) {
  RoomKey made = wait(keys->create(here, "ci")).value();
  auto records = wait(store.list_records({.workspace = here, .kind = "room_key"})).value();
  ASSERT_EQ(records.size(), 1U);
  EXPECT_EQ(records.front().body.find(made.secret), std::string::npos);
}

TEST_F(RoomKeysTest, AKeyIsListedAndRemovedInItsWorkspaceAlone) {
  RoomKey made = wait(keys->create(here, "ci")).value();
  EXPECT_EQ(wait(keys->list(elsewhere)).value().size(), 0U);
  EXPECT_EQ(wait(keys->list(here)).value().front().id, made.info.id);
  EXPECT_EQ(wait(keys->remove(elsewhere, made.info.id)).error().code(), ErrorCode::not_found);
  ASSERT_TRUE(wait(keys->find(made.info.id)));
  ASSERT_TRUE(wait(keys->remove(here, made.info.id)));
  EXPECT_EQ(code_of(made.info.id), ErrorCode::not_found);
  reopen();
  EXPECT_EQ(code_of(made.info.id), ErrorCode::not_found);
}

TEST_F(RoomKeysTest, ARequestThatIsRepeatedGivesTheKeyThatItMade) {
  const Idempotency again{.key = "once", .fingerprint = "f"};
  RoomKey made = wait(keys->create(here, "ci", again)).value();
  reopen();
  RoomKey repeated = wait(keys->create(here, "ci", again)).value();
  EXPECT_EQ(repeated.info.id, made.info.id);
  EXPECT_EQ(repeated.secret, made.secret);
  EXPECT_EQ(wait(keys->list(here)).value().size(), 1U);
  EXPECT_EQ(wait(keys->create(here, "cd", again)).error().reason(), "idempotency_conflict");
  EXPECT_NE(wait(keys->create(elsewhere, "ci", again)).value().secret, made.secret);
  EXPECT_NE(wait(keys->create(here, "ci")).value().info.id, made.info.id);
}

TEST_F(RoomKeysTest, TheServersOwnKeyIsMadeOnce) {
  RoomKey first = wait(keys->signing_key(here)).value();
  reopen();
  RoomKey second = wait(keys->signing_key(here)).value();
  EXPECT_EQ(first.secret, second.secret);
  EXPECT_NE(wait(keys->signing_key(elsewhere)).value().secret, first.secret);
  ASSERT_TRUE(wait(keys->remove(here, first.info.id)));
  EXPECT_NE(wait(keys->signing_key(here)).value().secret, first.secret);
}

}  // namespace
}  // namespace errand::engine::room_keys_test
