#include "store/sqlite/session_queries.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

constexpr const char* kFind =
    "SELECT s.workspace, s.id, status, name, spec, metadata, created_at, last_used_at, ended_at, "
    "entries, turn, (SELECT count(*) FROM session_runs INDEXED BY waiting "
    "WHERE workspace = s.workspace AND session = s.id AND place <> 0), bytes "
    "FROM sessions AS s CROSS JOIN session_settings AS t "
    "ON t.workspace = s.workspace AND t.session = s.id WHERE s.workspace = ? AND s.id = ?";
constexpr const char* kExists = "SELECT 1 FROM sessions WHERE workspace = ? AND id = ?";
// A page continues behind a place, which is the time of the last use and then the id.
// Sessions of all states are merged from the lists of each state.
constexpr const char* kIds =
    "SELECT last_used_at, id FROM sessions INDEXED BY session_status_uses "
    "WHERE workspace = ?1 AND status = 0 AND (last_used_at, id) < (?2, ?3) UNION ALL "
    "SELECT last_used_at, id FROM sessions INDEXED BY session_status_uses "
    "WHERE workspace = ?1 AND status = 1 AND (last_used_at, id) < (?2, ?3) "
    "ORDER BY last_used_at DESC, id DESC LIMIT ?4 OFFSET ?5";
static_assert(static_cast<int>(SessionStatus::active) == 0 &&
              static_cast<int>(SessionStatus::ended) == 1);
constexpr const char* kIdsByStatus =
    "SELECT last_used_at, id FROM sessions INDEXED BY session_status_uses "
    "WHERE workspace = ? AND status = ? AND (last_used_at, id) < (?, ?) "
    "ORDER BY last_used_at DESC, id DESC LIMIT ? OFFSET ?";
constexpr const char* kFindId =
    "SELECT id FROM sessions WHERE workspace = ? AND id < ? ORDER BY id DESC LIMIT 1";
constexpr const char* kTimes =
    "SELECT created_at, last_used_at FROM sessions WHERE workspace = ? AND id = ?";
constexpr const char* kCount =
    "SELECT count(*) FROM sessions INDEXED BY session_statuses WHERE workspace = ?";
constexpr const char* kCountByStatus =
    "SELECT count(*) FROM sessions INDEXED BY session_statuses WHERE workspace = ? AND status = ?";
// Tables WITHOUT ROWID are in the order of their keys: these statements count the sessions of a
// time range.
constexpr const char* kCountOfTime =
    "SELECT count(*) FROM sessions WHERE workspace = ? AND id >= ? AND id < ? "
    "AND created_at >= ? AND created_at < ?";
constexpr const char* kCountOfTimeByStatus =
    "SELECT count(*) FROM sessions WHERE workspace = ? AND id >= ? AND id < ? "
    "AND created_at >= ? AND created_at < ? AND status = ?";
constexpr const char* kCountWaiting =
    "SELECT count(*) FROM session_runs INDEXED BY waiting WHERE place <> 0";
constexpr const char* kFindSessionLabel =
    "SELECT session FROM session_labels WHERE workspace = ? AND key = ? AND value = ? "
    "AND session < ? ORDER BY session DESC LIMIT 1";
constexpr const char* kCountByLabel =
    "SELECT count(*) FROM session_label_uses WHERE workspace = ? AND key = ? AND value = ?";
// Each finds the last place before a given one, of a session whose id lies between two ids.
constexpr const char* kFindUse =
    "SELECT last_used_at, id FROM sessions INDEXED BY session_status_uses "
    "WHERE workspace = ?1 AND status = 0 AND (last_used_at, id) < (?2, ?3) "
    "AND id >= ?4 AND id < ?5 UNION ALL "
    "SELECT last_used_at, id FROM sessions INDEXED BY session_status_uses "
    "WHERE workspace = ?1 AND status = 1 AND (last_used_at, id) < (?2, ?3) "
    "AND id >= ?4 AND id < ?5 ORDER BY last_used_at DESC, id DESC LIMIT 1";
constexpr const char* kFindLabelUse =
    "SELECT last_used_at, session FROM session_label_uses "
    "WHERE workspace = ? AND key = ? AND value = ? AND (last_used_at, session) < (?, ?) "
    "AND session >= ? AND session < ? "
    "ORDER BY last_used_at DESC, session DESC LIMIT 1";
