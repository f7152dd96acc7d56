#include "store/sqlite/changes/merging.hpp"

#include "store/sqlite/changes/event_text.hpp"
#include "store/sqlite/changes/rows.hpp"

namespace errand::sqlite {
namespace {

// Merging a shorter log would save next to nothing.
constexpr std::int64_t kSegmentsMin = 3;
// This many bytes of text cost as much as one more segment.
constexpr std::size_t kMergedBytesPerCost = 4096;
constexpr std::size_t kMergedPageBytes = 4096;
// The size of a segment's row without its texts; most of it is the id of the run.
constexpr std::size_t kRowBytes = 70;

constexpr const char* kLoad =
    "SELECT ended_at, workspace, run, merged, next, place FROM merging LIMIT 1";
constexpr const char* kSave =
    "UPDATE merging SET ended_at = ?, workspace = ?, run = ?, merged = ?, next = ?, place = ?";
constexpr const char* kForgetMerging = "UPDATE merging SET next = 0 WHERE run = ? AND next > 0";
constexpr const char* kFindMergeable =
    "SELECT ended_at, workspace, id, segments, format FROM runs INDEXED BY ended "
    "WHERE finished = 1 AND (ended_at, workspace, id) > (?, ?, ?) AND ended_at < ? "
    "ORDER BY ended_at, workspace, id";
constexpr const char* kFindLog =
    "SELECT segments, log_end FROM runs WHERE workspace = ? AND id = ?";
// Like the statement of the readers (queries.cpp), but without the texts.
constexpr const char* kNextParts = R"sql(
WITH RECURSIVE stretch(place, previous, n) AS (
  SELECT place, previous, n FROM segments WHERE run = ?1 AND place = coalesce(
    (SELECT place FROM segments INDEXED BY anchors
     WHERE run = ?1 AND last_seq > ?2 AND n >= ?3 AND anchor = 1 ORDER BY last_seq, n LIMIT 1), ?4)
  UNION ALL
  SELECT s.place, s.previous, s.n FROM stretch JOIN segments AS s ON s.place = stretch.previous
  WHERE s.run = ?1 AND s.n = stretch.n - 1 AND s.anchor = 0 AND s.last_seq > ?2 AND s.n >= ?3
)
SELECT last_seq, n, events_count, at, place, length(journal) + length(events)
FROM segments WHERE place IN (SELECT place FROM stretch) AND last_seq > ?2 AND n >= ?3
ORDER BY place
)sql";
constexpr const char* kTakeOut = "DELETE FROM segments WHERE place = ? RETURNING journal, events";
constexpr const char* kInsertMerged =
    "INSERT INTO segments (run, last_seq, n, events_count, at, anchor, previous, journal, events) "
    "VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?) RETURNING place";
constexpr const char* kRenumber =
    "UPDATE segments SET n = ?, anchor = 1, previous = ? WHERE place = ?";
constexpr const char* kSetLog =
    "UPDATE runs SET segments = ?, log_end = ? WHERE workspace = ? AND id = ?";

// A row that is slightly larger than half a page takes a whole page, which several small rows would
// fill better.
bool takes_less_room(std::size_t bytes, std::size_t segments) {
  const std::size_t merged = bytes + kRowBytes;
  if (merged > kMergedPageBytes) return true;
  const std::size_t merged_in_a_page = kMergedPageBytes / merged;
  return kMergedPageBytes / merged_in_a_page < bytes + segments * kRowBytes;
}

}  // namespace

Merging::Merging(Database& database)
    : load_(database, kLoad),
      save_(database, kSave),
      forget_(database, kForgetMerging),
      find_ended_(database, kFindMergeable),
      find_log_(database, kFindLog),
      next_parts_(database, kNextParts),
      take_out_(database, kTakeOut),
      insert_(database, kInsertMerged),
      renumber_(database, kRenumber),
      set_log_(database, kSetLog) {}

Result<Merging::Outcome> Merging::step(StoreTime ended_before, std::size_t cost_max) {
  Outcome outcome;
  if (cost_max == 0) return Outcome{.is_all = false};
  ERRAND_TRY(Progress progress, load());
  const RunKey begin = progress.run;
  bool has_run = progress.next > 0;
  while (outcome.cost < cost_max) {
    if (!has_run) {
      ERRAND_TRY(has_run, move_on(progress, ended_before, cost_max, outcome));
      if (!has_run) break;
    }
    ERRAND_CHECK(merge(progress, cost_max, outcome));
    has_run = progress.next > 0;
  }
  outcome.is_all = outcome.cost < cost_max;
  if (outcome.cost > 0 || progress.run != begin) ERRAND_CHECK(save(progress));
  return outcome;
}

Result<void> Merging::forget(const RunId& run) {
  return forget_.run(run);
}

Result<Merging::Progress> Merging::load() {
  Rows rows = load_.query();
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Progress();
  return Progress{.ended_at = store_time(rows, 0),
                  .run = {.workspace = rows.id<WorkspaceSlug>(1), .run = rows.id<RunId>(2)},
                  .merged = rows.integer(3),
                  .next = rows.integer(4),
                  .place = rows.integer(5)};
}

