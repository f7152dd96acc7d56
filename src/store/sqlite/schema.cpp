#include "store/sqlite/schema.hpp"

#include <array>
#include <cstdint>

#include "base/text.hpp"

namespace errand::sqlite {
namespace {

// What matters is how few pages a commit touches. Segments therefore go to the end of their table
// in the order in which they come: a table ordered by run would put every row above 1 KB on an
// overflow page of its own. Their journal stands before their events, so that it can be read
// without them. Of the runs, an index holds only the unfinished ones; `finished` repeats what
// `status` says, so that an append that does not end a run leaves that index alone.
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

// Mail knows its workspace, so that the calls that wait in it are found by a small index that holds
// only these. Runs that ended long ago are found without one: ids sort by the time of creation, so
// they are the first of their workspace. `keyed_at` is the time of the
// run's row in `idempotency`, so that it is found without an index of its own.
//
// What an older program has opened has no time on the store's clock: whoever claims a run gives its
// calls some. Its runs get a day, which is what they have where nothing else is configured.
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

// Bytes that logs name by their hash are kept once, whichever runs name them. They have a table of
// their own, so that no log is longer to read for them; runs without any have no rows here.
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

// An index over all segments has a page of its own for every run, which each append would write. So
// a segment leads to the one before it, `log_end` to the last one of a run that goes on, and the
// index holds only anchors, from which a reader goes back: every so many segments one, and the
// last one of a run that has ended. Places have to be a column, or VACUUM may change them.
//
// What an older program has written is all anchors.
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

constexpr std::array<const char*, 4> kSchema = {kVersion1, kVersion2, kVersion3, kVersion4};

}  // namespace

std::span<const char* const> schema() {
  return kSchema;
}

Result<void> check_version(Database& database, std::span<const char* const> scripts) {
  ERRAND_TRY(std::int64_t version, database.integer("PRAGMA user_version"));
  const auto newest = static_cast<std::int64_t>(scripts.size());
  if (version <= newest) return {};
  return Error(ErrorCode::unsupported, cat("the database has schema version ", version,
                                           ", but this program knows only versions up to ", newest))
      .hint("Use the program version that wrote it, or a newer one.");
}

Result<void> migrate(Database& database, std::span<const char* const> scripts) {
  ERRAND_CHECK(check_version(database, scripts));
  ERRAND_TRY(std::int64_t version, database.integer("PRAGMA user_version"));
  for (; version < static_cast<std::int64_t>(scripts.size()); ++version) {
    auto done = database.execute(cat("BEGIN IMMEDIATE;", scripts[static_cast<std::size_t>(version)],
                                     ";PRAGMA user_version = ", version + 1, ";COMMIT;"));
    if (!done) {
      database.rollback();
      return with_context(cat("cannot bring the database to schema version ", version + 1),
                          done.error());
    }
  }
  return {};
}

}  // namespace errand::sqlite
