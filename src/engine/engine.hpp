#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agent/agent_run.hpp"
#include "async/blocking_pool.hpp"
#include "async/gate.hpp"
#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "async/wakeup.hpp"
#include "base/log.hpp"
#include "base/result.hpp"
#include "engine/models/catalog.hpp"
#include "engine/records/record_books.hpp"
#include "engine/residency/paged_journal.hpp"
#include "engine/residency/pauses.hpp"
#include "engine/residency/residency.hpp"
#include "engine/residency/slots.hpp"
#include "engine/residency/subscription.hpp"
#include "engine/session_cache.hpp"
#include "engine/session_spec.hpp"
#include "json/schema_cache.hpp"
#include "run/fork.hpp"
#include "run/log/mail.hpp"
#include "run/principal.hpp"
#include "run/spec.hpp"
#include "store/store.hpp"
#include "tool/tool_caller.hpp"
#include "tool/tool_source.hpp"

namespace errand::engine {

// Limits of the server; a run's own budgets may tighten or, for timeouts, change them.
struct Limits {
  milliseconds local_tool_timeout{300'000};
  int max_tool_turns = 32;
  milliseconds run_time{86'400'000};
  // Ended runs are removed after this time; absent: never.
  std::optional<milliseconds> keep_runs;
  SlotLimits slots = {};         // how many runs are in flight at once
  agent::TurnLimits turns = {};  // of all runs
  // Of a run's conversation, the history of its session included.
  std::size_t conversation_bytes_max = std::size_t{64} * 1024 * 1024;
  // Events that wait in memory for all readers; past it, they are read from the store later.
  std::size_t reader_bytes_max = std::size_t{64} * 1024 * 1024;
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

// Of long reads, two have a place at a time, because each may take much memory. A page that was
// read in one keeps it until nobody needs what was read.
using ReadPlace = std::optional<Gate::Pass>;

struct EventsPage {
  std::vector<SegmentPtr> segments;
  EventSeq after = 0;     // skip events up to this one
  EventSeq last_seq = 0;  // of the run's log
  ReadPlace place = {};
};

struct HistoryPage {
  std::vector<SessionEntry> entries;
  ReadPlace place = {};
};

struct JournalPage {
  std::vector<std::string> entries;  // JSON texts
  bool has_more = false;
  ReadPlace place = {};
};

// A user's opinion of a run.
struct Feedback {
  enum class Verdict { up, down };
  Verdict verdict = Verdict::up;
  std::string explanation = {};
  std::optional<std::string> content = {};  // the text that it is about; absent: the final text
};

// A user's opinion of a run, as it is kept.
struct KeptFeedback {
  Feedback feedback;
  WallTime created_at{};
  WallTime updated_at{};
};

// A call of a stored agent by a run.
struct AgentCall {
  RunId run;  // that makes it
  ToolUseId id;
  std::string agent;  // its id
  std::int64_t version = 0;
  std::string message;  // what the agent is asked
};

// A run that goes on from another one.
struct ForkedRun {
  RunId run;
  ForkedFrom from;
};

struct SessionView {
  SessionRow row;
  SessionParams params;
};

// A run as the store has it.
struct RunView {
  RunRow row;
  std::unique_ptr<agent::State> state;
  std::vector<PendingCall> pending;
};

// A wait for calls, as its caller sees it. Lives on the engine's home.
class CallPoll final {
 public:
  explicit CallPoll(std::function<bool()> is_wanted) : is_wanted_(std::move(is_wanted)) {}
  CallPoll(const CallPoll&) = delete;
  CallPoll& operator=(const CallPoll&) = delete;

  bool is_wanted() const { return is_wanted_(); }
  // Asks again whether the calls are wanted: of all waits, only this one looks up.
  void recheck() {
    if (bell_) bell_->notify();
  }

 private:
  friend class Engine;

  const std::function<bool()> is_wanted_;
  Wakeup* bell_ = nullptr;  // of a wait that is going on
};

// The answer to a request for a run that only a newer program understands.
Error newer_run(const RunId& run);

// All runs: the verbs that the HTTP server and the in-process runtime call. Lives on one home.
// Every verb may fail with unavailable (the store) or internal; only other codes are listed.
//
// Files: engine.cpp (verbs on runs), create.cpp, child_runs.cpp, history/fork.cpp, feedback.cpp,
// sessions.cpp, remove.cpp, pending_calls.cpp (verbs on calls that wait for a client),
// lost_answers.cpp (writes whose outcome the store could not tell), upkeep.cpp (lease and
// retention). Where runs are and how they move is in residency.hpp.
class Engine final : private agent::ChildRuns {
 public:
  struct Deps {
    Home home;
    Store& store;
    const Clock& clock;
    Timers& timers;
    IdSource& ids;
    Catalog& catalog;
    const ToolSources& tools;
    Log& log;
    bool typed_events = false;           // see agent::Surroundings
    SpanSink* spans = nullptr;           // takes the spans of runs; null: none are made
    agent::RunLedger* ledger = nullptr;  // adds up the usage of runs; null: not counted
    RecordBooks* records = nullptr;      // null: there are no agents and no secrets
    BlockingPool* pool = nullptr;  // for what takes long to compute; null: that is done at home
  };

  // The most long reads of the store at once. The store needs more read threads than this, so that
  // short reads find a free one.
  static constexpr std::size_t kScansMax = 5;

  Engine(Deps deps, Limits limits);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Begins to take over the runs that a former process left unfinished, and to look after all runs.
  // Verbs may be called from now on.
  void start();
  // Takes over the runs without an owner; start() does it too.
  Task<void> recover() { return residency_.recover(); }
  bool is_recovered() const { return residency_.is_recovered(); }
  // Runs of a former process that are still to be taken over.
  std::size_t backlog() const { return residency_.backlog(); }

  // Durable when it returns; the run goes on by itself.
  // invalid_argument: unknown model or tool, or a schema that cannot be used. not_found: no such
  // agent. conflict: the key was
  // used for something else (reason "idempotency_conflict"). unavailable with reason "draining":
  // shutting down.
  Task<Result<RunId>> create(Principal who, Spec spec, Idempotency idempotency);

  // The same for a run that begins with the turns that another run had finished at a point of its
  // log, results of their calls included. None of these calls is made again. not_found: no such
  // run.
  Task<Result<ForkedRun>> fork(Principal who, RunId run, ForkParams params,
                               Idempotency idempotency);
  // The same for a run whose first journal entries are there: `created`, the entries that it takes
  // over, and the turn to ask. `blobs` are the blobs that these entries name. The run gets an id of
  // its own unless `id` says which. Never gives `conflict`.
  Task<Result<CreateOutcome>> begin(Principal who, std::vector<JournalEntry> journal,
                                    std::vector<RunBlob> blobs, Idempotency idempotency,
                                    std::optional<SessionTurn> session = {}, RunId id = {});

  // The run of an agent's call, created if it is not there yet: however often a call is made, it
  // has one run. A caller that is cut off leaves no half-created run. invalid_argument with the
  // reason "too_deep": the run that calls has kChildDepthMax runs above it. not_found: the agent,
  // or its version, is gone. Else as `create`.
  Task<Result<RunRow>> begin_child(Principal who, AgentCall call);

  // Answers a client's call. not_found: no such run, or (reason "unknown_tool_use") the call is not
  // pending. conflict with reason "run_terminal": the run has ended; with reason "claimed": the
  // call is claimed, and not with this claim.
  Task<Result<void>> answer(Principal who, RunId run, CallAnswer answer);

  // Calls that wait for a client, oldest first. If there are none, waits for some up to `patience`,
  // and no longer than `poll` wants them.
  Task<Result<std::vector<PendingCall>>> pending_calls(CallFilter filter, milliseconds patience,
                                                       std::shared_ptr<CallPoll> poll = {});
  // Has all who wait asked whether they still want their calls.
  void recheck_waits();
  // Takes a pending call for one client. not_found with reason "unknown_tool_use": it is not
  // pending. conflict with reason "claimed": another client has it.
  // A claim that is made again with its `key` is the same one, because its client may not have
  // heard of it; an empty key is never used again.
  Task<Result<PendingCall>> claim_call(Principal who, std::string tool_use_id, milliseconds ttl,
                                       std::string key = {});
  // The same for a claim that is to last longer. conflict with reason "claimed": it was lost.
  Task<Result<PendingCall>> extend_claim(Principal who, std::string tool_use_id,
                                         std::string claim_id, milliseconds ttl);

  // Reports the progress of a pending call, which is shown as an event without a wait for the
  // commit. not_found with reason "unknown_tool_use": it is not pending. conflict with reason
  // "run_terminal": the run has ended.
  Task<Result<void>> report_progress(Principal who, std::string tool_use_id, ProgressReport report);

  // Asks a run to stop; durable when it returns. The status is what the run will end as.
  Task<Result<RunStatus>> cancel(Principal who, RunId run);

  // Events with seq > after, then live ones. If there is no event `after` yet: those after the last
  // one, or, of an ended run, its last one again. not_found.
  Task<Result<std::unique_ptr<Subscription>>> subscribe(Principal who, RunId run, EventSeq after);

  // Events with seq > after that are there now, at most about `bytes_max`. not_found.
  Task<Result<EventsPage>> events(Principal who, RunId run, EventSeq after, std::size_t bytes_max);

  // Entries of the journal behind the first `after` ones, at most `limit` and about `bytes_max`,
  // with their secrets blotted out. not_found.
  Task<Result<JournalPage>> journal(Principal who, RunId run, std::size_t after, std::size_t limit,
                                    std::size_t bytes_max);

  // Makes one call of a stored tool, or of a built-in one, to try the tool out. The call ends with
  // the task that waits for it. not_found: there is no such tool. invalid_argument: the arguments
  // do not fit its schema.
  Task<Result<ToolOutcome>> try_tool(Principal who, std::string id, json::Object arguments);

  // The tools that the workspace has without naming a server or a client, place by place.
  Task<Result<std::vector<ToolOffer>>> tool_offers(Principal who) {
    return deps_.tools.offers(std::move(who));
  }

  // Keeps a user's opinion of a run; a later opinion replaces an earlier one. True: it is the
  // first. not_found: no such run.
  Task<Result<bool>> give_feedback(Principal who, RunId run, Feedback feedback);
  // not_found: no such run, or no opinion was given.
  Task<Result<KeptFeedback>> feedback(Principal who, RunId run);

  Task<Result<RunView>> get(Principal who, RunId run);
  Task<Result<std::vector<RunRow>>> list(RunFilter filter);
  // Removes an ended run for good. not_found: no such run. conflict with reason "run_active": it
  // has not ended.
  Task<Result<void>> remove_run(Principal who, RunId run);

  // Sessions. not_found: no such session. conflict with reason "session_ended", "session_busy" or
  // "idempotency_conflict"; rate_limited with reason "session_queue_full".
  Task<Result<SessionId>> create_session(Principal who, SessionParams params,
                                         Idempotency idempotency);
  // A run that carries the session on; it may have to wait for its turn.
  Task<Result<RunId>> send(Principal who, SessionId session, SessionMessage message,
                           Idempotency idempotency);
  Task<Result<SessionView>> get_session(Principal who, SessionId session);
  // Entries with n in (after, until], as far as `bytes_max` reaches.
  Task<Result<std::vector<SessionEntry>>> session_history(Principal who, SessionId session,
                                                          std::int64_t after, std::int64_t until,
                                                          std::size_t bytes_max);
  // The same for the newest of them, if not all fit.
  Task<Result<HistoryPage>> newest_history(Principal who, SessionId session, std::int64_t after,
                                           std::int64_t until, std::size_t bytes_max);
  Task<Result<std::vector<SessionRow>>> list_sessions(SessionFilter filter);
  // The model that has answered last in a session. not_found: nobody has, or that run is gone.
  Task<Result<std::string>> model_in_use(SessionRow session);
  // What a session is about, from the first messages in it; empty if nothing was said.
  Task<Result<std::string>> summary_of(Principal who, SessionRow session);
  Task<Result<std::int64_t>> count_sessions(SessionFilter filter);
  // Takes no more messages, and cancels unfinished runs. False: the session had ended before. True
  // also if the store's first answer was lost, so that this is unknown.
  Task<Result<bool>> end_session(Principal who, SessionId session);
  // Removes an ended session for good, with its runs. conflict with reason "session_active": it, or
  // one of its runs, has not ended.
  Task<Result<void>> remove_session(Principal who, SessionId session);

  // Refuses new runs from now on; answers and reads go on.
  void drain();
  bool is_draining() const { return draining_; }
  // Whether a run is doing something of its own, rather than waiting for its client.
  bool is_busy() const { return residency_.is_busy(); }
  // Cuts off every run. The next process continues the runs from their journals.
  Task<void> stop();

  const Clock& clock() const { return deps_.clock; }
  Timers& timers() { return deps_.timers; }
  Catalog& catalog() { return deps_.catalog; }
  BlockingPool* pool() { return deps_.pool; }
  Store& store() const { return deps_.store; }
  // Only if the engine was made with them.
  RecordBooks& records() { return *deps_.records; }
  ToolSetCache& tool_sets() { return tool_sets_; }
  const agent::Counters& counters() const { return counters_; }
  // How many runs are where.
  std::size_t count(Place place) const { return residency_.count(place); }
  const Slots& slots() const { return residency_.slots(); }
  // Claims that were made here and are in force.
  std::size_t claims() const;
  const agent::TurnRoom& turns() const { return turns_; }
  // The bytes that readers hold. Readers of other protocols count, too.
  ReaderBudget& readers() { return readers_; }

 private:
  // The spec with what the stored agent that it names says, as of now.
  Task<Result<Spec>> adopt_agent(Principal who, Spec spec);
  // The tools of refs that the store knows, by the index of the ref.
  using StoredTools = std::map<std::size_t, std::vector<ToolDecl>>;
  // A spec with everything that has to be read before it can be resolved.
  struct Prepared {
    Spec spec;
    StoredTools stored;
    FromAgent from_agent = {};  // only of a session
  };
  Task<Result<Prepared>> prepare(Principal who, Spec spec);
  Task<Result<Prepared>> prepare_session(Principal who, Spec spec);
  // not_found: no such session, unless it was there a moment ago.
  Task<Result<SessionCache::Known>> known_session(SessionKey session);
  // Schemas that may take long to compile, of tools and of the output (null: none), so that
  // resolving the run finds them, or their errors, in the cache. invalid_argument: together they
  // have too many patterns. Other errors are reported when the run is resolved.
  Task<Result<void>> compile_schemas(ToolSetPtr tools, SchemaPtr output);
  // Pins what could change later.
  Task<Result<CreatedEntry>> resolve(Principal who, Prepared asked, std::string model_id);
  Result<CreatedEntry> resolve_now(const Principal& who, Spec spec, std::string_view model_id);
  Result<std::vector<ToolDecl>> bind(const ToolRef& ref, std::size_t index, const Principal& who);
  // The set with the tools that it offers, which is remembered in case the set is sent again.
  Task<Result<ToolSetPtr>> resolve_tools(ToolSetPtr tools, StoredTools stored, Principal who);
  Result<OutputMechanism> resolve_output(const Spec& spec, const ToolDecls& tools,
                                         const llm::Model& model);
  // invalid_argument with the limit: a conversation must not have this many bytes.
  Result<void> check_conversation_bytes(std::size_t bytes) const;

  // Writes whose outcome is known when they return, even if the store's answer was lost
  // (lost_answers.cpp). outcome_unknown: the engine stops before the store answers.
  //
  // Sends mail, and brings it to its run if it is accepted.
  Task<Result<MailOutcome>> post(Mail mail);
  Task<Result<MailOutcome>> find_mail(Mail mail);
  struct Begun {
    CreateOutcome outcome;
    bool is_driven = false;  // the run was read from the store, and goes on by itself
  };
  Task<Result<Begun>> create_surely(NewRun run);
  Task<Result<Begun>> find_created(RunKey key, std::optional<SessionTurn> turn);
  Task<std::optional<RunId>> find_turn(RunRow row, SessionTurn turn);
  Task<Result<EndedSession>> end_surely(SessionKey session, std::string reason);
  Task<Result<std::vector<RunId>>> unfinished_runs(SessionKey session);
  void deliver_end(const WorkspaceSlug& workspace, const EndedSession& ended,
                   std::string_view reason);

  // What a run that is called by another takes from it.
  struct ChildOf {
    RunId id;
    ParentCall parent;
    StoreTime ends_by{};
    int tool_turns_max = 0;
  };
  Task<Result<RunId>> make_run(Principal who, Spec spec, Idempotency idempotency,
                               std::optional<ChildOf> child);
  // A child that is being created, and the tasks that wait for that.
  struct NewChild {
    Result<void> result = {};
    bool is_done = false;
    std::vector<Wakeup*> waiters = {};
    TaskGroup::Ticket task = 0;
  };
  using NewChildPtr = std::shared_ptr<NewChild>;
  Result<ChildOf> child_of(const RunKey& parent, const AgentCall& call) const;
  Task<void> create_child(Principal who, AgentCall call, ChildOf child, NewChildPtr created);
  Task<Result<void>> make_child(Principal who, AgentCall call, ChildOf child);
  Task<void> wait_for(NewChildPtr child);
  Task<Result<void>> cancel_child(RunKey child) override;

  PendingCall shown(Mailbox box) const;
  Task<Result<std::vector<Mailbox>>> look_for_calls(CallFilter filter);
  Task<Result<PendingCall>> take_call(CallClaim claim);
  void watch_claim(const WorkspaceSlug& workspace, const Mailbox& call);
  void forget_claim(const RunId& run, const std::string& slot);
  void forget_claims(const RunId& run);
  void tell_watchers();
  void tell_watchers_of(const WorkspaceSlug& workspace, std::span<const Mailbox> calls);
  void tell_watchers_of(const WorkspaceSlug& workspace, std::string_view name);

  Task<void> keep_lease();
  Task<void> renew_lease();
  Task<void> remove_old_runs();

  Deps deps_;
  const Limits limits_;
  agent::Counters counters_;
  // Of the tools of all runs. Shared with compilations on other threads.
  const std::shared_ptr<json::SchemaCache> schemas_ = std::make_shared<json::SchemaCache>();
  ToolSetCache tool_sets_;
  agent::Lease lease_;
  agent::TurnRoom turns_;
  ReaderBudget readers_;
  agent::HistoryCache histories_;
  SessionCache sessions_;
  agent::Surroundings surroundings_;
  Pauses pauses_;
  Residency residency_;
  // Timers of the claims that were made here and are in force, by run and slot.
  std::map<RunId, std::map<std::string, Timers::Id>> claims_;
  std::map<RunId, NewChildPtr> new_children_;
  // A wait for pending calls.
  struct CallWatcher {
    Wakeup wakeup;
    bool has_news = false;  // else it is only asked whether it still waits
  };
  class Watching;
  // The key of waits: a workspace, and the name of a tool (empty: any).
  using CallsOf = std::pair<WorkspaceSlug, std::string>;
  std::map<CallsOf, std::set<CallWatcher*>> call_watchers_;
  Gate long_reads_;  // of whole logs, each of which may take much memory
  Gate call_looks_;  // for looks at pending calls
  Gate long_lists_;  // which may walk over far more than they show
  JournalPlaces journal_places_;
  bool draining_ = false;
  ToolCaller tried_tools_;
  TaskGroup tasks_;  // last: tasks use everything above
};

}  // namespace errand::engine
