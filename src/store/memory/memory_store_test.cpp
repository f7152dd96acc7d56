#include "store/memory/memory_store.hpp"

#include "store/store_contract_lists.hpp"
#include "store/store_contract_log.hpp"
#include "store/store_contract_mail.hpp"

namespace errand {
namespace {

class MemorySubject final : public Subject {
 public:
  MemorySubject() { reopen(); }

  Store& store() override { return *store_; }
  void reopen() override { store_ = std::make_unique<MemoryStore>(data_, clock_); }

 private:
  FixedClock clock_;
  std::shared_ptr<MemoryStoreData> data_ = make_memory_store_data();
  std::unique_ptr<MemoryStore> store_;
};

std::unique_ptr<Subject> make_subject() {
  return std::make_unique<MemorySubject>();
}

INSTANTIATE_TEST_SUITE_P(Memory, StoreContract, testing::Values(make_subject));

TEST(MemoryStore, AnOlderStoreOnTheSameDataTakesNothingBack) {
  FixedClock clock;
  auto data = make_memory_store_data();
  MemoryStore older(data, clock);
  ASSERT_TRUE(wait_for(older.create(new_run(1))));
  MemoryStore newer(data, clock);
  ASSERT_EQ(wait_for(newer.claim(10)).value().size(), 1U);

  EXPECT_EQ(wait_for(older.claim(10)).value().size(), 0U);
}

}  // namespace
}  // namespace errand
