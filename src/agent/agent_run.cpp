#include "agent/agent_run.hpp"

#include <algorithm>
#include <utility>

#include "agent/session_history.hpp"
#include "agent/turn_files.hpp"
#include "async/read_aside.hpp"
#include "base/text.hpp"

namespace errand::agent {
namespace {

std::unique_ptr<RunTrace> make_trace(const Surroundings& around, const RunKey& run,
                                     const CreatedEntry& created) {
  if (!around.spans) return nullptr;
  auto parent = parse_traceparent(created.traceparent);
  if (parent && !parent->is_sampled) return nullptr;
  return std::make_unique<RunTrace>(*around.spans, around.clock, run, created, parent);
}

}  // namespace

AgentRun::AgentRun(Surroundings& around, std::shared_ptr<llm::Model> model, RunObserver& observer,
                   Params params)
    : around_(around),
      model_(std::move(model)),
      observer_(observer),
      key_(params.row.key()),
      epoch_(params.row.epoch),
      start_(params.start),
      turn_(params.row.status == RunStatus::queued && !params.row.session.empty() ? Turn::unknown
                                                                                  : Turn::here),
      history_(params.history),
      state_(std::move(params.state)),
      calls_(around.timers, [this](const ToolUseId& id) { end_time_of(id); }),
      end_time_(around.timers.now() +
                std::max(milliseconds(0), params.row.ends_by - around.store.now())),
      opening_(params.start == Start::fresh && state_->has_begun() ? Opening::ask : Opening::none),
      cutoff_(params.is_given_up ? Cutoff::given_up : Cutoff::none),
      trace_(make_trace(around, key_, state_->created())),
      tasks_(around.home.executor(), on_bug()) {
  // Answers that came while the run was not driven are folded by the first step. The other open
  // calls wait for the rest of their time.
  for (Mailbox& mail : params.mail) {
    if (keep_question(mail) && !mail.filled) continue;
    if (mail.filled) {
      if (mail.kind == MailKind::tool_result) {
        calls_.at(*ToolUseId::parse(mail.slot)).stage = Stage::started;
      }
      inbox_.push_back(std::move(mail));
      continue;
    }
    ToolUseId call = *ToolUseId::parse(mail.slot);
    // A client forgets a call whose answer it could not post. Such a call is offered again if
    // making it twice does no harm.
    const bool is_forgotten = mail.offer_again && start_ == Start::recovered;
    calls_.at(call).stage = is_forgotten ? Stage::forgotten : Stage::started;
    milliseconds left = std::max(milliseconds(0), mail.deadline - around_.store.now());
    calls_.watch(call, around_.timers.now() + left);
  }
  for (const auto& [call, reports] : params.reports) calls_.at(call).reports = reports;
  log_ = std::make_unique<RunLog>(
      RunLog::Deps{.store = around_.store,
                   .clock = around_.clock,
                   .timers = around_.timers,
                   .tasks = tasks_,
                   .home = around_.home.executor(),
                   .counters = around_.counters},
      RunLog::Options{.key = key_,
                      .epoch = epoch_,
                      .last_seq = params.row.last_seq,
                      .segments = params.row.segments,
                      .status = params.row.status,
                      .on_commit = [this](const Committed& commit) { observer_.on_commit(commit); },
                      .on_failure = [this](const Error& error) { observer_.on_broken(error); },
                      .typed_events = around_.typed_events});
}

TaskGroup::OnBug AgentRun::on_bug() {
  return [this](const char* task, const std::string& what) {
    around_.log.error("a task of a run failed; this is a bug",
                      {{"run", key_.run.str()}, {"task", task}, {"what", what}});
    observer_.on_broken(Error(ErrorCode::internal, what));
  };
}

AgentRun::~AgentRun() {
  around_.timers.cancel(end_timer_);
  for (auto& [id, question] : questions_) {
    if (question.pending) question.pending->settle(call_is_over());
  }
  around_.timers.cancel(grace_timer_);
}

void AgentRun::start() {
  ERRAND_ASSERT_HOME(around_.home);
  if (start_ == Start::recovered || start_ == Start::replaced) recover();
  watch_run_time();
  kick();
}

void AgentRun::deliver(Mailbox mail) {
  ERRAND_ASSERT_HOME(around_.home);
  if (take_answer(mail)) return;
  bool is_cancel = mail.kind == MailKind::cancel;
  inbox_.push_back(std::move(mail));
  if (is_cancel) interrupt();
  kick();
}

void AgentRun::interrupt() {
  if (stream_) stream_->abort();
  if (pausing_) pausing_->notify();
}

void AgentRun::watch_run_time() {
  end_timer_ = around_.timers.set(end_time_, [this] {
    cutoff_ = Cutoff::out_of_time;
    interrupt();
    kick();
  });
}

Task<void> AgentRun::stop(CancelReason reason) {
  activity_ = Activity::stopping;
  interrupt();
  if (host_tools_) host_tools_->cancel(reason);
  if (child_calls_) child_calls_->cancel(reason);
  co_await tasks_.stop(reason);
  if (host_tools_) co_await host_tools_->join();
  if (child_calls_) co_await child_calls_->join();
}

void AgentRun::kick() {
  if (activity_ != Activity::idle || log_->failed()) return;
  activity_ = Activity::driving;
  tasks_.spawn("run.drive", drive());
}

void AgentRun::resume_effects() {
  for (Wakeup* held : held_calls_) held->notify();
  if (hold_ == Hold::lease) kick();
}

// Takes one step after the other, each chosen from what the journal says by then. The task ends
// when there is nothing to do, and kick() starts it again when there is.
Task<void> AgentRun::drive() {
  bool may_go_on = co_await recovery_is_durable();
  hold_ = Hold::none;
  while (may_go_on && activity_ == Activity::driving && !log_->failed()) {
    co_await fold_inbox();
    co_await check_answer();
    if (cancel_waits()) continue;
    may_go_on = co_await take_step();
  }
  // stop() waits for this task, and its caller must not be told that the run rests.
  if (activity_ == Activity::stopping) co_return;
  activity_ = Activity::idle;
  if (rests()) {
    observer_.on_waiting();
  } else if (waits_for_children()) {
    observer_.on_waiting_for_child();
  }
}

// Not a coroutine: a step may last for hours, and only its own task is in memory meanwhile.
Task<bool> AgentRun::take_step() {
  Step step = choose_step();
  if (auto* ask = std::get_if<Ask>(&step)) return take_turn(std::move(ask->entry));
  if (std::holds_alternative<Freeze>(step)) return freeze();
  if (std::holds_alternative<AwaitCalls>(step)) return begin_calls();
  if (auto* end = std::get_if<Finish>(&step)) return end_run(std::move(end->terminal));
  return stay_ended();
}

Task<bool> AgentRun::begin_calls() {
  co_await judge_calls();
  co_await settle_without_running();
  if (cancel_waits()) co_return true;
  start_ready_calls();
  // Outcomes that needed no waiting may have been the last ones of the turn.
  co_return has_mail_to_fold() || !std::holds_alternative<AwaitCalls>(choose_step());
}

Task<bool> AgentRun::end_run(TerminalEntry terminal) {
  // The child runs are cancelled before the end is durable: if the process dies in between, the
  // next one finds this run unfinished and cancels them again.
  bool is_ready = co_await cancel_children();
  if (!is_ready) co_return false;
  co_await finish(std::move(terminal));
  // Without an end, a cancel came first, and the run ends again, as cancelled.
  co_return !state_->terminal();
}

Task<bool> AgentRun::stay_ended() {
  co_return false;
}

// Whether something came that the next step must take into account.
bool AgentRun::has_news() const {
  return cancel_waits() || cutoff_ != Cutoff::none || activity_ == Activity::stopping;
}

// Everything that may take long comes before the journal says that the model is asked. After each
// wait the run looks for a cancel or the end of its time: true lets drive() choose again.
Task<bool> AgentRun::take_turn(TurnEntry entry) {
  if (turn_ != Turn::here) {
    bool is_known = co_await look_for_turn();
    if (!is_known) co_return false;
    if (has_news()) co_return true;
  }
  if (!model_ || turn_ != Turn::here) {
    hold_ = turn_ != Turn::here ? Hold::no_turn : Hold::no_model;
    co_return false;
  }
  co_await back_off();
  std::vector<FilePart> wanted = files_to_read(*state_);
  TurnRoom::Place room = ask_for_room(held_bytes(wanted));
  if (!room.is_in()) co_await wait_for_room(&room);
  if (has_news()) co_return true;
  // The run's place in the turn room has reserved the memory for the files.
  auto files = co_await load_files(std::move(wanted));
  if (!files) co_return false;
  if (has_news()) co_return true;
  // Checked after the waits above, during which the lease may have expired.
  if (!around_.lease.allows_effects()) {
    hold_ = Hold::lease;
    co_return false;
  }
  if (!state_->is_bound()) {
    bool is_done = co_await bind_tools();
    if (!is_done) co_return true;
  }
  if (!state_->has_begun() && !state_->created().session.empty()) {
    bool is_ready = co_await join_session(&entry);
    if (!is_ready) co_return false;
    if (has_news()) co_return true;
  }
  begin_turn(entry);
  ask_model(std::move(*files));
  co_await read_answer();
  co_return true;
}

TurnRoom::Place AgentRun::ask_for_room(std::size_t file_bytes) {
  return {around_.turns, {.workspace = key_.workspace, .file_bytes = file_bytes}, pausing_};
}

Task<void> AgentRun::wait_for_room(const TurnRoom::Place* room) {
  while (!room->is_in() && !has_news()) {
    WakeupAt waiting(around_.home.executor(), pausing_);
    co_await waiting.wait();
  }
}

// The run rests until its client answers, its session gives it the turn, or its model is back.
bool AgentRun::rests() const {
  bool waits = state_->waits_for_client() || hold_ == Hold::no_model || hold_ == Hold::no_turn;
  return waits && !state_->cancel();
}

bool AgentRun::may_rest() const {
  return !is_busy() && children_running() == 0 && inbox_.empty() && rests();
}

// Calls that wait their turn behind calls of agents do not count: they begin after those. A call
// whose server has asked the client waits like a call of an agent.
bool AgentRun::waits_for_children() const {
  if (state_->cancel() || state_->terminal()) return false;
  bool has_child = false;
  for (const CallState& call : state_->turn().calls) {
    if (call.outcome || calls_.stage_of(call.id) != Stage::started) continue;
    if (call.tool->site != ToolSite::host) continue;
    if (!is_agent_tool(*call.tool) && calls_.find(call.id)->unanswered == 0) return false;
    has_child = true;
  }
  return has_child;
}

SteadyTime AgentRun::next_deadline() const {
  SteadyTime earliest = std::min(end_time_, calls_.next_time());
  if (hold_ == Hold::no_model) earliest = std::min(earliest, around_.timers.now() + kModelPoll);
  return earliest;
}

Step AgentRun::choose_step() const {
  const TurnState& turn = state_->turn();
  if (opening_ == Opening::ask && cutoff_ == Cutoff::none) {
    return Ask{{.turn = turn.index, .attempt = turn.attempt, .after_seq = turn.after_seq}};
  }
  const Mistakes* known = answer_check_.turn == turn.index ? &answer_check_.mistakes : nullptr;
  json::SchemaCache& schemas = *around_.schemas.cache;
  Step step = failure_ ? after_failure(*state_, *failure_, log_->last_seq(), schemas, known)
                       : next_step(*state_, log_->last_seq(), schemas, known);
  if (cancelling_ == Cancelling::grace_over && std::holds_alternative<AwaitCalls>(step)) {
    return Finish{{.status = RunStatus::cancelled, .message = state_->cancel()->reason}};
  }
  bool goes_on = std::holds_alternative<Ask>(step) || std::holds_alternative<AwaitCalls>(step);
  if (cutoff_ == Cutoff::out_of_time && goes_on) return out_of_time(*state_);
  const bool is_too_long = cutoff_ == Cutoff::too_long || !state_->has_room_for(0);
  if (is_too_long && std::holds_alternative<Ask>(step)) return too_long(*state_);
  if (cutoff_ == Cutoff::given_up && std::holds_alternative<Ask>(step)) {
    return Finish{{.status = RunStatus::failed,
                   .message = cat("the server was killed ", kStrikesMax,
                                  " times while it worked on this run alone; the run is not tried "
                                  "again"),
                   .error_class = "server"}};
  }
  return step;
}

// Changes the state and the journal together, so that they always agree.
void AgentRun::record(JournalEntry entry, milliseconds wait_max) {
  log_->write(entry, wait_max);
  state_->apply(std::move(entry));
}

Task<bool> AgentRun::freeze() {
  text_.clear();
  blocks_.clear();
  Sparse<ModelFailure> fatal;
  if (failure_ && !failure_->failure.retryable) fatal = failure_->failure;
  failure_.reset();
  co_await end_turn(std::string(kInterrupted), {}, std::move(fatal));
  co_return true;
}

namespace {

Event terminal_event(const State& state, const TerminalEntry& terminal) {
  RunTotals totals = state.totals();
  if (terminal.status == RunStatus::cancelled) {
    return CancelledEvent{.reason = terminal.message, .totals = std::move(totals)};
  }
  if (!terminal.subtype.empty()) {
    bool ok = terminal.status == RunStatus::succeeded;
    return ResultEvent{.subtype = terminal.subtype,
                       .text = ok ? state.last_text() : terminal.message,
                       .totals = std::move(totals)};
  }
  ErrorEvent event{.message = terminal.message,
                   .error_class = terminal.error_class,
                   .finish_reason = terminal.finish_reason,
                   .partial_text = {},
                   .api_status = terminal.api_status,
                   .api_code = terminal.api_code,
                   .retryable = terminal.retryable,
                   .totals = std::move(totals)};
  if (const std::string* text = state.final_text()) event.partial_text = *text;
  return event;
}

}  // namespace

// Called before the end of this run is durable: if the process dies in between, the next one finds
// this run unfinished and calls this again.
Task<bool> AgentRun::cancel_children() {
  std::vector<RunKey> children;
  for (const CallState& call : state_->turn().calls) {
    if (!call.tool || !is_agent_tool(*call.tool)) continue;
    children.push_back({.workspace = key_.workspace, .run = child_run_of(call.id)});
  }
  if (children.empty() || !around_.children) co_return true;
  if (child_calls_) child_calls_->cancel(CancelReason::user_stop);
  for (const RunKey& child : children) {
    auto cancelled = co_await around_.children->cancel_child(child);
    if (cancelled) continue;
    observer_.on_broken(cancelled.error());
    co_return false;
  }
  co_return true;
}

Task<Result<AddedHistory>> AgentRun::make_history() {
  const std::size_t bytes = state_->conversation_bytes() - state_->past().bytes();
  auto make = [addition = addition_of(*state_)]() mutable {
    return Result<AddedHistory>(added_history(std::move(addition)));
  };
  auto made = co_await surely_aside(bytes > kBytesInABreath ? around_.schemas.pool : nullptr,
                                    std::move(make));
  co_return made;
}

Task<void> AgentRun::finish(TerminalEntry terminal) {
  // The end has the text of a long answer once more.
  if (!log_->has_room()) co_await log_->room();
  AddedHistory added;
  bool is_told = !state_->created().session.empty() && terminal.status == RunStatus::succeeded;
  if (is_told) {
    auto made = co_await make_history();
    if (!made) co_return observer_.on_broken(made.error());
    added = std::move(*made);
  }
  state_->apply(terminal);
  Event event = terminal_event(*state_, terminal);
  auto end = co_await log_->finish(terminal, std::move(event), std::move(added.bodies));
  if (!end) co_return;
  if (*end == RunLog::End::durable) {
    if (is_told && joined_at_ && around_.histories) {
      remember_history(around_.histories,
                       {.workspace = key_.workspace, .session = state_->created().session},
                       *joined_at_, std::move(added));
    }
    if (trace_) trace_->end_run(terminal, state_->totals());
    tell_end(terminal);
    co_return observer_.on_end();
  }
  // A cancel was accepted before the end was stored, and its caller was promised that the run ends
  // as cancelled.
  state_->withdraw_terminal();
  co_await fetch_mail();
}

// The message is not logged: it repeats words of the model or of a tool, which may hold a secret.
void AgentRun::tell_end(const TerminalEntry& terminal) {
  around_.counters.count_end(terminal.status);
  const KeyId& key = state_->created().key;
  if (around_.ledger && !key.empty()) around_.ledger->add(key, state_->totals());
  if (terminal.status != RunStatus::failed) return;
  const CreatedEntry& created = state_->created();
  std::string why = terminal.subtype.empty() ? terminal.error_class : terminal.subtype;
  around_.counters.count_failure(why);
  if (terminal.api_status != 0) append(why, " (status ", terminal.api_status, ")");
  around_.log.info("a run failed", {{"run", key_.run.str()},
                                    {"workspace", key_.workspace.str()},
                                    {"requestId", created.request_id},
                                    {"model", created.model.id},
                                    {"error", why}});
}

// Reads requests that are in the store and were not delivered to this run.
Task<void> AgentRun::fetch_mail() {
  auto boxes = co_await around_.store.mailboxes(key_);
  if (!boxes) co_return observer_.on_broken(boxes.error());
  for (Mailbox& box : *boxes) {
    if (box.filled && !is_answer(box.kind)) inbox_.push_back(std::move(box));
  }
}

// A vendor that answered with an error is asked again after a pause, and a stream that broke off at
// once.
Task<void> AgentRun::back_off() {
  constexpr milliseconds kFirstPause{500};
  if (!failure_ || failure_->failure.api_status == 0) co_return;
  // Every restart of the process counts as an attempt, so the number of attempts has no bound.
  const int doublings = std::min(state_->turn().attempt, kTurnAttemptsMax) - 1;
  const SteadyTime until = around_.timers.now() + kFirstPause * (1 << doublings);
  observer_.on_retry({.why = failure_->failure.message, .until = until});
  WakeupAt over(around_.home.executor(), pausing_);
  TimerGuard timer(around_.timers, until, [this] { pausing_->notify(); });
  co_await over.wait();
}

void AgentRun::recover() {
  if (state_->terminal()) return;
  if (state_->cancel()) cancelling_ = Cancelling::grace_over;
  const std::vector<CallState>& calls = state_->turn().calls;
  const DispatchOrder order = state_->dispatch_order();
  bool has_begun_calls = false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallState& call = calls[i];
    if (call.outcome || !call.tool) continue;
    // A repeated call of an agent finds the run that the first call created, by the call's id.
    if (is_agent_tool(*call.tool)) continue;
    if (call.tool->site != ToolSite::host || !order.may_start(i)) continue;
    calls_.at(call.id).stage = Stage::maybe_begun;
    has_begun_calls = true;
  }
  // Only the state was replaced: the process did not end, so nothing has been resumed.
  if (start_ == Start::replaced) return;
  // A run that only waits for its client does nothing that could bring the process down, so it gets
  // no entry. Whether its answer fits its schema makes no difference to that.
  const Mistakes fits;
  Step step = next_step(*state_, log_->last_seq(), *around_.schemas.cache, &fits);
  if (std::holds_alternative<AwaitCalls>(step) && !has_begun_calls) return;
  record(ResumedEntry{.at = around_.clock.now()});
  opening_ = Opening::confirm_resume;
}

Task<bool> AgentRun::recovery_is_durable() {
  if (opening_ != Opening::confirm_resume) co_return true;
  opening_ = Opening::none;
  auto durable = co_await log_->flush();
  co_return durable.has_value();
}

}  // namespace errand::agent
