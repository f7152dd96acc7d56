#include "store/sqlite/sqlite_fixture.hpp"
#include "store/store_contract_lists.hpp"
#include "store/store_contract_log.hpp"
#include "store/store_contract_mail.hpp"

namespace errand {
namespace {

class SqliteSubject final : public Subject {
 public:
  Store& store() override { return file_.store(); }
  void reopen() override { file_.reopen(); }

 private:
  SqliteFile file_;
};

std::unique_ptr<Subject> make_subject() {
  return std::make_unique<SqliteSubject>();
}

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract, testing::Values(make_subject));

}  // namespace
}  // namespace errand
