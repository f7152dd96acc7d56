#include "agent/agent_run.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace errand::agent {

AgentRun::AgentRun(Surroundings& around, llm::Model& model, RunObserver& observer, Params params)
    : around_(around),
      model_(model),
      observer_(observer),
      id_(params.row.id),
      workspace_(params.row.workspace),
      start_(params.start),
      state_(std::move(params.state)),
      first_turn_is_journaled_(params.start == Start::fresh),
      tasks_(around.home.executor(), on_bug()) {
  for (Mailbox& mail : params.mail) {
    if (mail.filled) {
      if (mail.kind == MailKind::tool_result) {
        progress_[*ToolUseId::parse(mail.slot)].is_started = true;
      }
      inbox_.push_back(std::move(mail));
      continue;
    }
    ToolUseId call = *ToolUseId::parse(mail.slot);
    progress_[call].is_started = true;
    milliseconds left = std::max(milliseconds(0), mail.deadline - around_.store.now());
    watch_timeout(call, around_.timers.now() + left);
    if (mail.offer_again && start_ == Start::recovered) offer_again_.insert(call);
  }
  log_ = std::make_unique<RunLog>(
      RunLog::Deps{.store = around_.store,
                   .clock = around_.clock,
                   .timers = around_.timers,
                   .tasks = tasks_,
                   .home = around_.home.executor(),
                   .counters = around_.counters},
      RunLog::Options{.workspace = workspace_,
                      .run = id_,
                      .epoch = params.row.epoch,
                      .last_seq = params.row.last_seq,
                      .segments = params.row.segments,
                      .status = params.row.status,
                      .on_commit = [this](const Commit& commit) { observer_.on_commit(commit); },
                      .on_failure = [this](const Error& error) { observer_.on_broken(error); }});
}

TaskGroup::OnBug AgentRun::on_bug() {
  return [this](const char* task, const std::string& what) {
    around_.log.error("a task of a run failed; this is a bug",
                      {{"run", id_.str()}, {"task", task}, {"what", what}});
    observer_.on_broken(Error(ErrorCode::internal, what));
  };
}

AgentRun::~AgentRun() {
  around_.timers.cancel(end_timer_);
  for (const auto& [id, timeout] : timeouts_) around_.timers.cancel(timeout.timer);
  around_.timers.cancel(grace_timer_);
}

void AgentRun::start() {
  ERRAND_ASSERT_HOME(around_.home);
  if (start_ == Start::recovered) recover();
  watch_run_time();
  kick();
}

void AgentRun::deliver(Mailbox mail) {
  ERRAND_ASSERT_HOME(around_.home);
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
  milliseconds passed = around_.clock.now() - state_->created().at;
  milliseconds left = std::max(milliseconds(0), state_->created().limits.run_time - passed);
  end_time_ = around_.timers.now() + left;
  end_timer_ = around_.timers.set(end_time_, [this] {
    out_of_time_ = true;
    interrupt();
    kick();
  });
}

Task<void> AgentRun::stop(CancelReason reason) {
  stopping_ = true;
  interrupt();
  if (host_tools_) host_tools_->cancel(reason);
  co_await tasks_.stop(reason);
  if (host_tools_) co_await host_tools_->join();
}

void AgentRun::kick() {
  if (driving_ || stopping_ || log_->failed()) return;
  driving_ = true;
  tasks_.spawn("run.drive", drive());
}

void AgentRun::resume_effects() {
  if (std::exchange(effects_held_, false)) kick();
}

Task<void> AgentRun::drive() {
  bool may_go_on = co_await recovery_is_durable();
  while (may_go_on && !stopping_ && !log_->failed()) {
    fold_inbox();
    Step step = choose_step();
    if (auto* ask = std::get_if<Ask>(&step)) {
      co_await back_off();
      auto files = co_await load_files();
      if (!files) break;
      if (cancel_waits() || out_of_time_ || stopping_) continue;
      effects_held_ = !around_.lease.allows_effects();
      if (effects_held_) break;
      co_await ask_model(ask->entry, std::move(*files));
    } else if (std::holds_alternative<Freeze>(step)) {
      freeze();
    } else if (std::holds_alternative<AwaitCalls>(step)) {
      settle_without_running();
      start_ready_calls();
      if (std::holds_alternative<AwaitCalls>(choose_step())) break;
    } else if (auto* end = std::get_if<Finish>(&step)) {
      co_await finish(std::move(end->terminal));
      break;
    } else {
      break;
    }
  }
  driving_ = false;
  if (state_->waits_for_client() && !state_->cancel() && !stopping_) observer_.on_waiting();
}

bool AgentRun::may_rest() const {
  return !is_busy() && inbox_.empty() && state_->waits_for_client() && !state_->cancel();
}

SteadyTime AgentRun::next_deadline() const {
  SteadyTime earliest = end_time_;
  for (const auto& [id, timeout] : timeouts_) earliest = std::min(earliest, timeout.when);
  return earliest;
}