Result<void> Merging::save(const Progress& progress) {
  return save_.run(progress.ended_at, progress.run.workspace, progress.run.run, progress.merged,
                   progress.next, progress.place);
}

Result<bool> Merging::move_on(Progress& progress, StoreTime ended_before, std::size_t cost_max,
                              Outcome& outcome) {
  const Progress from = progress;
  Rows rows = find_ended_.query(from.ended_at, from.run.workspace, from.run.run, ended_before);
  while (outcome.cost < cost_max) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return false;
    ++outcome.cost;
    progress = {.ended_at = store_time(rows, 0),
                .run = {.workspace = rows.id<WorkspaceSlug>(1), .run = rows.id<RunId>(2)}};
    if (rows.integer(3) >= kSegmentsMin && rows.integer(4) <= kRunFormat) return true;
  }
  return false;
}

Result<void> Merging::merge(Progress& progress, std::size_t cost_max, Outcome& outcome) {
  ERRAND_TRY(const Log log, find_log(progress.run));
  const std::int64_t gap = progress.next - progress.merged;
  auto set_log = [&] {
    const std::int64_t removed = progress.next - progress.merged - gap;
    return set_log_.run(log.segments - removed, log.end, progress.run.workspace, progress.run.run);
  };
  Parts group;
  std::size_t bytes = 0;  // of the group, as it is stored
  std::size_t read_bytes = 0;
  EventSeq after = -1;
  std::int64_t place = 0;
  for (std::int64_t n = progress.next; place != log.end;) {
    ERRAND_TRY(Parts parts, next_parts(progress.run.run, after, n, log));
    if (parts.empty()) break;
    for (const Part& part : parts) {
      if (!group.empty() && read_bytes + part.read_bytes() > kSegmentBytesMax) {
        ERRAND_CHECK(join(progress, group));
        group.clear();
        bytes = 0;
        read_bytes = 0;
        if (outcome.cost >= cost_max) return set_log();
      }
      group.push_back(part);
      bytes += part.bytes;
      read_bytes += part.read_bytes();
      outcome.cost += 1 + part.bytes / kMergedBytesPerCost;
    }
    // Segments without events have the seq of the segment before them: `n` tells them apart.
    after = parts.back().last_seq - 1;
    n = parts.back().n + 1;
    place = parts.back().place;
  }
  const bool is_one = progress.merged == 0;
  if (is_one && !takes_less_room(bytes, group.size())) {
    progress.next = 0;
    return {};
  }
  if (!group.empty()) ERRAND_CHECK(join(progress, group));
  const bool is_whole = place == log.end;
  if (!is_whole) ERRAND_CHECK(set_log());  // check-data tells what is damaged
  progress.next = 0;
  if (!is_whole) return {};
  return set_log_.run(progress.merged, progress.place, progress.run.workspace, progress.run.run);
}

std::size_t Merging::Part::read_bytes() const {
  return bytes + static_cast<std::size_t>(events_count) * kEventSavedMax;
}

Result<Merging::Log> Merging::find_log(const RunKey& run) {
  Rows rows = find_log_.query(run.workspace, run.run);
  ERRAND_TRY(bool found, rows.next());
  if (!found) return Log();
  return Log{.segments = rows.integer(0), .end = rows.integer(1)};
}

Result<Merging::Parts> Merging::next_parts(const RunId& run, EventSeq after, std::int64_t n,
                                           const Log& log) {
  Parts parts;
  Rows rows = next_parts_.query(run, after, n, log.end);
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return parts;
    parts.push_back({.last_seq = rows.integer(0),
                     .n = rows.integer(1),
                     .events_count = rows.integer(2),
                     .at = rows.time(3),
                     .place = rows.integer(4),
                     .bytes = static_cast<std::size_t>(rows.integer(5))});
  }
}

Result<void> Merging::join(Progress& progress, const Parts& parts) {
  const Part& last = parts.back();
  if (parts.size() > 1) {
    ERRAND_TRY(progress.place, insert_joined(progress, parts));
  } else {
    // A segment stays as it is if nothing before it was joined.
    if (last.n != progress.merged) {
      ERRAND_CHECK(renumber_.run(progress.merged, progress.place, last.place));
    }
    progress.place = last.place;
  }
  progress.merged += 1;
  progress.next = last.n + 1;
  return {};
}

Result<std::int64_t> Merging::insert_joined(const Progress& progress, const Parts& parts) {
  std::string journal;
  std::string events;
  std::int64_t events_count = 0;
  for (const Part& part : parts) {
    Rows rows = take_out_.query(part.place);
    ERRAND_TRY(bool found, rows.next());
    if (!found) continue;
    journal += rows.view(0);
    events += rows.view(1);
    events_count += part.events_count;
    ERRAND_CHECK(rows.next());  // an INSERT with RETURNING is done only at its end
  }
  const Part& last = parts.back();
  Rows rows = insert_.query(progress.run.run, last.last_seq, progress.merged, events_count, last.at,
                            progress.place, Blob{journal}, Blob{events});
  ERRAND_TRY([[maybe_unused]] bool found, rows.next());
  const std::int64_t place = rows.integer(0);
  ERRAND_CHECK(rows.next());
  return place;
}

}  // namespace errand::sqlite
