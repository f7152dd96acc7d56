#pragma once

#include <cstdint>
#include <vector>

#include "store/sqlite/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// What can be written, on one connection, inside a transaction that the caller begins and ends.
//
// A change that is refused (its Error is part of the Store's contract) has written nothing, so the
// transaction goes on. After any other Error the database has failed() and must be rolled back.
class Changes final {
 public:
  // `epoch` is this process's.
  Changes(Database& database, const Clock& clock, std::int64_t epoch);

  Result<CreateOutcome> create(const NewRun& run);
  Result<void> append(const AppendItem& item);
  Result<MailOutcome> mail(const Mail& mail);
  Result<std::vector<ClaimedRun>> claim(std::size_t limit);
  Result<void> release(const RunId& run, std::int64_t epoch);
  Result<void> add_key(const ApiKeyRow& key);
  Result<void> revoke_key(const WorkspaceSlug& workspace, const KeyId& id, WallTime at);

 private:
  Result<std::optional<CreateOutcome>> find_idempotent(const NewRun& run);
  Result<void> update_run(const AppendItem& item);
  Result<void> update_mail(const AppendItem& item);
  Error refusal(const AppendItem& item);
  Result<void> insert_segment(Statement& insert, const RunId& run, const Segment& segment);
  Result<std::vector<ClaimedRun>> claimable(std::size_t limit);

  Database& database_;
  const Clock& clock_;
  const std::int64_t epoch_;

  Statement find_idempotent_;
  Statement insert_idempotent_;
  Statement insert_run_;
  Statement insert_first_segment_;
  Statement insert_segment_;
  Statement advance_run_;
  Statement end_run_;
  Statement find_log_end_;
  Statement open_mailbox_;
  Statement close_mailbox_;
  Statement clear_mail_;
  Statement fill_mailbox_;
  Statement insert_cancel_;
  Statement find_claimable_;
  Statement set_epoch_;
  Statement find_mail_;
  Statement release_run_;
  Statement insert_api_key_;
  Statement revoke_api_key_;
};

}  // namespace errand::sqlite
