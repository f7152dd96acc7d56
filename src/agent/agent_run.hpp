#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/calls.hpp"
#include "agent/child_runs.hpp"
#include "agent/counters.hpp"
#include "agent/fold/refusal.hpp"
#include "agent/fold/state.hpp"
#include "agent/fold/step.hpp"
#include "agent/history_cache.hpp"
#include "agent/lease.hpp"
#include "agent/run_ledger.hpp"
#include "agent/run_log.hpp"
#include "agent/run_trace.hpp"
#include "agent/turn_room.hpp"
#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/sparse.hpp"
#include "llm/model.hpp"
#include "run/log/mail.hpp"
#include "store/store.hpp"
#include "tool/call_questions.hpp"
#include "tool/schema_work.hpp"
#include "tool/tool_source.hpp"

namespace errand::agent {

// What every run of a process shares.
struct Surroundings {
  Home home;
  Store& store;
  const Clock& clock;
  Timers& timers;
  IdSource& ids;
  const ToolSources& tools;
  SchemaWork schemas;  // also for other work that takes long
  Log& log;
  const Lease& lease;
  Counters& counters;
  TurnRoom& turns;
  bool typed_events = false;          // segments carry structs for readers in this process
  SecretSource* secrets = nullptr;    // null: there are none
  SpanSink* spans = nullptr;          // null: none are made
  ChildRuns* children = nullptr;      // null: there are no stored agents
  HistoryCache* histories = nullptr;  // null: each run reads its session's history
  RunLedger* ledger = nullptr;        // null: usage is not counted
};

// Told by a run, on its home, never from inside one of its member functions that callers call.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void on_commit(const Committed& commit) = 0;
  // The model is asked again after a pause.
  virtual void on_retry(const ModelRetry& retry) = 0;
  // The terminal event is durable; the run does nothing more.
  virtual void on_end() = 0;
  // The run has nothing to do until its client answers, or until next_deadline().
  virtual void on_waiting() = 0;
  // The run has nothing to do until a run that it has called ends. It stays in memory.
  virtual void on_waiting_for_child() = 0;
  // The run that waited for such a run has something to do again.
  virtual void on_going_on() = 0;
  // The store refused a segment, or a task failed: the state in memory is not to be trusted.
  virtual void on_broken(const Error& error) = 0;
};

struct AddedHistory;

