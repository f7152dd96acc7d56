#include "store/memory/memory_store.hpp"

#include "store/store_contract_blobs.hpp"
#include "store/store_contract_claims.hpp"
#include "store/store_contract_commits.hpp"
#include "store/store_contract_growth.hpp"
#include "store/store_contract_histories.hpp"
#include "store/store_contract_leases.hpp"
#include "store/store_contract_lists.hpp"
#include "store/store_contract_log.hpp"
#include "store/store_contract_mail.hpp"
#include "store/store_contract_owners.hpp"
#include "store/store_contract_records.hpp"
#include "store/store_contract_removal.hpp"
#include "store/store_contract_sessions.hpp"
#include "store/store_contract_time.hpp"
#include "store/store_contract_turns.hpp"
#include "store/store_contract_workspaces.hpp"

namespace errand::memory_store_test {
namespace {

class MemorySubject final : public Subject {
 public:
  MemorySubject() { reopen(); }

  Store& store() override { return *store_; }
  ManualClock& clock() override { return clock_; }
  void close() override { store_.reset(); }
  void reopen() override { store_ = std::make_unique<MemoryStore>(data_, clock_); }

 private:
  ManualClock clock_{kStart};
  std::shared_ptr<MemoryStoreData> data_ = make_memory_store_data();
  std::unique_ptr<MemoryStore> store_;
};

std::unique_ptr<Subject> make_subject() {
  return std::make_unique<MemorySubject>();
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(make_subject));

class MemoryFleet final : public Fleet {
 public:
  Store& first() override { return first_; }
  Store& second() override { return second_; }
  ManualClock& clock() override { return clock_; }

 private:
  ManualClock clock_{kStart};
  std::shared_ptr<MemoryStoreData> data_ = make_memory_store_data();
  MemoryStore first_{data_, clock_, kLease};
  MemoryStore second_{data_, clock_, kLease};
};

std::unique_ptr<Fleet> make_fleet() {
  return std::make_unique<MemoryFleet>();
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreLeaseContract, testing::Values(make_fleet));

TEST(MemoryStore, AnOlderStoreOnTheSameDataTakesNothingBack) {
  ManualClock clock(kStart);
  auto data = make_memory_store_data();
  MemoryStore older(data, clock);
  ASSERT_TRUE(wait_for(older.create(new_run(1))));
  MemoryStore newer(data, clock);
  ASSERT_EQ(wait_for(newer.claim({.limit = 10})).value().runs.size(), 1U);

  EXPECT_EQ(wait_for(older.claim({.limit = 10})).value().runs.size(), 0U);
}

}  // namespace
}  // namespace errand::memory_store_test
