#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agent/agent_run.hpp"
#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "engine/catalog.hpp"
#include "engine/live_run.hpp"
#include "engine/subscription.hpp"
#include "run/principal.hpp"
#include "run/spec.hpp"
#include "store/store.hpp"
#include "tool/tool.hpp"

namespace errand::engine {

// Limits of the server; a run's own budgets may tighten or, for timeouts, change them.
struct Limits {
  milliseconds local_tool_timeout{300'000};
  int max_tool_turns = 32;
  milliseconds run_time{86'400'000};
};

// A caller's Idempotency-Key with a fingerprint of what was asked; empty without one.
struct Idempotency {
  std::string key;
  std::string fingerprint;
};

struct EventsPage {
  std::vector<SegmentPtr> segments;
  EventSeq after = 0;     // skip events up to this one
  EventSeq last_seq = 0;  // of the run's log
};

// A run as it stands in the store.
struct RunView {
  RunRow row;
  std::unique_ptr<agent::State> state;
};

// All runs: the verbs that the HTTP server and the in-process runtime call. Lives on one home.
// Every verb may fail with unavailable (the store) or internal; only other codes are listed.
class Engine final : private LiveRun::Keeper {
 public:
  struct Deps {
    Home home;
    Store& store;
    const Clock& clock;
    Timers& timers;
    IdSource& ids;
    Catalog& catalog;
    ToolRegistry& tools;
    Log& log;
  };

  // Ended runs that stay in memory for readers that come a little late; the oldest go first.
  static constexpr std::size_t kEndedRunsMax = 128;

  // A run that only waits for its client is dropped from memory after so long, and folded again
  // when mail, or its next deadline, comes.
  static constexpr milliseconds kRestAfter{2000};

  Engine(Deps deps, Limits limits);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Takes over what a former process left unfinished. Verbs may be called meanwhile.
  Task<void> recover();
  bool is_recovered() const { return recovered_; }

  // Durable when it returns; the run goes on by itself.
  // invalid_argument: unknown model or tool. conflict: the key was used for something else
  // (reason "idempotency_conflict"). unavailable with reason "draining": shutting down.
  Task<Result<RunId>> create(Principal who, Spec spec, Idempotency idempotency);

  // Answers a client's call. not_found: no such run, or (reason "unknown_tool_use") the call is not
  // pending. conflict with reason "run_terminal": the run has ended.
  Task<Result<void>> answer(Principal who, RunId run, std::string tool_use_id, ToolAnswer answer);

  // Asks a run to stop; durable when it returns. The status is what the run will end as.
  Task<Result<RunStatus>> cancel(Principal who, RunId run);

  // Events with seq > after, then live ones. not_found.
  Task<Result<std::unique_ptr<Subscription>>> subscribe(Principal who, RunId run, EventSeq after);

  // Events with seq > after that are there now, at most about `bytes_max`. not_found.
  Task<Result<EventsPage>> events(Principal who, RunId run, EventSeq after, std::size_t bytes_max);

  Task<Result<RunView>> get(Principal who, RunId run);
  Task<Result<std::vector<RunRow>>> list(RunFilter filter);

  // Refuses new runs from now on; answers and reads go on.
  void drain() { draining_ = true; }
  bool is_draining() const { return draining_; }
  // Whether a run is doing something of its own, rather than waiting for its client.
  bool is_busy() const;
  // Cuts off every run. What is durable is continued by the next process.
  Task<void> stop();

  const Catalog& catalog() const { return deps_.catalog; }
  Store& store() { return deps_.store; }
  const agent::Counters& counters() const { return counters_; }
  std::size_t resting() const { return resting_.size(); }

 private:
  using LivePtr = std::shared_ptr<LiveRun>;

  LiveRun::Keeper& keeper() { return *this; }
  Result<CreatedEntry> resolve(Spec spec) const;
  LivePtr make_live(const RunRow& row);
  LivePtr find_live(const RunId& run) const;
  void on_end(LiveRun& run) override;
  void on_waiting(LiveRun& run) override;
  void on_broken(LiveRun& run, const Error& error) override;
  void on_unused(LiveRun& run) override;
  void put_aside(const RunId& run);
  // Brings a run that was put aside back into memory.
  void wake(const WorkspaceSlug& workspace, const RunId& run);
  void deliver(const WorkspaceSlug& workspace, Mailbox mail);
  Task<void> destroy(LivePtr run, std::unique_ptr<agent::AgentRun> agent);
  Task<void> replace(LivePtr run, std::unique_ptr<agent::AgentRun> broken);
  Task<void> activate(WorkspaceSlug workspace, RunId run);
  Task<void> reload(WorkspaceSlug workspace, RunId run, agent::AgentRun::Start start);
  Task<void> pause(milliseconds duration);
  Task<void> load_all(std::vector<ClaimedRun> runs, std::size_t* loaded);
  Task<Result<void>> load(RunRow row, std::vector<Mailbox> mail, agent::AgentRun::Start start);
  Task<Result<std::unique_ptr<agent::State>>> fold(RunId run);

  Deps deps_;
  const Limits limits_;
  agent::Counters counters_;
  agent::Surroundings surroundings_;
  std::unordered_map<RunId, LivePtr> live_;
  std::deque<RunId> ended_;                        // those of live_ that have ended, oldest first
  std::unordered_map<RunId, Timers::Id> resting_;  // runs put aside, with their next deadline
  std::set<RunId> loading_;                        // runs on their way back into memory
  bool recovering_ = false;
  bool recovered_ = false;
  bool draining_ = false;
  bool stopping_ = false;
  std::set<Wakeup*> pauses_;  // rung on stop
  TaskGroup tasks_;           // last: tasks use everything above
};

}  // namespace errand::engine