constexpr const char* kFindStatusUse =
    "SELECT last_used_at, id FROM sessions INDEXED BY session_status_uses "
    "WHERE workspace = ? AND status = ? AND (last_used_at, id) < (?, ?) AND id >= ? AND id < ? "
    "ORDER BY last_used_at DESC, id DESC LIMIT 1";
constexpr const char* kFindStatus =
    "SELECT id FROM sessions INDEXED BY session_statuses "
    "WHERE workspace = ? AND status = ? AND id < ? ORDER BY id DESC LIMIT 1";
constexpr const char* kHistory =
    "SELECT n, run, body FROM session_history INDEXED BY session_entries "
    "WHERE workspace = ? AND session = ? AND n > ? AND n <= ? ORDER BY n";
constexpr const char* kNewestHistory =
    "SELECT n, run, body FROM session_history INDEXED BY session_entries "
    "WHERE workspace = ? AND session = ? AND n > ? AND n <= ? ORDER BY n DESC";
constexpr const char* kRuns =
    "SELECT runs.*, s.session FROM session_runs AS s INDEXED BY runs_of_session CROSS JOIN runs "
    "ON runs.workspace = s.workspace AND runs.id = s.run "
    "WHERE s.workspace = ? AND s.session = ? AND s.run < ? ORDER BY s.run DESC LIMIT ?";

SessionRow read_session(const Rows& rows) {
  SessionRow row{.id = rows.id<SessionId>(1),
                 .workspace = rows.id<WorkspaceSlug>(0),
                 .status = static_cast<SessionStatus>(rows.integer(2)),
                 .name = rows.text(3),
                 .spec = rows.text(4),
                 .metadata = rows.text(5),
                 .created_at = rows.time(6),
                 .last_used_at = rows.time(7),
                 .entries = rows.integer(9),
                 .current = RunId::parse(rows.view(10)),
                 .queued = rows.integer(11),
                 .history_bytes = rows.integer(12)};
  if (!rows.is_null(8)) row.ended_at = rows.time(8);
  return row;
}

// At most this many sessions of a time range are sorted; a list of more sessions walks along their
// last use.
constexpr std::size_t kSortedMax = 1000;

Error no_such_session() {
  return Error(ErrorCode::not_found, "there is no such session");
}

std::string bound_of(const SessionFilter& filter) {
  return filter.created.last.empty() ? std::string(kAfterAllIds) : filter.created.last;
}

// The place from which a list goes back: the end of the previous page, or behind all sessions.
SessionUse start_of(const SessionFilter& filter) {
  if (!filter.before) return {.at = WallTime::max(), .id = std::string(kAfterAllIds)};
  return {.at = filter.before->last_used_at, .id = filter.before->session.str()};
}

// The number of parts of a filter that have an index each.
std::size_t parts_of(const SessionFilter& filter) {
  return std::max<std::size_t>(1, filter.metadata.size() + (filter.status ? 1 : 0));
}

Result<SessionUse> read_use(Rows rows) {
  ERRAND_TRY(bool found, rows.next());
  return found ? SessionUse{.at = rows.time(0), .id = rows.text(1)} : SessionUse();
}

Result<std::int64_t> read_count(Rows rows) {
  ERRAND_TRY([[maybe_unused]] bool found, rows.next());
  return rows.integer(0);
}

Result<std::vector<SessionId>> read_ids(Rows rows) {
  std::vector<SessionId> ids;
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return ids;
    ids.push_back(rows.id<SessionId>(1));
  }
}

Result<std::string> read_first(Rows rows) {
  ERRAND_TRY(bool found, rows.next());
  return found ? rows.text(0) : std::string();
}

}  // namespace

SessionQueries::SessionQueries(Database& database)
    : find_(database, kFind),
      exists_(database, kExists),
      ids_(database, kIds),
      ids_by_status_(database, kIdsByStatus),
      count_(database, kCount),
      count_by_status_(database, kCountByStatus),
      count_of_time_(database, kCountOfTime),
      count_of_time_by_status_(database, kCountOfTimeByStatus),
      count_waiting_(database, kCountWaiting),
      find_id_(database, kFindId),
      times_(database, kTimes),
      count_by_label_(database, kCountByLabel),
      find_label_(database, kFindSessionLabel),
      find_status_(database, kFindStatus),
      find_use_(database, kFindUse),
      find_label_use_(database, kFindLabelUse),
      find_status_use_(database, kFindStatusUse),
      history_(database, kHistory),
      newest_history_(database, kNewestHistory),
      runs_(database, kRuns) {}

