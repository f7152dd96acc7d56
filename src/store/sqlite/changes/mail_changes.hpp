#pragma once

#include <optional>
#include <vector>

#include "store/sqlite/changes/timekeeper.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What can be written to mailboxes, inside a transaction that the caller begins and ends.
class MailChanges final {
 public:
  MailChanges(Database& database, const Timekeeper& time);

  Result<void> open(const RunKey& run, const std::vector<Mailbox>& boxes);
  // Closes and opens what a commit says that does not end its run.
  Result<void> update(const Commit& commit);
  // The mail of a run when a commit ends it.
  enum class AtEnd { nothing, something, unread_cancel };  // not closed by the commit
  Result<AtEnd> at_end(const Commit& commit);
  Result<void> clear(const RunId& run);
  // Of a run that is there and has not ended.
  Result<MailOutcome> fill(const Mail& mail);
  Result<CallClaimOutcome> claim(const CallClaim& claim);
  // All mailboxes of a run; the unfilled ones stay open until then at least.
  Result<std::vector<Mailbox>> prolong(const RunKey& run, StoreTime deadline_min);

 private:
  Result<MailOutcome> answer(const Mail& mail);
  Result<std::optional<Mailbox>> find_open_call(const CallClaim& claim);

  Database& database_;
  const Timekeeper& time_;

  Statement open_;
  Statement close_;
  Statement clear_;
  Statement fill_;
  Statement find_unfilled_;
  Statement find_kinds_;
  Statement insert_request_;
  Statement find_open_call_;
  Statement set_claim_;
  Statement prolong_;
  Statement mail_of_run_;
};

}  // namespace errand::sqlite
