#include "store/sqlite/sqlite_store.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/descriptor.hpp"
#include "base/text.hpp"
#include "store/run_filter.hpp"
#include "store/sqlite/changes/change_bytes.hpp"
#include "store/sqlite/changes/changes.hpp"
#include "store/sqlite/changes/timekeeper.hpp"
#include "store/sqlite/file/database.hpp"
#include "store/sqlite/file/file_lock.hpp"
#include "store/sqlite/migration.hpp"
#include "store/sqlite/queries.hpp"
#include "store/sqlite/writer.hpp"

namespace errand {

using sqlite::Changes;
using sqlite::Database;
using sqlite::Queries;

struct SqliteStore::Parts {
  BlockingPool& pool;
  std::unique_ptr<sqlite::FileLock> lock;
  std::int64_t epoch = 0;
  std::unique_ptr<sqlite::Timekeeper> time;
  std::unique_ptr<sqlite::Writer> writer;
  // Shared with reads on the pool, which may outlive the store. Closed before the writer: the last
  // connection has to be one that may remove the write-ahead log.
  std::shared_ptr<sqlite::QueryPool> queries;
};

namespace {

// SQLite gives its other files the mode of this one, which only this user may read.
Result<void> make_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return Error(ErrorCode::unavailable,
                 cat("cannot open the database ", path, ": ", std::strerror(errno)));
  }
  return {};
}

Result<std::int64_t> next_epoch(Database& database) {
  return database.integer(
      "UPDATE meta SET value = value + 1 WHERE key = 'boot_epoch' RETURNING value");
}

Result<StoreTime> saved_clock(Database& database) {
  ERRAND_TRY(std::int64_t millis, database.integer("SELECT value FROM meta WHERE key = 'clock'"));
  return StoreTime(milliseconds(millis));
}

Task<Result<Renewal>> to_renewal(Task<Result<void>> saving) {
  ERRAND_CO_CHECK(co_await std::move(saving));
  co_return Renewal();  // there are no other nodes
}

}  // namespace

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteOptions options) {
  // Taken first: no other process may write while this one migrates and takes its epoch.
  ERRAND_TRY(auto lock, sqlite::FileLock::take(cat(options.path, ".lock")));
  ERRAND_CHECK(make_file(options.path));
  ERRAND_TRY(auto database, Database::open(options.path, Database::Access::write));
  auto migrated = sqlite::bring_up_to_date(
      *database, {.path = options.path, .clock = options.clock, .log = options.log});
  if (!migrated) {
    return sqlite::with_context(cat("cannot use ", options.path), migrated.error());
  }
  // The epoch is durable before anything is written with it, so that no two processes share one.
  ERRAND_TRY(std::int64_t epoch, next_epoch(*database));
  if (options.pages_max > 0) {
    ERRAND_CHECK(database->execute(cat("PRAGMA max_page_count = ", options.pages_max)));
  }
  ERRAND_TRY(StoreTime start, saved_clock(*database));
  auto time = std::make_unique<sqlite::Timekeeper>(options.clock, start);
  auto writer = std::make_unique<sqlite::Writer>(
      std::move(database), *time, options.log, epoch,
      sqlite::DiskRoom::Limits{.path = options.path,
                               .reserve_bytes = options.reserve_bytes,
                               .pages_max = options.pages_max});
  auto parts = std::unique_ptr<Parts>(
      new Parts{.pool = options.pool,
                .lock = std::move(lock),
                .epoch = epoch,
                .time = std::move(time),
                .writer = std::move(writer),
                .queries = std::make_shared<sqlite::QueryPool>(options.path)});
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(parts)));
}

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

SqliteStore::~SqliteStore() = default;

template <class F>
auto SqliteStore::read(F query) {
  return parts_->pool.run(
      [queries = parts_->queries, query = std::move(query)] { return queries->run(query); });
}

std::int64_t SqliteStore::epoch() const {
  return parts_->epoch;
}

StoreTime SqliteStore::now() const {
  return parts_->time->now();
}

Task<Result<CreateOutcome>> SqliteStore::create(NewRun run) {
  ERRAND_ASSERT(!run.session || !is_terminal(run.row.status));
  Labels labels = labels_of(run.row.metadata);
  const std::size_t bytes = sqlite::bytes_of(run);
  return parts_->writer->write<CreateOutcome>(
      [run = std::move(run), labels = std::move(labels)](Changes& changes) {
        return changes.create(run, labels);
      },
      bytes);
}