Result<SessionRow> SessionQueries::find(const SessionKey& session) {
  Rows rows = find_.query(session.workspace, session.session);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return no_such_session();
  return read_session(rows);
}

Result<std::vector<SessionRow>> SessionQueries::list(const SessionFilter& filter) {
  ERRAND_TRY(auto found, find_ids(filter));
  std::vector<SessionRow> sessions;
  for (const SessionId& id : found) {
    ERRAND_TRY(SessionRow row, find({.workspace = filter.workspace, .session = id}));
    sessions.push_back(std::move(row));
  }
  return sessions;
}

Result<std::vector<SessionId>> SessionQueries::find_ids(const SessionFilter& filter) {
  if (filter.created.is_given()) return ids_of_time(filter);
  return filter.metadata.empty() ? ids(filter) : common_ids(filter);
}

Result<std::vector<SessionId>> SessionQueries::ids(const SessionFilter& filter) {
  const SessionUse start = start_of(filter);
  if (!filter.status) {
    return read_ids(ids_.query(filter.workspace, start.at, start.id, filter.limit, filter.offset));
  }
  return read_ids(ids_by_status_.query(filter.workspace, *filter.status, start.at, start.id,
                                       filter.limit, filter.offset));
}

Result<std::vector<SessionId>> SessionQueries::common_ids(const SessionFilter& filter) {
  std::vector<SessionId> ids;
  std::size_t to_skip = filter.offset;
  for (SessionUse bound = start_of(filter); ids.size() < filter.limit;) {
    ERRAND_TRY(bound, find_use(filter, std::move(bound)));
    if (bound.empty()) return ids;
    if (filter.created.is_given()) {
      ERRAND_TRY(auto place, place_of(filter, bound.id));
      if (!place) continue;
    }
    if (to_skip > 0) {
      --to_skip;
    } else {
      ids.push_back(SessionId::parse(bound.id).value_or(SessionId()));
    }
  }
  return ids;
}

// The last place before `bound` of a session that has all labels and the status of the filter.
Result<SessionUse> SessionQueries::find_use(const SessionFilter& filter, SessionUse bound) {
  return find_common_place(parts_of(filter), std::move(bound),
                           [&](std::size_t part, const SessionUse& before) {
                             return find_use_of(filter, part, before);
                           });
}

// The same for one part of the filter alone.
Result<SessionUse> SessionQueries::find_use_of(const SessionFilter& filter, std::size_t part,
                                               const SessionUse& before) {
  const std::string& first = filter.created.first;
  const std::string last = bound_of(filter);
  if (part < filter.metadata.size()) {
    const auto& [key, value] = filter.metadata[part];
    return read_use(
        find_label_use_.query(filter.workspace, key, value, before.at, before.id, first, last));
  }
  if (!filter.status) {
    return read_use(find_use_.query(filter.workspace, before.at, before.id, first, last));
  }
  return read_use(
      find_status_use_.query(filter.workspace, *filter.status, before.at, before.id, first, last));
}

Result<std::int64_t> SessionQueries::count_labelled(const SessionFilter& filter) {
  if (parts_of(filter) == 1) {
    const auto& [key, value] = filter.metadata.front();
    return read_count(count_by_label_.query(filter.workspace, key, value));
  }
  SessionFilter all = filter;
  all.before.reset();
  std::int64_t count = 0;
  for (SessionUse bound = start_of(all);; ++count) {
    ERRAND_TRY(bound, find_use(all, std::move(bound)));
    if (bound.empty()) return count;
  }
}

Result<std::vector<SessionId>> SessionQueries::ids_of_time(const SessionFilter& filter) {
  std::vector<SessionPlace> places;
  ERRAND_TRY(bool are_all, each_place(filter, kSortedMax, [&](const SessionPlace& place) {
               if (!filter.before || place < *filter.before) places.push_back(place);
             }));
  if (!are_all) return common_ids(filter);
  const std::size_t skipped = std::min(filter.offset, places.size());
  const std::size_t end = skipped + std::min(filter.limit, places.size() - skipped);
  auto at = [&places](std::size_t n) { return places.begin() + static_cast<std::ptrdiff_t>(n); };
  std::partial_sort(at(0), at(end), places.end(), std::greater<>());
  std::vector<SessionId> found;
  for (std::size_t i = skipped; i < end; ++i) found.push_back(places[i].session);
  return found;
}

