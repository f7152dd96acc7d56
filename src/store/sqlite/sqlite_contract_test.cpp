#include "store/sqlite/sqlite_fixture.hpp"
#include "store/store_contract_blobs.hpp"
#include "store/store_contract_claims.hpp"
#include "store/store_contract_commits.hpp"
#include "store/store_contract_growth.hpp"
#include "store/store_contract_histories.hpp"
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

namespace errand::sqlite_contract_test {
namespace {

class SqliteSubject final : public Subject {
 public:
  Store& store() override { return file_.store(); }
  ManualClock& clock() override { return file_.clock(); }
  void close() override { file_.close(); }
  void reopen() override { file_.reopen(); }

 private:
  SqliteFile file_;
};

std::unique_ptr<Subject> make_subject() {
  return std::make_unique<SqliteSubject>();
}

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreContract, testing::Values(make_subject));

}  // namespace
}  // namespace errand::sqlite_contract_test
