// Removing runs and sessions that have ended.
#include <utility>

#include "base/text.hpp"
#include "engine/engine.hpp"

namespace errand::engine {
namespace {

// At most this many runs of a session are removed in one commit.
constexpr std::size_t kRunsAtOnce = 100;

Error run_active() {
  return Error(ErrorCode::conflict, "the run has not ended")
      .reason("run_active")
      .hint("cancel the run and wait for its end");
}

Error session_active() {
  return Error(ErrorCode::conflict, "the session, or a run of it, has not ended")
      .reason("session_active")
      .hint("end the session and wait for the end of its runs");
}

}  // namespace

Task<Result<void>> Engine::remove_run(Principal who, RunId run) {
  ERRAND_CO_TRY(auto row, co_await deps_.store.find({.workspace = who.workspace, .run = run}));
  if (!is_terminal(row.status)) co_return run_active();
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto removed, co_await deps_.store.remove_runs(who.workspace, {run}));
  if (removed > 0) co_return Result<void>();
  // Another request was faster, or a newer version of Errand wrote the run.
  ERRAND_CO_CHECK(co_await deps_.store.find({.workspace = who.workspace, .run = run}));
  co_return newer_run(run);
}

// If the process dies halfway, the session is left with fewer runs, and can be removed again.
Task<Result<void>> Engine::remove_session(Principal who, SessionId session) {
  const SessionKey key{.workspace = who.workspace, .session = session};
  ERRAND_CO_TRY(auto row, co_await deps_.store.find_session(key));
  const bool is_over = row.status == SessionStatus::ended && !row.current && row.queued == 0;
  if (!is_over) co_return session_active();
  for (;;) {
    ERRAND_CO_TRY(auto runs, co_await deps_.store.session_runs(key, {}, kRunsAtOnce));
    if (runs.empty()) break;
    std::vector<RunId> ids;
    for (const RunRow& run : runs) ids.push_back(run.id);
    ++counters_.durable_waits;
    ERRAND_CO_TRY(auto removed, co_await deps_.store.remove_runs(who.workspace, std::move(ids)));
    if (removed == 0) co_return session_active();
  }
  ++counters_.durable_waits;
  co_return co_await deps_.store.remove_session(key);
}

}  // namespace errand::engine