Result<std::int64_t> SessionQueries::count(const SessionFilter& filter) {
  if (filter.created.is_given()) return count_of_time(filter);
  if (!filter.metadata.empty()) return count_labelled(filter);
  if (!filter.status) return read_count(count_.query(filter.workspace));
  return read_count(count_by_status_.query(filter.workspace, *filter.status));
}

Result<std::int64_t> SessionQueries::count_of_time(const SessionFilter& filter) {
  const CreatedBetween& created = filter.created;
  if (filter.metadata.empty()) {
    const WallTime from = created.from.value_or(WallTime::min());
    const WallTime until = created.until.value_or(WallTime::max());
    const std::string last = bound_of(filter);
    if (!filter.status) {
      return read_count(count_of_time_.query(filter.workspace, created.first, last, from, until));
    }
    return read_count(count_of_time_by_status_.query(filter.workspace, created.first, last, from,
                                                     until, *filter.status));
  }
  std::int64_t count = 0;
  ERRAND_CHECK(each_place(filter, SIZE_MAX, [&count](const SessionPlace&) { ++count; }));
  return count;
}

Result<std::int64_t> SessionQueries::count_waiting() {
  return read_count(count_waiting_.query());
}

template <class Take>
Result<bool> SessionQueries::each_place(const SessionFilter& filter, std::size_t places_max,
                                        Take take) {
  auto find = [&](std::size_t part, const std::string& before) {
    return find_part(filter, part, before);
  };
  std::size_t places = 0;
  for (std::string bound = bound_of(filter);;) {
    ERRAND_TRY(bound, find_common_place(parts_of(filter), std::move(bound), find));
    if (bound.empty() || bound < filter.created.first) return true;
    if (places++ == places_max) return false;
    ERRAND_TRY(auto place, place_of(filter, bound));
    if (place) take(*place);
  }
}

Result<std::optional<SessionPlace>> SessionQueries::place_of(const SessionFilter& filter,
                                                             const std::string& id) {
  Rows rows = times_.query(filter.workspace, id);
  ERRAND_TRY(bool is_there, rows.next());
  if (!is_there || !filter.created.contains(rows.time(0))) return std::optional<SessionPlace>();
  return std::optional(SessionPlace{.last_used_at = rows.time(1),
                                    .session = SessionId::parse(id).value_or(SessionId())});
}

Result<std::string> SessionQueries::find_part(const SessionFilter& filter, std::size_t part,
                                              std::string_view bound) {
  if (part < filter.metadata.size()) {
    const auto& [key, value] = filter.metadata[part];
    return read_first(find_label_.query(filter.workspace, key, value, bound));
  }
  if (!filter.status) return read_first(find_id_.query(filter.workspace, bound));
  return read_first(find_status_.query(filter.workspace, *filter.status, bound));
}

Result<std::vector<SessionEntry>> SessionQueries::read_history(const SessionKey& session,
                                                               std::int64_t after,
                                                               std::int64_t until,
                                                               std::size_t bytes_max) {
  return read_entries(history_, session, {.after = after, .until = until}, bytes_max);
}

Result<std::vector<SessionEntry>> SessionQueries::read_newest_history(const SessionKey& session,
                                                                      std::int64_t after,
                                                                      std::int64_t until,
                                                                      std::size_t bytes_max) {
  ERRAND_TRY(auto entries,
             read_entries(newest_history_, session, {.after = after, .until = until}, bytes_max));
  std::reverse(entries.begin(), entries.end());
  return entries;
}

Result<std::vector<SessionEntry>> SessionQueries::read_entries(Statement& statement,
                                                               const SessionKey& session,
                                                               EntryRange range,
                                                               std::size_t bytes_max) {
  ERRAND_TRY(bool is_there, has_row(exists_.query(session.workspace, session.session)));
  if (!is_there) return no_such_session();
  std::vector<SessionEntry> entries;
  std::size_t bytes = 0;
  Rows rows = statement.query(session.workspace, session.session, range.after, range.until);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return entries;
    entries.push_back({.n = rows.integer(0), .run = rows.id<RunId>(1), .body = rows.text(2)});
    bytes += entries.back().body.size();
    if (bytes >= bytes_max) return entries;
  }
}

Result<std::vector<RunRow>> SessionQueries::runs(const SessionKey& session,
                                                 const std::optional<RunId>& before,
                                                 std::size_t limit) {
  const std::string_view bound = before ? before->view() : kAfterAllIds;
  return read_runs(runs_.query(session.workspace, session.session, bound, limit));
}

}  // namespace errand::sqlite
