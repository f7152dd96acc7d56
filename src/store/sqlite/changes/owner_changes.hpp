#pragma once

#include <map>
#include <vector>

#include "store/sqlite/changes/mail_changes.hpp"

namespace errand::sqlite {

// Who owns runs, inside a transaction that the caller begins and ends.
class OwnerChanges final {
 public:
  // `epoch` is this process's.
  OwnerChanges(Database& database, const Timekeeper& time, std::int64_t epoch, MailChanges& mail);

  Result<ClaimedRuns> claim(const ClaimRuns& params);
  // conflict: it is not owned with this epoch.
  Result<void> release(const RunKey& run, std::int64_t epoch);
  Result<void> leave();

 private:
  Result<std::vector<RunRow>> find(const ClaimRuns& params);
  Result<std::size_t> count_claimable();
  Result<bool> has_left(std::int64_t epoch);

  Database& database_;
  const Timekeeper& time_;
  const std::int64_t epoch_;
  MailChanges& mail_;

  Statement find_claimable_;
  Statement find_one_;
  Statement count_claimable_;
  Statement set_epoch_;
  Statement release_;
  Statement leave_;
  Statement forget_left_;
  Statement find_left_;
};

}  // namespace errand::sqlite