Step AgentRun::choose_step() const {
  const TurnState& turn = state_->turn();
  if (first_turn_is_journaled_ && !out_of_time_) {
    return Ask{{.turn = turn.index, .attempt = turn.attempt, .after_seq = turn.after_seq}};
  }
  Step step = failure_ ? after_failure(*state_, *failure_, log_->last_seq(), around_.schemas)
                       : next_step(*state_, log_->last_seq(), around_.schemas);
  if (grace_over_ && std::holds_alternative<AwaitCalls>(step)) {
    return Finish{{.status = RunStatus::cancelled, .message = state_->cancel()->reason}};
  }
  bool goes_on = std::holds_alternative<Ask>(step) || std::holds_alternative<AwaitCalls>(step);
  if (out_of_time_ && goes_on) return out_of_time(*state_);
  if (given_up_ && std::holds_alternative<Ask>(step)) {
    return Finish{{.status = RunStatus::failed,
                   .message = cat("the server ended ", kResumesMax,
                                  " times while it worked on this run; it is not tried again"),
                   .error_class = "server"}};
  }
  return step;
}

// The journal and the state in memory always say the same.
void AgentRun::record(JournalEntry entry, milliseconds wait_max) {
  state_->apply(entry);
  log_->write(entry, wait_max);
}

void AgentRun::fold_inbox() {
  // An answer is shown after the message of the turn that asked for it, so it waits for that.
  bool turn_is_over = state_->turn().end.has_value();
  std::vector<Mailbox> later;
  for (Mailbox& mail : std::exchange(inbox_, {})) {
    if (mail.kind == MailKind::cancel) {
      fold_cancel(mail.body);
      continue;
    }
    if (!turn_is_over) {
      later.push_back(std::move(mail));
      continue;
    }
    auto answer = parse_tool_answer(mail.body);
    auto id = ToolUseId::parse(mail.slot);
    if (!answer || !id) continue;
    record_outcome({.id = *id,
                    .ok = answer->ok,
                    .text = std::move(answer->text),
                    .timed_out = answer->timed_out,
                    .files = std::move(answer->files)});
  }
  inbox_ = std::move(later);
  if (!turn_is_over) return;
  for (OutcomeEntry& outcome : std::exchange(host_outcomes_, {}))
    record_outcome(std::move(outcome));
}

void AgentRun::fold_cancel(const std::string& reason) {
  if (state_->cancel() || state_->terminal()) return;
  record(CancelEntry{.reason = reason, .at = around_.clock.now()});
  first_turn_is_journaled_ = false;
  if (host_tools_) host_tools_->cancel(CancelReason::user_stop);
  grace_timer_ = around_.timers.set(around_.timers.now() + kCancelGrace, [this] {
    grace_over_ = true;
    kick();
  });
}

bool AgentRun::cancel_waits() const {
  return std::any_of(inbox_.begin(), inbox_.end(),
                     [](const Mailbox& mail) { return mail.kind == MailKind::cancel; });
}

void AgentRun::freeze() {
  text_.clear();
  blocks_.clear();
  std::optional<ModelFailure> fatal;
  if (failure_ && !failure_->failure.retryable) fatal = failure_->failure;
  failure_.reset();
  end_turn(std::string(kInterrupted), {}, std::move(fatal));
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

Task<void> AgentRun::finish(TerminalEntry terminal) {
  record(terminal);
  log_->emit(terminal_event(*state_, terminal));
  log_->set_status(terminal.status);
  auto durable = co_await log_->flush();
  if (durable) observer_.on_end();
}

// A provider that said no is asked again later; a cut stream at once.
Task<void> AgentRun::back_off() {
  constexpr milliseconds kFirstPause{500};
  if (!failure_ || failure_->failure.api_status == 0) co_return;
  milliseconds pause = kFirstPause * (1 << (state_->turn().attempt - 1));
  WakeupAt over(around_.home.executor(), pausing_);
  TimerGuard timer(around_.timers, around_.timers.now() + pause, [this] { pausing_->notify(); });
  co_await over.wait();
}

void AgentRun::recover() {
  if (state_->terminal()) return;
  if (state_->cancel()) grace_over_ = true;
  const std::vector<CallState>& calls = state_->turn().calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallState& call = calls[i];
    if (call.outcome || !call.tool) continue;
    if (call.tool->site == ToolSite::host && state_->may_start(i)) maybe_started_.insert(call.id);
  }
  // A run that only waits for its client does nothing that could bring the process down.
  Step step = next_step(*state_, log_->last_seq(), around_.schemas);
  if (std::holds_alternative<AwaitCalls>(step) && maybe_started_.empty()) return;
  given_up_ = state_->resumes_without_progress() >= kResumesMax;
  record(ResumedEntry{.at = around_.clock.now()});
  resumed_ = true;
}

Task<bool> AgentRun::recovery_is_durable() {
  if (!std::exchange(resumed_, false)) co_return true;
  auto durable = co_await log_->flush();
  co_return durable.has_value();
}

}  // namespace errand::agent