Task<Result<Appended>> SqliteStore::append(Commit commit) {
  ERRAND_ASSERT(commit.segment->first_seq() == commit.expected_seq + 1);
  const std::size_t bytes = sqlite::bytes_of(commit);
  return parts_->writer->write<Appended>(
      [commit = std::move(commit)](Changes& changes) { return changes.append(commit); }, bytes);
}

Task<Result<MailOutcome>> SqliteStore::mail(Mail mail) {
  const std::size_t bytes = sqlite::bytes_of(mail);
  return parts_->writer->write<MailOutcome>(
      [mail = std::move(mail)](Changes& changes) { return changes.mail(mail); }, bytes);
}

Task<Result<CallClaimOutcome>> SqliteStore::claim_call(CallClaim claim) {
  return parts_->writer->write<CallClaimOutcome>(
      [claim = std::move(claim)](Changes& changes) { return changes.claim_call(claim); });
}

Task<Result<std::vector<Mailbox>>> SqliteStore::pending_calls(CallFilter filter) {
  return read([filter = std::move(filter), now = now()](Queries& queries) {
    return queries.pending_calls(filter, now);
  });
}

Task<Result<ClaimedRuns>> SqliteStore::claim(ClaimRuns params) {
  ERRAND_ASSERT(params.limit > 0);
  return parts_->writer->write<ClaimedRuns>(
      [params = std::move(params)](Changes& changes) { return changes.claim(params); });
}

Task<Result<Renewal>> SqliteStore::renew() {
  return to_renewal(parts_->writer->write<void>(
      [](Changes& changes) { return changes.save_clock(Changes::Saving::always); }));
}

Task<Result<void>> SqliteStore::release(RunKey run, std::int64_t epoch) {
  return parts_->writer->write<void>(
      [run, epoch](Changes& changes) { return changes.release(run, epoch); });
}

Task<Result<void>> SqliteStore::leave() {
  return parts_->writer->write<void>([](Changes& changes) { return changes.leave(); });
}

Task<Result<RunRow>> SqliteStore::find(RunKey run) {
  return read([run](Queries& queries) { return queries.find(run); });
}

Task<Result<std::vector<RunRow>>> SqliteStore::list(RunFilter filter) {
  return read([filter = std::move(filter)](Queries& queries) { return queries.list(filter); });
}

Task<Result<std::vector<Mailbox>>> SqliteStore::mailboxes(RunKey run) {
  return read([run](Queries& queries) { return queries.mailboxes(run); });
}

Task<Result<std::vector<SegmentPtr>>> SqliteStore::read_events(RunKey run, EventSeq after,
                                                               std::size_t bytes_max) {
  return read([run, after, bytes_max](Queries& queries) {
    return queries.read_events(run, after, bytes_max);
  });
}

Task<Result<std::string>> SqliteStore::read_blob(RunKey run, std::string hash) {
  return read(
      [run, hash = std::move(hash)](Queries& queries) { return queries.read_blob(run, hash); });
}

Task<Result<std::vector<RunRow>>> SqliteStore::all_runs(std::optional<RunKey> after,
                                                        std::size_t limit) {
  return read([after, limit](Queries& queries) { return queries.all_runs(after, limit); });
}

Task<Result<std::vector<SegmentPtr>>> SqliteStore::read_log(RunKey run, EventSeq after,
                                                            std::size_t bytes_max) {
  return read([run, after, bytes_max](Queries& queries) {
    return queries.read_log(run, after, bytes_max);
  });
}

Task<Result<std::vector<SegmentPtr>>> SqliteStore::read_journal(RunKey run, EventSeq after,
                                                                std::size_t bytes_max) {
  return read([run, after, bytes_max](Queries& queries) {
    return queries.read_journal(run, after, bytes_max);
  });
}

Task<Result<PruneOutcome>> SqliteStore::prune(Prune prune) {
  return parts_->writer->write<PruneOutcome>(
      [prune = std::move(prune)](Changes& changes) { return changes.prune(prune); });
}

Task<Result<std::size_t>> SqliteStore::remove_runs(WorkspaceSlug workspace,
                                                   std::vector<RunId> runs) {
  return parts_->writer->write<std::size_t>([workspace, runs = std::move(runs)](Changes& changes) {
    return changes.remove_runs(workspace, runs);
  });
}

