#include "store/sqlite/schema.hpp"

#include <array>
#include <cstdint>

#include "base/text.hpp"
#include "store/run_filter.hpp"
#include "store/sqlite/changes/label_changes.hpp"

namespace errand::sqlite {
namespace {

// A commit is the cheaper the fewer pages it touches. So segments are appended to their table in
// the order in which they come: a table ordered by run would put every row above 1 KB on an
// overflow page of its own. The journal stands before the events, so that it can be read without
// them. The index over runs holds only unfinished ones; `finished` repeats what `status` says, so
// that an append that does not end a run leaves that index alone.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE meta (
  key   TEXT NOT NULL PRIMARY KEY,
  value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('boot_epoch', 0);

CREATE TABLE runs (
  workspace  TEXT NOT NULL,
  id         TEXT NOT NULL,
  status     INTEGER NOT NULL,
  finished   INTEGER NOT NULL,
  last_seq   INTEGER NOT NULL,
  segments   INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name       TEXT NOT NULL,
  model_id   TEXT NOT NULL,
  metadata   TEXT NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unfinished ON runs (id, epoch) WHERE finished = 0;

CREATE TABLE segments (
  run          TEXT NOT NULL,
  last_seq     INTEGER NOT NULL,
  n            INTEGER NOT NULL,
  events_count INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  journal      BLOB NOT NULL,
  events       BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX log ON segments (run, last_seq, n);

CREATE TABLE mail (
  run         TEXT NOT NULL,
  slot        TEXT NOT NULL,
  kind        INTEGER NOT NULL,
  name        TEXT NOT NULL,
  opened_at   INTEGER NOT NULL,
  deadline_at INTEGER NOT NULL,
  filled      INTEGER NOT NULL,
  body        BLOB NOT NULL,
  PRIMARY KEY (run, slot)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
  workspace   TEXT NOT NULL,
  key         TEXT NOT NULL,
  run         TEXT NOT NULL,
  fingerprint BLOB NOT NULL,
  at          INTEGER NOT NULL,
  PRIMARY KEY (workspace, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
  id         TEXT NOT NULL PRIMARY KEY,
  workspace  TEXT NOT NULL,
  name       TEXT NOT NULL,
  hash       TEXT NOT NULL UNIQUE,
  prefix     TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
)sql";

// Mail has a workspace column, so that a small index of pending calls finds those of a workspace.
// Runs that ended long ago are found without an index: ids sort by the time of creation, so they
// are the first of their workspace. `keyed_at` is the time of the run's row in `idempotency`, so
// that this row is found without an index of its own.
//
// Mail that an older program opened has no time on the store's clock: whoever claims its run gives
// its calls some time. The run gets a day, the default limit.
constexpr const char* kVersion2 = R"sql(
ALTER TABLE runs ADD COLUMN ends_by INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN keyed_at INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET ends_by = created_at + 86400000;
UPDATE runs SET keyed_at = created_at
  WHERE (workspace, id) IN (SELECT workspace, run FROM idempotency);

ALTER TABLE idempotency RENAME COLUMN run TO subject;
CREATE INDEX made ON idempotency (at);

CREATE TABLE doomed (
  run TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

ALTER TABLE mail RENAME TO old_mail;
CREATE TABLE mail (
  run           TEXT NOT NULL,
  slot          TEXT NOT NULL,
  workspace     TEXT NOT NULL,
  kind          INTEGER NOT NULL,
  name          TEXT NOT NULL,
  offer_again   INTEGER NOT NULL,
  opened_at     INTEGER NOT NULL,
  deadline      INTEGER NOT NULL,
  filled        INTEGER NOT NULL,
  claim_id      TEXT NOT NULL,
  claimed_until INTEGER NOT NULL,
  request       BLOB NOT NULL,
  body          BLOB NOT NULL,
  PRIMARY KEY (run, slot)
) STRICT, WITHOUT ROWID;
INSERT INTO mail
  SELECT old.run, old.slot, runs.workspace, old.kind, old.name, 0, old.opened_at, 0, old.filled,
         '', 0, x'', old.body
  FROM old_mail AS old JOIN runs INDEXED BY unfinished
  ON runs.id = old.run AND runs.finished = 0;
DROP TABLE old_mail;
CREATE INDEX pending ON mail (workspace, slot, name) WHERE kind = 0 AND filled = 0;

INSERT INTO meta VALUES ('clock', 0);
)sql";

// Bytes that logs name by their hash are stored once, however many runs name them. They have a
// table of their own, so that logs stay short; runs without such bytes have no rows here.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE blobs (
  hash  TEXT NOT NULL UNIQUE,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE blob_users (
  run  TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses ON blob_users (hash);
)sql";

// An index over all segments would have a page of its own for every run, and each append would
// write it. So a segment leads to the one before it, and `log_end` leads to the last segment of an
// unfinished run. The index holds only anchors, from which a reader goes back: one segment in every
// so many, and the last one of a run that has ended. Places have to be a column, or VACUUM may
// change them.
//
// All segments that an older program wrote are anchors.
constexpr const char* kVersion4 = R"sql(
DROP INDEX log;
ALTER TABLE segments RENAME TO old_segments;
CREATE TABLE segments (
  place        INTEGER PRIMARY KEY,
  run          TEXT NOT NULL,
  last_seq     INTEGER NOT NULL,
  n            INTEGER NOT NULL,
  events_count INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  anchor       INTEGER NOT NULL,
  previous     INTEGER NOT NULL,
  journal      BLOB NOT NULL,
  events       BLOB NOT NULL
) STRICT;
INSERT INTO segments
  SELECT rowid, run, last_seq, n, events_count, at, 1, 0, journal, events FROM old_segments
  ORDER BY rowid;
DROP TABLE old_segments;
CREATE UNIQUE INDEX anchors ON segments (run, last_seq, n) WHERE anchor = 1;

ALTER TABLE runs ADD COLUMN log_end INTEGER NOT NULL DEFAULT 0;
ALTER TABLE doomed ADD COLUMN log_end INTEGER NOT NULL DEFAULT 0;
)sql";

// All times are of the store's clock, and every row belongs to one workspace.
//
// Lists never scan a workspace: `outcomes` finds ended runs by their status, `unfinished` finds the
// others, and `labels` holds the metadata that lists are filtered by, all in the order of ids.
// `ended` finds runs that are old enough to be merged or removed. Only the end of a run writes to
// `outcomes` and `ended`, and only at the ends of their lists.
//
// The last segment of a log is found through its run, so that it needs no anchor. `merging` has one
// row: the run that is being merged, or was merged last, in the order of `ended`. While `next` is
// not 0, the segments that are still to be merged have the numbers from `next` on, and should have
// those from `merged` on; `place` is the place of the last segment before them.
//
// Wall-clock times become store times. The latest of them counts as the moment when the store's
// clock stopped, so that nothing is forgotten early. If it lies in the future, a clock was wrong,
// and the present counts instead. No store time is later than the store's clock. Unfinished runs
// get all of their time again, however long they have waited.
constexpr const char* kVersion5 = R"sql(
CREATE TEMP TABLE moment AS SELECT store_now, store_now - min(wall_now, latest) AS shift
FROM (SELECT
  (SELECT value FROM meta WHERE key = 'clock') AS store_now,
  (SELECT wall_now FROM migration) AS wall_now,
  max(coalesce((SELECT max(updated_at) FROM runs), 0),
      coalesce((SELECT max(at) FROM idempotency), 0)) AS latest);

DROP INDEX unfinished;
ALTER TABLE runs RENAME TO old_runs;
CREATE TABLE runs (
  workspace  TEXT NOT NULL,
  id         TEXT NOT NULL,
  status     INTEGER NOT NULL,
  finished   INTEGER NOT NULL,
  last_seq   INTEGER NOT NULL,
  segments   INTEGER NOT NULL,
  epoch      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  name       TEXT NOT NULL,
  model_id   TEXT NOT NULL,
  metadata   TEXT NOT NULL,
  ends_by    INTEGER NOT NULL,
  keyed_at   INTEGER,
  log_end    INTEGER NOT NULL,
  ended_at   INTEGER NOT NULL,
  format     INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX unfinished ON runs (workspace, id) WHERE finished = 0;
CREATE INDEX outcomes ON runs (workspace, status, id) WHERE finished = 1;
CREATE INDEX ended ON runs (ended_at, workspace, id) WHERE finished = 1;
INSERT INTO runs
  SELECT workspace, id, status, finished, last_seq, segments, epoch, created_at, updated_at, name,
         model_id, metadata,
         iif(finished, ends_by + shift, store_now + max(ends_by - created_at, 0)),
         iif(keyed_at = 0, NULL, min(keyed_at + shift, store_now)),
         iif(log_end <> 0, log_end, coalesce((
           SELECT place FROM segments INDEXED BY anchors
           WHERE run = id AND anchor = 1 ORDER BY last_seq DESC, n DESC LIMIT 1), 0)),
         iif(finished, min(updated_at + shift, store_now), 0), 1
  FROM moment CROSS JOIN old_runs;
DROP TABLE old_runs;

CREATE TABLE labels (
  workspace TEXT NOT NULL,
  key       TEXT NOT NULL,
  value     TEXT NOT NULL,
  run       TEXT NOT NULL,
  PRIMARY KEY (workspace, key, value, run)
) STRICT, WITHOUT ROWID;

UPDATE idempotency SET at = min(at + shift, store_now) FROM moment;
DELETE FROM idempotency WHERE at + 86400000 <= (SELECT store_now FROM moment);

DROP INDEX blob_uses;
ALTER TABLE blobs RENAME TO old_blobs;
ALTER TABLE blob_users RENAME TO old_blob_users;
CREATE TABLE blobs (
  workspace TEXT NOT NULL,
  hash      TEXT NOT NULL,
  bytes     BLOB NOT NULL,
  UNIQUE (workspace, hash)
) STRICT;
CREATE TABLE blob_users (
  run       TEXT NOT NULL,
  hash      TEXT NOT NULL,
  workspace TEXT NOT NULL,
  PRIMARY KEY (run, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses ON blob_users (workspace, hash);
INSERT INTO blob_users
  SELECT run, hash, workspace FROM runs CROSS JOIN old_blob_users ON run = id;
INSERT INTO blobs
  SELECT used.workspace, used.hash, bytes
  FROM (SELECT DISTINCT workspace, hash FROM blob_users INDEXED BY blob_uses) AS used
  CROSS JOIN old_blobs USING (hash);
DROP TABLE old_blob_users;
DROP TABLE old_blobs;

CREATE TABLE records (
  workspace  TEXT NOT NULL,
  kind       TEXT NOT NULL,
  id         TEXT NOT NULL,
  version    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  body       BLOB NOT NULL,
  PRIMARY KEY (workspace, kind, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE merging (
  ended_at  INTEGER NOT NULL,
  workspace TEXT NOT NULL,
  run       TEXT NOT NULL,
  merged    INTEGER NOT NULL,
  next      INTEGER NOT NULL,
  place     INTEGER NOT NULL
) STRICT;
INSERT INTO merging VALUES (-9223372036854775808, '', '', 0, 0, 0);

DROP TABLE moment;
)sql";

// A session's row is small, because each of its runs writes it twice; everything about a session
// that never changes is in `session_settings`. `turn` is the run that has the turn, or empty. A run
// that waits has a `place` in the queue: from 1 upwards, or from -1 downwards if it interrupted
// another run. Any other run has the place 0.
//
// The history is appended to its table for the same reason as segments are.
constexpr const char* kVersion6 = R"sql(
CREATE TABLE sessions (
  workspace    TEXT NOT NULL,
  id           TEXT NOT NULL,
  status       INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  ended_at     INTEGER,
  entries      INTEGER NOT NULL,
  turn         TEXT NOT NULL,
  PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_statuses ON sessions (workspace, status, id);

CREATE TABLE session_settings (
  workspace TEXT NOT NULL,
  session   TEXT NOT NULL,
  name      TEXT NOT NULL,
  metadata  TEXT NOT NULL,
  spec      BLOB NOT NULL,
  PRIMARY KEY (workspace, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_labels (
  workspace TEXT NOT NULL,
  key       TEXT NOT NULL,
  value     TEXT NOT NULL,
  session   TEXT NOT NULL,
  PRIMARY KEY (workspace, key, value, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE session_runs (
  run       TEXT NOT NULL PRIMARY KEY,
  workspace TEXT NOT NULL,
  session   TEXT NOT NULL,
  place     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_of_session ON session_runs (workspace, session, run);
CREATE UNIQUE INDEX waiting ON session_runs (workspace, session, place) WHERE place <> 0;

CREATE TABLE session_history (
  workspace TEXT NOT NULL,
  session   TEXT NOT NULL,
  n         INTEGER NOT NULL,
  run       TEXT NOT NULL,
  body      BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX session_entries ON session_history (workspace, session, n);
)sql";

// Lists of sessions begin with those used last. Each run of a session moves the session's entries
// twice.
constexpr const char* kVersion7 = R"sql(
CREATE INDEX session_uses ON sessions (workspace, last_used_at, id);
CREATE INDEX session_status_uses ON sessions (workspace, status, last_used_at, id);
)sql";

// A reader that looks for the calls of one tool finds them among any number of others, and a reader
// that looks for queued runs does not pass the runs at work. A run that starts at once never writes
// to `queued`.
constexpr const char* kVersion8 = R"sql(
CREATE INDEX pending_names ON mail (workspace, name, slot) WHERE kind = 0 AND filled = 0;
CREATE INDEX queued ON runs (workspace, id) WHERE status = 0;
)sql";
static_assert(static_cast<int>(RunStatus::queued) == 0);

// The size of a session's history is stored, so that nobody reads a history only to find that it is
// too long; a session without a history has no row. Lists of sessions by their metadata are in the
// order of their last use as well, so that a page is found without looking at every session that
// matches.
constexpr const char* kVersion9 = R"sql(
CREATE TABLE session_sizes (
  workspace TEXT NOT NULL,
  session   TEXT NOT NULL,
  bytes     INTEGER NOT NULL,
  PRIMARY KEY (workspace, session)
) STRICT, WITHOUT ROWID;
INSERT INTO session_sizes
  SELECT workspace, session, sum(length(body)) FROM session_history GROUP BY workspace, session;

CREATE TABLE session_label_uses (
  workspace    TEXT NOT NULL,
  key          TEXT NOT NULL,
  value        TEXT NOT NULL,
  last_used_at INTEGER NOT NULL,
  session      TEXT NOT NULL,
  PRIMARY KEY (workspace, key, value, last_used_at, session)
) STRICT, WITHOUT ROWID;
INSERT INTO session_label_uses
  SELECT l.workspace, key, value, last_used_at, session
  FROM session_labels AS l CROSS JOIN sessions AS s ON s.workspace = l.workspace AND s.id = session;
)sql";

// Each unfinished run is in one of two indices: in `queued`, or in `at_work`. A reader that looks
// for runs at work does not pass the queued ones, however many there are.
constexpr const char* kVersion10 = R"sql(
CREATE INDEX at_work ON runs (workspace, id) WHERE finished = 0 AND status <> 0;
DROP INDEX unfinished;
)sql";

// Events take fewer bytes from this version on (changes/event_text.hpp), and programs that cannot
// read them must not open the database. A run of a session writes one row and moves one entry of
// a list at each of its ends: the size of the history is in that row, lists of all sessions are
// merged from those of each status, and labels are looked up only where there are any.
constexpr const char* kVersion11 = R"sql(
ALTER TABLE sessions ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN has_labels INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET
  bytes = coalesce((SELECT bytes FROM session_sizes AS z
                    WHERE z.workspace = sessions.workspace AND session = id), 0),
  has_labels = (workspace, id) IN (SELECT workspace, session FROM session_labels);
DROP TABLE session_sizes;
DROP INDEX session_uses;
)sql";

// Fills the table of labels, by which lists are filtered, from the metadata of the existing runs.
Result<void> fill_labels(Database& database) {
  LabelChanges labels(database);
  Statement all(database, "SELECT workspace, id, metadata FROM runs WHERE metadata <> '{}'");
  Rows rows = all.query();
  for (;;) {
    ERRAND_TRY(bool more, rows.next());
    if (!more) return {};
    const RunKey run{.workspace = rows.id<WorkspaceSlug>(0), .run = rows.id<RunId>(1)};
    ERRAND_CHECK(labels.add(run, labels_of(rows.view(2))));
  }
}

// Steps after version 5 add and drop tables, columns and indices. They rewrite no rows but those of
// `sessions`, which are short, so that no later upgrade takes long or needs space for a backup.
constexpr std::array<SchemaStep, 11> kSchema = {{
    {.script = kVersion1},
    {.script = kVersion2},
    {.script = kVersion3},
    {.script = kVersion4},
    {.script = kVersion5, .fill = fill_labels},
    {.script = kVersion6},
    {.script = kVersion7},
    {.script = kVersion8},
    {.script = kVersion9},
    {.script = kVersion10},
    {.script = kVersion11},
}};
static_assert(kSchema.size() > kLastRewrite);

}  // namespace

std::span<const SchemaStep> schema() {
  return kSchema;
}

Result<void> check_version(Database& database, std::span<const SchemaStep> steps) {
  ERRAND_TRY(std::int64_t version, database.integer("PRAGMA user_version"));
  const auto newest = static_cast<std::int64_t>(steps.size());
  if (version <= newest) return {};
  return Error(ErrorCode::unsupported, cat("the database has schema version ", version,
                                           ", but this program knows only versions up to ", newest))
      .hint("Use the program version that wrote it, or a newer one.");
}

namespace {

// Takes the steps from `version` on, all in one transaction.
Result<void> take(Database& database, std::span<const SchemaStep> steps, std::int64_t version) {
  ERRAND_CHECK(database.execute("BEGIN IMMEDIATE"));
  for (const SchemaStep& step : steps) {
    ERRAND_CHECK(database.execute(step.script));
    if (step.fill) ERRAND_CHECK(step.fill(database));
    ++version;
  }
  return database.execute(cat("PRAGMA user_version = ", version, ";COMMIT;"));
}

}  // namespace

Result<void> migrate(Database& database, std::span<const SchemaStep> steps, WallTime now) {
  ERRAND_CHECK(check_version(database, steps));
  ERRAND_TRY(std::int64_t version, database.integer("PRAGMA user_version"));
  if (version == static_cast<std::int64_t>(steps.size())) return {};
  ERRAND_CHECK(database.execute(
      cat("CREATE TEMP TABLE migration AS SELECT ", to_millis(now), " AS wall_now")));
  auto done = take(database, steps.subspan(static_cast<std::size_t>(version)), version);
  if (!done) {
    database.rollback();
    return with_context(cat("cannot bring the database to schema version ", steps.size()),
                        done.error());
  }
  return database.execute("DROP TABLE temp.migration");
}

}  // namespace errand::sqlite
