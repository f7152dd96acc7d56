#pragma once

#include <optional>
#include <vector>

#include "store/sqlite/file/database.hpp"
#include "store/sqlite/timekeeper.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What can be written to mailboxes, inside a transaction that the caller begins and ends.
class MailChanges final {
 public:
  MailChanges(Database& database, const Timekeeper& time);

  // Closes and opens what an append says.
  Result<void> update(const AppendItem& item);
  // Of a run that is there and has not ended.
  Result<MailOutcome> fill(const Mail& mail);
  Result<CallClaimOutcome> claim(const CallClaim& claim);
  // All mailboxes of a run; the unfilled ones stay open until then at least.
  Result<std::vector<Mailbox>> prolong(const RunId& run, StoreTime deadline_min);
  Result<void> clear(const RunId& run);

 private:
  Result<MailOutcome> fill_call(const Mail& mail);
  Result<std::optional<Mailbox>> find_open_call(const CallClaim& claim);

  Database& database_;
  const Timekeeper& time_;

  Statement open_;
  Statement close_;
  Statement clear_;
  Statement fill_;
  Statement find_unfilled_;
  Statement insert_cancel_;
  Statement find_open_call_;
  Statement set_claim_;
  Statement prolong_;
  Statement mail_of_run_;
};

}  // namespace errand::sqlite