// One run in memory: asks the model, starts calls, folds answers, ends. It acts only when there is
// something to do; a run that waits for its client has no task running.
//
// Files: agent_run.cpp (life and steps), incoming.cpp (mail and results), session_turn.cpp (the
// session before the first turn), bind_tools.cpp (tools of other servers), model_turn.cpp (a turn
// with the model), tool_calls.cpp (calls and their outcomes), host_calls.cpp (calls that this
// process makes), questions.cpp (what the servers of calls ask).
class AgentRun final {
 public:
  enum class Start {
    fresh,      // just created: the first turn is journaled and not yet asked
    recovered,  // folded from the store after the process that drove it has ended
    replaced,   // folded from the store because the state in memory could not be trusted
    activated   // folded from the store after it was put aside, waiting for its client
  };
  static constexpr milliseconds kCancelGrace{2000};
  // A run whose model is not there looks for it this often.
  static constexpr milliseconds kModelPoll{30'000};
  // The most progress reports of a call; later ones are dropped.
  static constexpr int kReportsMax = 1000;
  // The time that servers have to list their tools.
  static constexpr milliseconds kBindMax{30'000};

  struct Params {
    RunRow row;
    std::unique_ptr<State> state;
    std::vector<Mailbox> mail;
    Start start = Start::fresh;
    bool is_given_up = false;  // it has brought the process down too often to be asked about again
    // Of an agent that this one goes on for: see reports().
    std::map<ToolUseId, int> reports = {};
    // Of the session whose turn the run got when it was created.
    std::optional<HistorySize> history = {};
  };

  // Without a model (nullptr) the run can be cancelled and can run out of time, but not go on.
  AgentRun(Surroundings& around, std::shared_ptr<llm::Model> model, RunObserver& observer,
           Params params);
  ~AgentRun();
  AgentRun(const AgentRun&) = delete;
  AgentRun& operator=(const AgentRun&) = delete;

  void start();
  // A filled mailbox that is durable in the store.
  void deliver(Mailbox mail);
  // The lease allows effects again: begins the effects that were held back.
  void resume_effects();
  // Cuts off all work and returns when none is left. The log stays as it is.
  Task<void> stop(CancelReason reason);

  const State& state() const { return *state_; }
  // Whether the run is doing something of its own, rather than waiting for its client or for a run
  // that it has called.
  bool is_busy() const {
    return activity_ == Activity::driving || tasks_.size() > 0 ||
           host_tools_running() > calls_.asking() || log_->has_pending();
  }
  // Whether it may be dropped from memory, because its log says all there is to know.
  bool may_rest() const;
  // The number of progress reports of each call of the turn; calls without any are left out. The
  // log does not have it.
  std::map<ToolUseId, int> reports() const { return calls_.reports(); }
  // When it has work to do again without any mail.
  SteadyTime next_deadline() const;

 private:
  enum class Activity : std::uint8_t { idle, driving, stopping };
  // What comes before the first step in this process.
  enum class Opening : std::uint8_t {
    none,
    ask,            // the first turn is journaled and only has to be asked
    confirm_resume  // the entry that says that the run was resumed has to be durable
  };
  // Which run of its session has the turn. A run of no session always has it.
  enum class Turn : std::uint8_t { here, unknown, elsewhere };
  // What keeps the run from an effect that it is to begin.
  enum class Hold : std::uint8_t { none, lease, no_model, no_turn };
  enum class Cancelling : std::uint8_t { no, in_grace, grace_over };
  // Why the run may not go on.
  enum class Cutoff : std::uint8_t { none, given_up, out_of_time, too_long };

  // Life and steps.
  TaskGroup::OnBug on_bug();
  std::size_t host_tools_running() const { return host_tools_ ? host_tools_->size() : 0; }
  std::size_t children_running() const { return child_calls_ ? child_calls_->size() : 0; }
  bool waits_for_children() const;
  // The runs of the turn's calls end with this run. False: the store does not answer, and the run
  // is broken.
  Task<bool> cancel_children();
  void kick();
  Task<void> drive();
  Step choose_step() const;
  // Takes the next step. False: nothing is to be done after it for now.
  Task<bool> take_step();
  Task<bool> begin_calls();
  Task<bool> end_run(TerminalEntry terminal);
  static Task<bool> stay_ended();
  void record(JournalEntry entry, milliseconds wait_max = RunLog::kNoWait);
  Task<void> fold_inbox();
  // Whether something came that fold_inbox would take now.
  bool has_mail_to_fold() const;
  Task<Result<ToolAnswer>> read_answer(std::string body);
  // Finds out whether the answer of the turn fits the output schema.
  Task<void> check_answer();
  void fold_cancel(const std::string& reason);
  bool cancel_waits() const;
  Task<bool> freeze();
  // What the run adds to the history of its session; a long text is written on the pool.
  Task<Result<AddedHistory>> make_history();
  Task<void> finish(TerminalEntry terminal);
  // Counts the end, and writes a log line if the run has failed.
  void tell_end(const TerminalEntry& terminal);
  Task<void> fetch_mail();
  // Asks about the tools that the run is not bound to yet. An answer that does not come in time
  // leaves its tools unavailable, or ends the run if it cannot go without them. False: something
  // else comes first, or the run has ended.
  Task<bool> bind_tools();
  struct Bound {
    std::vector<ToolDecl> tools;
    std::string why_not;  // for people, if there is no answer
  };
  Task<void> bind_ref(std::size_t ref, Bound* out, std::size_t* left);
  milliseconds bind_time() const;
  bool has_news() const;
  // Asks the model, unless something else comes first. False: the run cannot go on now.
  Task<bool> take_turn(TurnEntry entry);
  // Asks the session whether it is the run's turn. False: it cannot be read; the run is then
  // broken.
  Task<bool> look_for_turn();
  // Reads the session's earlier messages. False: they cannot be read; the run is then broken.
  Task<bool> join_session(TurnEntry* first);
  Task<void> back_off();
  void recover();
  bool rests() const;
  // Waits until a recovered run is on record as such, so that a run that brings the process down
  // again is known for it.
  Task<bool> recovery_is_durable();
  void watch_run_time();
  // Ends the run's waits, because its next step has changed.
  void interrupt();

  // A turn with the model.
  // Nothing if they cannot be read now; the run is then broken.
  Task<std::optional<std::shared_ptr<const llm::TurnFiles>>> load_files(
      std::vector<FilePart> wanted);
  TurnRoom::Place ask_for_room(std::size_t file_bytes);
  // Returns early if something else comes first.
  Task<void> wait_for_room(const TurnRoom::Place* room);
  void begin_turn(TurnEntry& entry);
  void ask_model(std::shared_ptr<const llm::TurnFiles> files);
  // Reads the stream of the answer to its end.
  Task<void> read_answer();
  bool take_part(llm::TurnEvent& event);  // false: the event closes a call, or the turn
  // Takes an event that take_part has left. False: it has closed the turn.
  Task<bool> close_part(llm::TurnEvent* event);
  Task<void> close_call(llm::CallClosed call);
  Task<void> close_turn(llm::TurnEvent last);
  Task<void> fail_turn(llm::Failed failed);
  Task<void> end_turn(std::string finish_reason, Usage usage, Sparse<ModelFailure> fatal);
  // The calls of the turn as its message lists them.
  Task<std::vector<ListedCall>> listed_calls();

  // Calls and their outcomes.
  // Those from this one on that may start and have not.
  void start_ready_calls(std::size_t first = 0);
  const Refusal* refusal(const CallState& call);
  // Finds out which calls from this one on are refused. What takes long of that is done on the
  // pool.
  Task<void> judge_calls(std::size_t first = 0);
  Task<void> judge_aside(ToolUseId id);
  std::string shown_input(const CallState& call);
  void offer_to_client(const CallState& call);
  Task<void> settle_without_running();
  // A result that came from outside: checked, if its tool has an output schema, and recorded.
  Task<void> take_result(OutcomeEntry outcome, std::optional<json::Value> structured);
  void record_outcome(OutcomeEntry outcome);
  // Whether a call of the turn has failed whose tool cancels the calls beside it.
  bool has_failed_sibling() const;
  // Ends the calls of the turn that have begun and have no result.
  void cancel_siblings();
  Task<void> cancel_child_of(ToolUseId call);
  Principal principal() const;
  // The principal on whose behalf a call is made; its requests to other services are part of the
  // run's trace.
  Principal principal_of(const ToolUseId& call) const;
  ToolPtr open_tool(const ToolDecl& binding) const;
  void count_call(const CallState& call, const OutcomeEntry& outcome);
  void make_call(const CallState& call, ToolPtr tool);
  Task<void> run_host_tool(ToolPtr tool, ToolCall call, Principal who);
  // Waits until the call may begin. False: it has ended meanwhile, or the run is broken.
  Task<bool> may_take_effect(ToolUseId id, ToolAnnotations promises);
  void settle_host_call(const ToolUseId& id, ToolOutcome outcome);
  void cut_off(const CallState& call);
  Task<Result<void>> keep_note(ToolUseId id, json::Object note);
  // Whether the next process that drives the run resumes a call that is being cut off.
  bool goes_on_later(const ToolUseId& id) const;
  // The tasks that calls of this tool run in.
  TaskGroup& tasks_for(const ToolDecl& tool);
  void show_progress(ToolProgress progress);
  void fold_progress(const Mailbox& mail);
  // The time of a call or a question is over.
  void end_time_of(const ToolUseId& id);
  // Answers a call or a question in its client's place, unless the client comes first.
  Task<void> answer_for_client(ToolUseId id, ToolAnswer answer);
  // False: the store does not tell whether the answer counts.
  Task<bool> try_to_answer(ToolUseId id, ToolAnswer answer);
  bool waits_for_answer(const ToolUseId& id) const;
  void take_late_answer(Mailbox filled);

  // What the servers of calls ask.
  class Asking;
  std::unique_ptr<CallQuestions> make_questions(const ToolUseId& call);
  AnswerPtr<ToolAnswer> ask_client(const ToolUseId& call, ClientQuestion question);
  AnswerPtr<ModelAnswer> ask_for_server(const ToolUseId& call, ModelQuestion question);
  class Sampling;
  Task<void> sample(std::unique_ptr<Sampling> sampling, ModelQuestion question);
  bool is_running(const ToolUseId& call) const;
  const std::string* asked_before(const CallState& call, const ToolUseId& id) const;
  void open_question(const LocalToolCall& offer);
  // A mailbox that was open before the run was loaded. False: it does not belong to a question.
  bool keep_question(const Mailbox& mail);
  // False: the mail does not answer a question.
  bool take_answer(const Mailbox& mail);
  struct Question;
  void record_answer(const ToolUseId& id, const Question& question, ToolAnswer answer);
  static Error call_is_over();
  // The call is over, and its answers are not needed any more.
  void close_questions(const ToolUseId& call);
  // The call has an answer that it has waited for, and its time goes on.
  void release_time(const ToolUseId& call);

  Surroundings& around_;
  const std::shared_ptr<llm::Model> model_;
  RunObserver& observer_;
  const RunKey key_;
  const std::int64_t epoch_;
  const Start start_;
  Turn turn_;
  std::optional<HistorySize> history_;  // of the session, if that is known
  std::optional<std::int64_t>
      joined_at_;  // entries of the history that this run has read, in this process
  std::unique_ptr<State> state_;

  std::vector<Mailbox> inbox_;
  struct HostOutcome {
    OutcomeEntry entry;
    std::vector<RunBlob> blobs;  // of its files
    std::optional<json::Value> structured;
  };
  std::vector<HostOutcome> host_outcomes_;
  struct AnswerCheck {
    int turn = -1;
    Mistakes mistakes;
  };
  AnswerCheck answer_check_;  // of the last turn whose answer was checked
  using Stage = Calls::Stage;
  Calls calls_;
  // What the server of a call has asked the client, until it is answered or the call is over.
  struct Question {
    ToolUseId call;
    std::string name;
    std::string asked;                   // as in AnswerEntry
    AnswerPtr<ToolAnswer> pending = {};  // null: a former process has asked, and no task waits
  };
  std::map<ToolUseId, Question> questions_;
  int samplings_ = 0;  // under way
  Timers::Id grace_timer_;
  const SteadyTime end_time_;  // when the run is out of time
  Timers::Id end_timer_;

  Activity activity_ = Activity::idle;
  Opening opening_ = Opening::none;
  Hold hold_ = Hold::none;
  Cancelling cancelling_ = Cancelling::no;
  Cutoff cutoff_ = Cutoff::none;

  // Of the turn that is being streamed.
  std::unique_ptr<llm::TurnStream> stream_;
  std::string text_;                 // since the last closed call
  std::vector<std::string> blocks_;  // since the last closed call
  Sparse<AnsweredBy> answered_by_;
  Sparse<llm::Failed> failure_;

  Wakeup* pausing_ = nullptr;
  std::vector<Wakeup*> held_calls_;        // calls that wait for the lease
  const std::unique_ptr<RunTrace> trace_;  // null: no spans are made
  std::unique_ptr<RunLog> log_;
  TaskGroup tasks_;  // last, with the next: tasks use everything above
  // Apart, because a cancel cuts them off while the run itself goes on; made when first needed.
  std::unique_ptr<TaskGroup> host_tools_;
  std::unique_ptr<TaskGroup> child_calls_;  // calls of stored agents, which wait for other runs
};

}  // namespace errand::agent
