// errand_fill FILE RUNS SESSIONS: fills a store with copies of the runs that have just ended in it,
// and of its sessions, through the interface of stores, so that a million runs take a minute. The
// copies ended, or were created, two days ago by the store's clock. Prints how many runs there are.
#include <boost/asio/io_context.hpp>
#include <charconv>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "async/blocking_pool.hpp"
#include "async/task_group.hpp"
#include "base/log.hpp"
#include "store/sqlite/sqlite_store.hpp"
#include "support/run_task.hpp"

namespace errand {
namespace {

constexpr std::size_t kAtOnce = 512;
constexpr std::size_t kTemplatesMax = 1000;
constexpr milliseconds kAge{2 * 86'400'000LL};
constexpr int kExitUsage = 2;

// The machine's clock, by an offset that can be changed.
class ShiftedClock final : public Clock {
 public:
  WallTime now() const override { return system_.now() + offset_; }
  SteadyTime steady_now() const override { return system_.steady_now() + offset_; }
  void shift(milliseconds by) { offset_ += by; }

 private:
  SystemClock system_;
  milliseconds offset_ = -kAge;
};

// A run that has ended, with its log.
struct Template {
  RunRow row;
  std::vector<SegmentPtr> log;
};

Task<Result<std::vector<Template>>> read_templates(Store* store) {
  std::vector<Template> found;
  ERRAND_CO_TRY(auto rows, co_await store->all_runs({}, kTemplatesMax));
  for (RunRow& row : rows) {
    if (!is_terminal(row.status)) continue;
    ERRAND_CO_TRY(auto log, co_await store->read_log(row.key(), -1, SIZE_MAX));
    // A log that was merged does not begin with what creates a run.
    if (log.size() < 2 || log.front()->last_seq != 0) continue;
    found.push_back({.row = std::move(row), .log = std::move(log)});
  }
  if (found.empty()) co_return Error(ErrorCode::not_found, "no run has just ended in this store");
  co_return found;
}

// A run like it, of another id: created by one commit, and ended by the next.
Task<Result<void>> copy_run(Store* store, const Template* from, RunId id, WallTime now) {
  NewRun made{.row = from->row, .first = *from->log.front()};
  made.row.id = std::move(id);
  made.row.status = RunStatus::running;
  made.row.created_at = now;
  made.row.updated_at = now;
  made.row.last_seq = 0;
  made.row.segments = 1;
  const RunKey key = made.row.key();
  ERRAND_CO_TRY(auto created, co_await store->create(std::move(made)));
  EventSeq seq = from->log.front()->last_seq;
  for (std::size_t i = 1; i < from->log.size(); ++i) {
    const bool is_last = i + 1 == from->log.size();
    Commit commit{.key = key,
                  .epoch = created.epoch,
                  .expected_seq = seq,
                  .segment = from->log[i],
                  .status = is_last ? from->row.status : RunStatus::running};
    ERRAND_CO_TRY(auto appended, co_await store->append(std::move(commit)));
    if (appended.refused) co_return Error(ErrorCode::conflict, "the store refused a segment");
    seq = from->log[i]->last_seq;
  }
  co_return Result<void>();
}

struct Counts {
  std::size_t runs = 0;
  std::size_t sessions = 0;
};

struct Filling {
  Store& store;
  const Clock& clock;
  IdSource& ids;
  const std::vector<Template>& templates;
  const std::vector<SessionRow>& sessions;
  Counts count;
  Counts begun = {};
  std::optional<Error> failure = {};
};

Task<void> fill_runs(Filling* filling) {
  std::size_t& begun = filling->begun.runs;
  while (begun < filling->count.runs && !filling->failure) {
    const Template& from = filling->templates[begun++ % filling->templates.size()];
    auto copied = co_await copy_run(&filling->store, &from, filling->ids.make<RunIdTag>("run_"),
                                    filling->clock.now());
    if (!copied) filling->failure = std::move(copied).error();
  }
}

Task<void> fill_sessions(Filling* filling) {
  std::size_t& begun = filling->begun.sessions;
  while (begun < filling->count.sessions && !filling->failure) {
    NewSession made{.row = filling->sessions[begun++ % filling->sessions.size()],
                    .idempotency = {}};
    made.row.id = filling->ids.make<SessionIdTag>("sess_");
    made.row.created_at = filling->clock.now();
    auto created = co_await filling->store.create_session(std::move(made));
    if (!created) filling->failure = std::move(created).error();
  }
}

Result<std::size_t> fill_store(const std::string& path, Counts count) {
  ShiftedClock clock;
  Log log(clock, 2, LogFormat::text);
  asio::io_context io(1);
  BlockingPool pool(2, kAtOnce);
  ERRAND_TRY(auto store,
             SqliteStore::open({.path = path, .clock = clock, .pool = pool, .log = log}));
  ERRAND_TRY(auto templates, run_task(io, read_templates(store.get())));
  std::mt19937_64 random(1);
  IdSource ids(clock, [&] { return random(); });
  SessionFilter all{.workspace = templates.front().row.workspace};
  ERRAND_TRY(auto sessions, run_task(io, store->list_sessions(std::move(all))));
  if (sessions.empty()) count.sessions = 0;
  Filling filling{.store = *store,
                  .clock = clock,
                  .ids = ids,
                  .templates = templates,
                  .sessions = sessions,
                  .count = count};
  TaskGroup tasks(io.get_executor(), [](const char*, const std::string& what) {
    std::fprintf(stderr, "errand_fill: a bug: %s\n", what.c_str());
  });
  for (std::size_t i = 0; i < kAtOnce; ++i) tasks.spawn("fill", fill_runs(&filling));
  io.restart();
  io.run();
  for (std::size_t i = 0; i < kAtOnce; ++i) tasks.spawn("fill", fill_sessions(&filling));
  io.restart();
  io.run();
  if (filling.failure) return std::move(*filling.failure);
  clock.shift(kAge);
  auto renewed = run_task(io, store->renew());
  if (!renewed) return std::move(renewed).error();
  return filling.begun.runs + templates.size();
}

std::optional<std::size_t> parse_count(std::string_view text) {
  std::size_t count = 0;
  auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
  return count;
}

}  // namespace
}  // namespace errand

int main(int argc, char** argv) {
  auto runs = argc == 4 ? errand::parse_count(argv[2]) : std::nullopt;
  auto sessions = argc == 4 ? errand::parse_count(argv[3]) : std::nullopt;
  if (!runs || !sessions) {
    std::fputs("Usage: errand_fill FILE RUNS SESSIONS\n", stderr);
    return errand::kExitUsage;
  }
  try {
    auto filled = errand::fill_store(argv[1], {.runs = *runs, .sessions = *sessions});
    if (!filled) {
      std::fprintf(stderr, "errand_fill: %s\n", filled.error().describe().c_str());
      return 1;
    }
    std::printf("%zu\n", *filled);
    return 0;
  } catch (const std::exception& bug) {
    std::fprintf(stderr, "errand_fill: a bug: %s\n", bug.what());
    return 1;
  }
}
