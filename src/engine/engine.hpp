#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
#include "json/schema_cache.hpp"
#include "run/fork.hpp"
#include "run/mail.hpp"
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
  // Ended runs are removed after so long; never without it.
  std::optional<milliseconds> keep_runs;
};

// An answer to a client's call.
struct CallAnswer {
  std::string tool_use_id;
  ToolAnswer answer;
  std::string claim_id;  // of the claim that the sender holds; empty without one
};

// A call that waits for a client, with times of day.
struct PendingCall {
  Mailbox box;
  WallTime expires_at{};
  std::optional<WallTime> claimed_until;  // if a claim is in force
};

struct EventsPage {
  std::vector<SegmentPtr> segments;
  EventSeq after = 0;     // skip events up to this one
  EventSeq last_seq = 0;  // of the run's log
};

struct JournalPage {
  std::vector<std::string> entries;  // JSON texts
  bool has_more = false;
};

// A run that goes on from another one.
struct ForkedRun {
  RunId run;
  ForkedFrom from;
};

// A run as it stands in the store.
struct RunView {
  RunRow row;
  std::unique_ptr<agent::State> state;
  std::vector<PendingCall> pending;
};

// All runs: the verbs that the HTTP server and the in-process runtime call. Lives on one home.
// Every verb may fail with unavailable (the store) or internal; only other codes are listed.
//
// Files: engine.cpp (verbs on runs), fork.cpp, pending_calls.cpp (verbs on calls that wait for a
// client), recovery.cpp (how runs leave memory and come back), upkeep.cpp (lease and retention).
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
  // If more of them wait, the one that has waited longest is dropped at once, so that memory does
  // not grow with the rate at which runs come.
  static constexpr std::size_t kWaitingRunsMax = 2048;

  Engine(Deps deps, Limits limits);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // After a restart, a call that waits for a client does so for at least so long.
  static constexpr milliseconds kCallGrace{30'000};

  // Begins to take over what a former process left unfinished, and to look after what is there.
  // Verbs may be called from now on.
  void start();
  // Takes over what nobody owns; start() does it too.
  Task<void> recover();
  bool is_recovered() const { return recovered_; }

  // Durable when it returns; the run goes on by itself.
  // invalid_argument: unknown model or tool, or a schema that cannot be used. conflict: the key was
  // used for something else (reason "idempotency_conflict"). unavailable with reason "draining":
  // shutting down.
  Task<Result<RunId>> create(Principal who, Spec spec, Idempotency idempotency);

  // The same for a run that begins with the turns that another has finished by a point of its log,
  // results of their calls included; nothing of that is done again. not_found: no such run.
  Task<Result<ForkedRun>> fork(Principal who, RunId run, ForkParams params,
                               Idempotency idempotency);
  // The same for a run whose first journal entries are there: `created`, what it takes over, and
  // the turn to ask. `blobs` is what these name. Never gives `conflict`.
  Task<Result<CreateOutcome>> begin(Principal who, std::vector<JournalEntry> journal,
                                    std::vector<RunBlob> blobs, Idempotency idempotency);

  // Answers a client's call. not_found: no such run, or (reason "unknown_tool_use") the call is not
  // pending. conflict with reason "run_terminal": the run has ended; with reason "claimed": the
  // call is claimed, and not with this claim.
  Task<Result<void>> answer(Principal who, RunId run, CallAnswer answer);

  // Calls that wait for a client, oldest first. If there are none, waits for some up to `patience`.
  Task<Result<std::vector<PendingCall>>> pending_calls(CallFilter filter, milliseconds patience);
  // Takes a pending call for one client. not_found with reason "unknown_tool_use": it is not
  // pending. conflict with reason "claimed": another client has it.
  Task<Result<PendingCall>> claim_call(Principal who, std::string tool_use_id, milliseconds ttl);
  // The same for a claim that is to last longer. conflict with reason "claimed": it was lost.
  Task<Result<PendingCall>> extend_claim(Principal who, std::string tool_use_id,
                                         std::string claim_id, milliseconds ttl);

  // Asks a run to stop; durable when it returns. The status is what the run will end as.
  Task<Result<RunStatus>> cancel(Principal who, RunId run);

  // Events with seq > after, then live ones. not_found.
  Task<Result<std::unique_ptr<Subscription>>> subscribe(Principal who, RunId run, EventSeq after);

  // Events with seq > after that are there now, at most about `bytes_max`. not_found.
  Task<Result<EventsPage>> events(Principal who, RunId run, EventSeq after, std::size_t bytes_max);

  // Entries of the journal behind the first `after` ones, at most `limit` and about `bytes_max`,
  // with their secrets blotted out. not_found.
  Task<Result<JournalPage>> journal(Principal who, RunId run, std::size_t after, std::size_t limit,
                                    std::size_t bytes_max);

  Task<Result<RunView>> get(Principal who, RunId run);
  Task<Result<std::vector<RunRow>>> list(RunFilter filter);

  // Refuses new runs from now on; answers and reads go on.
  void drain();
  bool is_draining() const { return draining_; }
  // Whether a run is doing something of its own, rather than waiting for its client.
  bool is_busy() const;
  // Cuts off every run. What is durable is continued by the next process.
  Task<void> stop();

  Catalog& catalog() { return deps_.catalog; }
  Store& store() { return deps_.store; }
  ToolSetCache& tool_sets() { return tool_sets_; }
  const agent::Counters& counters() const { return counters_; }
  std::size_t resting() const { return resting_.size(); }

 private:
  using LivePtr = std::shared_ptr<LiveRun>;

  LiveRun::Keeper& keeper() { return *this; }
  // Pins what could change later.
  Result<CreatedEntry> resolve(Spec spec, std::string_view model_id);
  // Leaves the set with what it offers, and remembers it for those who send it again.
  Result<void> check_schema(OfferedTool& tool, std::string_view pointer);
  Result<ToolDecls> resolve_tools(ToolSetPtr& tools);
  Result<OutputMechanism> resolve_output(const Spec& spec, const std::vector<ToolDecl>& tools,
                                         const llm::Model& model);
  LivePtr make_live(const RunRow& row);
  LivePtr find_live(const RunId& run) const;
  void on_end(LiveRun& run) override;
  void on_waiting(LiveRun& run) override;
  void on_calls_offered(LiveRun& run) override;
  void on_broken(LiveRun& run, const Error& error) override;
  void on_unused(LiveRun& run) override;

  PendingCall shown(Mailbox box) const;
  Task<Result<PendingCall>> take_call(CallClaim claim);
  void watch_claim(milliseconds left);
  void tell_watchers();

  Task<void> keep_lease();
  Task<void> renew_lease();
  Task<void> remove_old_runs();
  bool owns_runs() const;

  void end_waiting(LiveRun& run);
  void put_aside(const RunId& run);
  void rest(const WorkspaceSlug& workspace, const RunId& run, SteadyTime until);
  // Brings a run that was put aside back into memory.
  void wake(const WorkspaceSlug& workspace, const RunId& run);
  void deliver(const WorkspaceSlug& workspace, Mailbox mail);
  Task<void> destroy(LivePtr run, std::unique_ptr<agent::AgentRun> agent);
  Task<void> replace(LivePtr run, std::unique_ptr<agent::AgentRun> broken);
  void end_loading(const RunId& run);
  Task<void> activate(WorkspaceSlug workspace, RunId run);
  Task<void> reload(WorkspaceSlug workspace, RunId run, agent::AgentRun::Start start);
  Task<void> pause(milliseconds duration);
  Task<void> claim_all();
  Task<void> take_over(ClaimedRun run);
  bool leave_resting(const ClaimedRun& run);
  Task<void> resume_suspects();
  bool is_settled(const RunId& run) const;
  Task<Result<void>> load(RunRow row, std::vector<Mailbox> mail, agent::AgentRun::Start start);
  Result<void> drive(RunRow row, std::vector<Mailbox> mail, std::unique_ptr<agent::State> state,
                     agent::AgentRun::Start start);
  Task<Result<std::unique_ptr<agent::State>>> fold(RunId run);

  Deps deps_;
  const Limits limits_;
  agent::Counters counters_;
  json::SchemaCache schemas_;  // of the tools of all runs
  ToolSetCache tool_sets_;
  agent::Lease lease_;
  agent::Surroundings surroundings_;
  std::unordered_map<RunId, LivePtr> live_;
  std::deque<RunId> ended_;  // those of live_ that have ended, oldest first
  // Runs in memory that only wait, or did so a moment ago, by the timers that put them aside: the
  // one that has waited longest comes first.
  std::map<Timers::Id, RunId> waiting_;
  struct Resting {
    WorkspaceSlug workspace;
    Timers::Id timer;  // of the next deadline
  };
  std::unordered_map<RunId, Resting> resting_;  // runs put aside
  std::set<RunId> loading_;                     // runs on their way back into memory
  // Runs that may have brought the process down, by how often.
  std::multimap<int, ClaimedRun> suspects_;
  std::size_t resumed_ = 0;            // runs taken over
  std::set<Timers::Id> claim_timers_;  // of claims that were made here
  std::set<Wakeup*> call_watchers_;    // those who wait for pending calls
  bool recovering_ = false;
  bool recovered_ = false;
  bool draining_ = false;
  bool stopping_ = false;
  std::set<Wakeup*> pauses_;  // rung on stop
  TaskGroup tasks_;           // last: tasks use everything above
};

}  // namespace errand::engine
