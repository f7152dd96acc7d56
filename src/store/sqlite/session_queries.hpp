#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/sqlite/common_ids.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/store.hpp"

namespace errand::sqlite {

// The place of a session in lists by the last use.
struct SessionUse {
  WallTime at{};
  std::string id = {};  // empty: there is no such place

  bool empty() const { return id.empty(); }
  friend bool operator==(const SessionUse&, const SessionUse&) = default;
};
inline SessionUse just_after(const SessionUse& use) {
  return {.at = use.at, .id = just_after(use.id)};
}

// What can be read of sessions, on a connection for reading, inside a transaction that the caller
// begins and ends.
class SessionQueries final {
 public:
  explicit SessionQueries(Database& database);

  Result<SessionRow> find(const SessionKey& session);
  // The last used first, by indices in this order. The sessions of a time are found by their ids;
  // if they are many, by their last use, past the sessions of other times.
  Result<std::vector<SessionRow>> list(const SessionFilter& filter);
  Result<std::int64_t> count(const SessionFilter& filter);
  // Runs that wait for the turn, of all sessions.
  Result<std::int64_t> count_waiting();
  Result<std::vector<SessionEntry>> read_newest_history(const SessionKey& session,
                                                        std::int64_t after, std::int64_t until,
                                                        std::size_t bytes_max);
  Result<std::vector<SessionEntry>> read_history(const SessionKey& session, std::int64_t after,
                                                 std::int64_t until, std::size_t bytes_max);
  Result<std::vector<RunRow>> runs(const SessionKey& session, const std::optional<RunId>& before,
                                   std::size_t limit);

 private:
  Result<std::vector<SessionId>> find_ids(const SessionFilter& filter);
  Result<std::vector<SessionId>> ids(const SessionFilter& filter);
  // Goes back from place to place that all parts of the filter have.
  Result<std::vector<SessionId>> common_ids(const SessionFilter& filter);
  Result<std::int64_t> count_labelled(const SessionFilter& filter);
  Result<std::int64_t> count_of_time(const SessionFilter& filter);
  Result<SessionUse> find_use(const SessionFilter& filter, SessionUse bound);
  Result<SessionUse> find_use_of(const SessionFilter& filter, std::size_t part,
                                 const SessionUse& before);
  Result<std::vector<SessionId>> ids_of_time(const SessionFilter& filter);
  // Calls `take` with the place of each session that the filter matches, on any page. False: there
  // are more than `places_max`.
  template <class Take>
  Result<bool> each_place(const SessionFilter& filter, std::size_t places_max, Take take);
  // Nothing if it was created at another time.
  Result<std::optional<SessionPlace>> place_of(const SessionFilter& filter, const std::string& id);
  // The last id before `bound` that one part of the filter has: a pair of its metadata, or, after
  // these, its status. A filter without any has all ids.
  Result<std::string> find_part(const SessionFilter& filter, std::size_t part,
                                std::string_view bound);

  // Entries with n in (after, until].
  struct EntryRange {
    std::int64_t after = 0;
    std::int64_t until = 0;
  };
  // In the order of the statement, until `bytes_max` is passed.
  Result<std::vector<SessionEntry>> read_entries(Statement& statement, const SessionKey& session,
                                                 EntryRange range, std::size_t bytes_max);

  Statement find_;
  Statement exists_;
  Statement ids_;
  Statement ids_by_status_;
  Statement count_;
  Statement count_by_status_;
  Statement count_of_time_;
  Statement count_of_time_by_status_;
  Statement count_waiting_;
  Statement find_id_;
  Statement times_;
  Statement count_by_label_;
  Statement find_label_;
  Statement find_status_;
  Statement find_use_;
  Statement find_label_use_;
  Statement find_status_use_;
  Statement history_;
  Statement newest_history_;
  Statement runs_;
};

}  // namespace errand::sqlite
