#include "store/sqlite/changes/timekeeper.hpp"

#include "store/sqlite/sqlite_fixture.hpp"

namespace errand::timekeeper_test {
namespace {

using namespace store_contract;

class StoreTimeTest : public testing::Test {
 protected:
  void create(int number) { ASSERT_TRUE(wait_for(file_.store().create(new_run(number)))); }
  // What the store's clock would say after the end of this process without a word.
  StoreTime after_a_crash() {
    const std::string copy = cat(file_.folder(), "/copy.db");
    for (const char* suffix : {"", "-wal"}) {
      std::filesystem::copy_file(file_.path() + suffix, copy + suffix,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    return file_.open(copy).value()->now();
  }

  SqliteFile file_;
};

TEST_F(StoreTimeTest, IsSavedWithCommitsAboutOnceASecond) {
  file_.clock().pass(seconds(5));
  create(1);
  EXPECT_EQ(after_a_crash(), StoreTime(seconds(5)));

  file_.clock().pass(milliseconds(999));
  create(2);
  EXPECT_EQ(after_a_crash(), StoreTime(seconds(5)));

  file_.clock().pass(milliseconds(1));
  create(3);
  EXPECT_EQ(after_a_crash(), StoreTime(seconds(6)));
}

TEST_F(StoreTimeTest, IsSavedByARenewal) {
  file_.clock().pass(milliseconds(7));

  EXPECT_EQ(wait_for(file_.store().renew()).value().lease_left, milliseconds::max());

  EXPECT_EQ(after_a_crash(), StoreTime(milliseconds(7)));
}

TEST_F(StoreTimeTest, IsSavedWhenTheStoreCloses) {
  file_.clock().pass(milliseconds(7));
  file_.close();

  file_.clock().pass(seconds(100));
  file_.reopen();

  EXPECT_EQ(file_.store().now(), StoreTime(milliseconds(7)));
}

TEST_F(StoreTimeTest, MailThatIsRefusedWaitsForNoDisk) {
  create(1);
  const std::uint64_t before = file_.store().counts().pages;
  file_.clock().pass(seconds(5));

  EXPECT_EQ(wait_for(file_.store().mail(answer(1, "tu_a", "x"))).value(),
            MailOutcome::unknown_slot);

  EXPECT_EQ(file_.store().counts().pages, before);
}

}  // namespace
}  // namespace errand::timekeeper_test