Task<Result<CreateSessionOutcome>> SqliteStore::create_session(NewSession session) {
  Labels labels = labels_of(session.row.metadata);
  const std::size_t bytes = sqlite::bytes_of(session);
  return parts_->writer->write<CreateSessionOutcome>(
      [session = std::move(session), labels = std::move(labels)](Changes& changes) {
        return changes.create_session(session, labels);
      },
      bytes);
}

Task<Result<SessionRow>> SqliteStore::find_session(SessionKey session) {
  return read([session](Queries& queries) { return queries.find_session(session); });
}

Task<Result<std::vector<SessionRow>>> SqliteStore::list_sessions(SessionFilter filter) {
  return read(
      [filter = std::move(filter)](Queries& queries) { return queries.list_sessions(filter); });
}

Task<Result<std::int64_t>> SqliteStore::count_sessions(SessionFilter filter) {
  return read(
      [filter = std::move(filter)](Queries& queries) { return queries.count_sessions(filter); });
}

Task<Result<std::int64_t>> SqliteStore::count_waiting_for_turn() {
  return read([](Queries& queries) { return queries.count_waiting_for_turn(); });
}

Task<Result<std::vector<SessionEntry>>> SqliteStore::read_newest_history(SessionKey session,
                                                                         std::int64_t after,
                                                                         std::int64_t until,
                                                                         std::size_t bytes_max) {
  return read([session, after, until, bytes_max](Queries& queries) {
    return queries.read_newest_history(session, after, until, bytes_max);
  });
}

Task<Result<std::vector<SessionEntry>>> SqliteStore::read_history(SessionKey session,
                                                                  std::int64_t after,
                                                                  std::int64_t until,
                                                                  std::size_t bytes_max) {
  return read([session, after, until, bytes_max](Queries& queries) {
    return queries.read_history(session, after, until, bytes_max);
  });
}

Task<Result<EndedSession>> SqliteStore::end_session(SessionKey session, std::string reason) {
  return parts_->writer->write<EndedSession>(
      [session, reason = std::move(reason)](Changes& changes) {
        return changes.end_session(session, reason);
      });
}

Task<Result<void>> SqliteStore::remove_session(SessionKey session) {
  return parts_->writer->write<void>(
      [session](Changes& changes) { return changes.remove_session(session); });
}

Task<Result<std::vector<RunRow>>> SqliteStore::session_runs(SessionKey session,
                                                            std::optional<RunId> before,
                                                            std::size_t limit) {
  return read([session, before, limit](Queries& queries) {
    return queries.session_runs(session, before, limit);
  });
}

Task<Result<RecordsOutcome>> SqliteStore::change_records(std::vector<RecordChange> changes) {
  const std::size_t bytes = sqlite::bytes_of(changes);
  return parts_->writer->write<RecordsOutcome>(
      [records = std::move(changes)](Changes& changes) { return changes.change_records(records); },
      bytes);
}

Task<Result<Record>> SqliteStore::find_record(RecordKey key) {
  return read([key = std::move(key)](Queries& queries) { return queries.find_record(key); });
}

Task<Result<std::vector<Record>>> SqliteStore::list_records(RecordFilter filter) {
  return read(
      [filter = std::move(filter)](Queries& queries) { return queries.list_records(filter); });
}

Task<Result<AddKeyOutcome>> SqliteStore::add_key(ApiKeyRow key, Idempotency idempotency) {
  return parts_->writer->write<AddKeyOutcome>(
      [key = std::move(key), idempotency = std::move(idempotency)](Changes& changes) {
        return changes.add_key(key, idempotency);
      });
}

Task<Result<std::vector<ApiKeyRow>>> SqliteStore::list_keys() {
  return read([](Queries& queries) { return queries.list_keys(); });
}

Task<Result<void>> SqliteStore::revoke_key(WorkspaceSlug workspace, KeyId id, WallTime at) {
  return parts_->writer->write<void>(
      [workspace, id, at](Changes& changes) { return changes.revoke_key(workspace, id, at); });
}

Task<Result<void>> SqliteStore::ping() {
  return read([](Queries& queries) { return queries.ping(); });
}

StoreCounts SqliteStore::counts() const {
  return {.commits = parts_->writer->commits(),
          .writes = parts_->writer->items(),
          .pages = parts_->writer->pages(),
          .waiting_bytes = parts_->writer->queued_bytes()};
}

}  // namespace errand
