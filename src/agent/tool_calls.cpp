// The calls of a turn and their outcomes.
// Long because everything that a call can meet, from its start to its outcome, stands together.
#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <functional>
#include <utility>

#include "agent/agent_run.hpp"
#include "agent/file_bytes.hpp"
#include "agent/fold/arguments.hpp"
#include "agent/fold/result_check.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::agent {
namespace {

constexpr milliseconds kTimeoutRetry{1000};

LocalToolCall offer_of(const CallState& call) {
  return {.id = call.id,
          .name = call.name,
          .args = shown_arguments(call),
          .kind = call.tool->kind,
          .echo = call.tool->echo};
}

bool promises_repeat(const ToolDecl& tool) {
  const ToolAnnotations& notes = tool.annotations;
  return notes.read_only || notes.idempotent || notes.resumable;
}

// A call that was running whenever the process ended may be what ends it, whatever it promises.
bool may_run_again(const CallState& call) {
  return promises_repeat(*call.tool) && call.resumes < kCallResumesMax;
}

// How long a call that this process makes may take.
milliseconds time_of(const CallState& call) {
  return call.tool->annotations.timeout.value_or(kHostToolTimeout);
}

constexpr std::string_view kOutcomeUnknown =
    "A restart cut this call off. It may or may not have taken effect. Check before calling it "
    "again.";

constexpr std::string_view kBegunByClient =
    "A client had begun this call. It may or may not have taken effect. Check before calling it "
    "again.";

constexpr std::string_view kCancelledCall =
    "The run was cancelled while this call was running. It may or may not have taken effect.";

constexpr std::string_view kNotMade =
    "This call was not made: another call of the turn ended the run.";

constexpr std::string_view kSiblingFailed =
    "This call was not made: a call beside it failed, and its tool cancels the others.";

constexpr std::string_view kSiblingCutOff =
    "This call was cancelled because a call beside it failed. It may or may not have taken effect.";

// Tools may be a user's own code: whatever they throw fails the call and nothing else. What it says
// is for the log, because it may tell more than a model should know. Neither the model nor the log
// is told the secrets that the call was given. A cancellation counts only if this task was
// cancelled: a tool may throw the error of an operation that it has cancelled itself.
Task<ToolOutcome> invoke_safely(ToolPtr tool, ToolCall call, ToolContext context, Log* log) {
  std::string what;
  std::exception_ptr aborted;
  const std::string run = call.run.str();
  const std::string name = tool->decl().name;
  CallSecrets* const secrets = context.secrets;
  try {
    ToolOutcome outcome = co_await tool->invoke(std::move(call), context);
    secrets->blot_out(outcome);
    co_return outcome;
  } catch (const boost::system::system_error& error) {
    if (error.code() == asio::error::operation_aborted) aborted = std::current_exception();
    what = error.what();
  } catch (const std::exception& error) {
    what = error.what();
  } catch (...) {
    what = "an exception of an unknown type";
  }
  auto cancellation = co_await asio::this_coro::cancellation_state;
  bool is_cancelled = cancellation.cancelled() != asio::cancellation_type::none;
  if (aborted && is_cancelled) std::rethrow_exception(aborted);
  what = secrets->blot_out(std::move(what));
  log->error("a tool threw an exception", {{"run", run}, {"tool", name}, {"what", what}});
  co_return failed_outcome(
      "The tool failed because of an internal error. It may or may not have taken effect.");
}

// Whether a client has claimed the call: it has begun it, and may have been cut off in the middle.
bool is_claimed(const std::vector<Mailbox>& boxes, const ToolUseId& call) {
  return std::any_of(boxes.begin(), boxes.end(), [&call](const Mailbox& box) {
    return box.slot == call.view() && !box.claim_id.empty();
  });
}

// The run that a call of the tool is; empty: none.
RunId child_of(const ToolDecl& tool, const ToolUseId& call) {
  return is_agent_tool(tool) ? child_run_of(call) : RunId();
}

// Passes on what a call reports, as long as it runs.
class CallProgress final : public ProgressSink {
 public:
  using Show = std::function<void(ToolProgress)>;
  // `secrets` outlives this. `child` is the run that the call is, if it is one.
  CallProgress(ToolUseId id, std::string name, RunId child, const CallSecrets& secrets, Show show)
      : id_(std::move(id)),
        name_(std::move(name)),
        child_(std::move(child)),
        secrets_(secrets),
        show_(std::move(show)) {}

  void report(ProgressReport report) override {
    show_({.id = id_,
           .name = name_,
           .message = secrets_.blot_out(std::move(report.message)),
           .progress = report.progress,
           .total = report.total,
           .child_run = child_});
  }

 private:
  const ToolUseId id_;
  const std::string name_;
  const RunId child_;
  const CallSecrets& secrets_;
  const Show show_;
};

// The notes of one call, as long as it runs.
class JournaledNotes final : public CallNotes {
 public:
  using Keep = std::function<Task<Result<void>>(json::Object)>;
  JournaledNotes(const std::string& last, Keep keep, std::function<bool()> goes_on_later)
      : keep_(std::move(keep)), goes_on_later_(std::move(goes_on_later)) {
    auto note = last.empty() ? Result<json::Value>(json::Value()) : json::parse(last);
    if (note && note->is_object()) last_ = std::move(note->get_object());
  }

  const std::optional<json::Object>& last() const override { return last_; }
  Task<Result<void>> keep(json::Object note) override { return keep_(std::move(note)); }
  bool goes_on_later() const override { return goes_on_later_(); }

 private:
  std::optional<json::Object> last_;
  const Keep keep_;
  const std::function<bool()> goes_on_later_;
};

}  // namespace

void AgentRun::start_ready_calls(std::size_t first) {
  if (state_->cancel() || holds_calls(*state_) || fatal_outcome_of(*state_)) return;
  if (state_->turn().end && batch_refusal(*state_)) return;
  if (has_failed_sibling()) return;
  const std::vector<CallState>& calls = state_->turn().calls;
  const DispatchOrder order = state_->dispatch_order();
  for (std::size_t i = first; i < calls.size(); ++i) {
    const CallState& call = calls[i];
    if (call.outcome || is_started(call.id) || !order.may_start(i)) continue;
    if (refusal(call)) continue;
    if (call.tool->site == ToolSite::host && !around_.lease.allows_effects()) {
      hold_ = Hold::lease;
      continue;
    }
    if (call.tool->site == ToolSite::client) {
      progress_[call.id].is_started = true;
      offer_to_client(call);
    } else if (ToolPtr tool = open_tool(*call.tool)) {
      progress_[call.id].is_started = true;
      make_call(call, std::move(tool));
    }
  }
}

ToolPtr AgentRun::open_tool(const ToolDecl& binding) const {
  const ToolRef& ref = state_->created().spec.tools->refs.at(binding.origin.ref);
  return around_.tools.open(binding, ref, principal());
}

Principal AgentRun::principal_of(const ToolUseId& call) const {
  Principal who = principal();
  who.trace =
      trace_ ? trace_->call_context(call) : parse_traceparent(state_->created().traceparent);
  return who;
}

bool AgentRun::is_started(const ToolUseId& call) const {
  auto known = progress_.find(call);
  return known != progress_.end() && known->second.is_started;
}

const Refusal* AgentRun::refusal(const CallState& call) {
  Progress& progress = progress_[call.id];
  if (!std::exchange(progress.is_judged, true)) {
    auto refused = refusal_of(*state_, call, around_.schemas);
    if (refused) progress.refusal = std::make_unique<const Refusal>(std::move(*refused));
  }
  return progress.refusal.get();
}

void AgentRun::offer_to_client(const CallState& call) {
  milliseconds timeout =
      call.tool->annotations.timeout.value_or(state_->created().limits.local_tool_timeout);
  LocalToolCall offer = offer_of(call);
  if (trace_) trace_->begin_call(call.id);
  log_->emit(offer);
  log_->open_mailbox({.run = key_.run,
                      .slot = call.id.str(),
                      .kind = MailKind::tool_result,
                      .name = call.name,
                      .request = to_mail_request(offer),
                      .offer_again = promises_repeat(*call.tool),
                      .opened_at = around_.clock.now(),
                      .deadline = around_.store.now() + timeout});
  watch_timeout(call.id, around_.timers.now() + timeout);
}

// Outcomes that follow without running anything.
void AgentRun::settle_without_running() {
  for (const ToolUseId& id : std::exchange(offer_again_, {})) {
    const CallState* call = state_->find_call(id);
    if (call && !call->outcome) log_->emit(offer_of(*call));
  }
  std::optional<std::string> all_refused = batch_refusal(*state_);
  if (has_failed_sibling()) all_refused = kSiblingFailed;
  if (fatal_outcome_of(*state_)) all_refused = kNotMade;
  std::vector<OutcomeEntry> outcomes;
  for (const CallState& call : state_->turn().calls) {
    if (call.outcome) continue;
    bool is_lost = maybe_started_.contains(call.id) && call.tool && !may_run_again(call);
    if (all_refused && !is_started(call.id) && !is_lost) {
      outcomes.push_back({.id = call.id, .ok = false, .text = *all_refused, .synthetic = true});
    } else if (const Refusal* refused = refusal(call)) {
      outcomes.push_back({.id = call.id, .ok = false, .text = refused->text, .synthetic = true});
    } else if (state_->cancel() && call.tool->site == ToolSite::host) {
      outcomes.push_back({.id = call.id, .ok = false, .text = std::string(kCancelledCall)});
    } else if (is_lost) {
      outcomes.push_back({.id = call.id, .ok = false, .text = std::string(kOutcomeUnknown)});
    } else if (call.tool->site == ToolSite::host && !is_started(call.id) &&
               !open_tool(*call.tool)) {
      outcomes.push_back(
          {.id = call.id, .ok = false, .text = gone_tool_text(call.name), .synthetic = true});
    }
  }
  maybe_started_.clear();
  for (OutcomeEntry& outcome : outcomes) record_outcome(std::move(outcome));
  if (state_->waits_for_client()) log_->set_status(RunStatus::waiting);
}

// Calls that were refused, and calls of tools that the run does not have, are none of a tool.
void AgentRun::count_call(const CallState& call, const OutcomeEntry& outcome) {
  if (!call.tool || outcome.synthetic) return;
  std::string_view kind = "local";  // whatever kind of ref a client has sent it as
  if (call.tool->site == ToolSite::host) {
    kind = kind_of(state_->created().spec.tools->refs.at(call.tool->origin.ref));
  }
  CallCounts& counts = around_.counters.tool_calls[kind];
  ++counts.calls;
  if (!outcome.ok) ++counts.failures;
}

void AgentRun::record_outcome(OutcomeEntry outcome, const std::optional<json::Value>& structured) {
  const CallState* call = state_->find_call(outcome.id);
  if (!call || call->outcome) return;
  outcome = checked_outcome(*call, std::move(outcome), structured, around_.schemas);
  count_call(*call, outcome);
  close_questions(outcome.id);
  bool is_offered = call->tool && call->tool->site == ToolSite::client && is_started(call->id);
  // What came by mail is durable there until its mailbox is closed along with this.
  milliseconds wait_max = is_offered ? RunLog::kEchoWait : RunLog::kNoWait;
  if (is_offered) log_->close_mailbox(outcome.id.str(), wait_max);
  forget_timeout(outcome.id);
  // What nobody sent is not shown as if somebody had.
  if (is_offered && !outcome.timed_out) {
    log_->emit(LocalToolResultIn{.id = outcome.id,
                                 .name = call->name,
                                 .ok = outcome.ok,
                                 .text = outcome.text,
                                 .files = outcome.files},
               wait_max);
  } else {
    log_->emit(ToolResultEvent{.id = outcome.id,
                               .name = call->name,
                               .ok = outcome.ok,
                               .text = outcome.text,
                               .files = outcome.files},
               wait_max);
  }
  if (trace_) trace_->end_call(*call, outcome);
  const Refusal* refused = outcome.synthetic ? refusal(*call) : nullptr;
  if (refused && refused->event && refused->text == outcome.text) log_->emit(*refused->event);
  record(std::move(outcome), wait_max);
}

Principal AgentRun::principal() const {
  const CreatedEntry& created = state_->created();
  Principal who{key_.workspace, created.key};
  if (created.allowed_agents) {
    who.grant = std::make_shared<const Grant>(Grant{.agents = created.allowed_agents});
  }
  return who;
}

TaskGroup& AgentRun::tasks_for(const ToolDecl& tool) {
  std::unique_ptr<TaskGroup>& tasks = is_agent_tool(tool) ? child_calls_ : host_tools_;
  if (!tasks) tasks = std::make_unique<TaskGroup>(around_.home.executor(), on_bug());
  return *tasks;
}

void AgentRun::make_call(const CallState& call, ToolPtr tool) {
  if (trace_) trace_->begin_call(call.id);
  log_->emit(ToolCallStarted{.id = call.id,
                             .name = call.name,
                             .input = call.arguments,
                             .child_run = child_of(*call.tool, call.id)});
  TaskGroup& tasks = tasks_for(*call.tool);
  const SteadyTime deadline = around_.timers.now() + time_of(call);
  ToolCall made{
      .run = key_.run, .id = call.id, .arguments = parse_arguments(call.arguments).value()};
  ToolContext context{.who = principal_of(call.id), .deadline = deadline};
  TaskGroup::Ticket task =
      tasks.spawn("run.tool", run_host_tool(std::move(tool), std::move(made), context));
  progress_[call.id].task = task;
  watch_host_call(call.id, deadline, tasks, task);
}

// ---- Siblings -----------------------------------------------------------------------------------

// Answers that wait until the turn is over count, too: a call that the model streams after the
// failure is not begun.
bool AgentRun::has_failed_sibling() const {
  auto cancels = [this](const ToolUseId& id) {
    const CallState* call = state_->find_call(id);
    return call && call->tool && call->tool->annotations.cancel_siblings;
  };
  auto has_failed = [&](const OutcomeEntry& outcome) { return !outcome.ok && cancels(outcome.id); };
  for (const CallState& call : state_->turn().calls) {
    if (call.outcome && !call.outcome->synthetic && has_failed(*call.outcome)) return true;
  }
  for (const HostOutcome& outcome : host_outcomes_) {
    if (has_failed(outcome.entry)) return true;
  }
  return std::any_of(inbox_.begin(), inbox_.end(), [&](const Mailbox& mail) {
    auto id = mail.kind == MailKind::tool_result ? ToolUseId::parse(mail.slot) : std::nullopt;
    if (!id || !cancels(*id)) return false;
    auto answer = parse_tool_answer(mail.body);
    return answer && !answer->ok;
  });
}

// The run of a call that is cut off ends, too. If the store does not answer, the run ends with its
// time at the latest.
Task<void> AgentRun::cancel_child_of(ToolUseId call) {
  if (!around_.children) co_return;
  const RunKey child{.workspace = key_.workspace, .run = child_run_of(call)};
  auto cancelled = co_await around_.children->cancel_child(child);
  if (cancelled) co_return;
  around_.log.warning("the run of a call that was cut off cannot be cancelled",
                      {{"run", child.run.str()}, {"error", cancelled.error().describe()}});
}

void AgentRun::cancel_siblings() {
  for (const CallState& call : state_->turn().calls) {
    if (call.outcome || !is_started(call.id)) continue;
    Progress& progress = progress_[call.id];
    if (std::exchange(progress.is_cancelled, true)) continue;
    if (call.tool->site == ToolSite::client) {
      tasks_.spawn("run.sibling",
                   answer_for_client(call.id, {.ok = false, .text = std::string(kSiblingCutOff)}));
    } else if (progress.task) {
      settle_host_call(call.id, failed_outcome(std::string(kSiblingCutOff)));
      tasks_for(*call.tool).cancel_one(*progress.task);
      if (is_agent_tool(*call.tool)) tasks_.spawn("run.sibling", cancel_child_of(call.id));
    }
  }
}

// ---- Calls of this process ----------------------------------------------------------------------

Task<void> AgentRun::run_host_tool(ToolPtr tool, ToolCall call, ToolContext context) {
  // An effect that cannot be repeated waits until the call is in the journal for good.
  if (!tool->decl().annotations.read_only) {
    auto durable = co_await log_->flush();
    if (!durable) co_return;
  }
  const ToolUseId id = call.id;
  CallSecrets secrets(around_.secrets, key_.workspace);
  context.secrets = &secrets;
  CallProgress progress(id, tool->decl().name, child_of(tool->decl(), id), secrets,
                        [this](ToolProgress report) { show_progress(std::move(report)); });
  context.progress = &progress;
  const CallState* known = state_->find_call(id);
  JournaledNotes notes(
      known ? known->note : "",
      [this, id](json::Object note) { return keep_note(id, std::move(note)); },
      [this, id] { return goes_on_later(id); });
  context.notes = &notes;
  std::unique_ptr<CallQuestions> questions = make_questions(id);
  context.questions = questions.get();
  ToolOutcome outcome = co_await invoke_safely(tool, std::move(call), context, &around_.log);
  settle_host_call(id, std::move(outcome));
}

Task<Result<void>> AgentRun::keep_note(ToolUseId id, json::Object note) {
  const CallState* call = state_->find_call(id);
  if (!call || call->outcome || state_->terminal() || progress_[id].is_settled) {
    co_return Error(ErrorCode::cancelled, "the call is over");
  }
  // Nobody else is told its notes. A run of a format without notes has no call like that.
  if (!call->tool || !call->tool->annotations.resumable) co_return Result<void>();
  NoteEntry entry{.id = id, .note = json::write(json::Value(std::move(note)))};
  if (entry.note.size() > kNoteBytesMax) {
    co_return Error(ErrorCode::too_large,
                    cat("the note of a call has more than ", kNoteBytesMax, " bytes"));
  }
  record(std::move(entry));
  auto durable = co_await log_->flush();
  co_return durable;
}

bool AgentRun::goes_on_later(const ToolUseId& id) const {
  auto call = progress_.find(id);
  bool is_over = state_->terminal() || state_->cancel() ||
                 (call != progress_.end() && call->second.is_settled);
  return !is_over && activity_ == Activity::stopping;
}

void AgentRun::settle_host_call(const ToolUseId& id, ToolOutcome outcome) {
  Progress& progress = progress_[id];
  if (std::exchange(progress.is_settled, true)) return;
  forget_timeout(id);
  for (TaskGroup::Ticket sampling : progress.samplings) host_tools_->cancel_one(sampling);
  const bool is_fatal = outcome.kind == ToolOutcome::Kind::fatal;
  const bool ok = outcome.ok();
  FlatContent flat = flatten(std::move(outcome.content));
  std::vector<RunBlob> blobs = take_bytes(flat.files);
  observer_.on_going_on();
  host_outcomes_.push_back({.entry = {.id = id,
                                      .ok = ok,
                                      .text = std::move(flat.text),
                                      .files = std::move(flat.files),
                                      .is_fatal = is_fatal,
                                      .child_turns = outcome.child_turns},
                            .blobs = std::move(blobs),
                            .structured = std::move(outcome.structured)});
  kick();
}

// A call whose time is over is cut off, and nobody waits until it has noticed.
void AgentRun::watch_host_call(const ToolUseId& id, SteadyTime deadline, TaskGroup& tasks,
                               TaskGroup::Ticket task) {
  Timers::Id timer = around_.timers.set(deadline, [this, id, &tasks, task] {
    timeouts_.erase(id);
    const CallState* call = state_->find_call(id);
    settle_host_call(id, overdue_outcome(call ? time_of(*call) : kHostToolTimeout));
    tasks.cancel_one(task);
  });
  timeouts_[id] = {.when = deadline, .timer = timer};
}

void AgentRun::forget_timeout(const ToolUseId& id) {
  if (auto timer = timeouts_.extract(id)) around_.timers.cancel(timer.mapped().timer);
}

// Progress is shown like streamed text. A tool that reports faster than the store can write, or
// without end, is not waited for: its reports are dropped.
void AgentRun::show_progress(ToolProgress progress) {
  const CallState* call = state_->find_call(progress.id);
  if (!call || call->outcome || state_->terminal() || !log_->has_room()) return;
  if (++progress_[progress.id].reports > kReportsMax) return;
  progress.message = utf8_prefix(progress.message, kProgressMessageBytesMax);
  log_->emit_delta(progress);
}

void AgentRun::fold_progress(const Mailbox& mail) {
  if (auto progress = parse_progress(mail.body)) show_progress(std::move(*progress));
  log_->close_mailbox(mail.slot, RunLog::kDeltaWait);
}

void AgentRun::watch_timeout(const ToolUseId& id, SteadyTime when) {
  Timers::Id timer = around_.timers.set(when, [this, id] {
    timeouts_.erase(id);
    tasks_.spawn("run.timeout",
                 answer_for_client(id, {.ok = false,
                                        .text = "Timed out waiting for local tool result",
                                        .timed_out = true}));
  });
  timeouts_[id] = {.when = when, .timer = timer};
}

// A timeout competes with the client's answer for the same mailbox; whichever is first counts.
Task<void> AgentRun::answer_for_client(ToolUseId id, ToolAnswer answer) {
  if (answer.timed_out) {
    auto boxes = co_await around_.store.mailboxes(key_);
    if (boxes && is_claimed(*boxes, id)) append(answer.text, ". ", kBegunByClient);
  }
  Mail mail{.to = key_,
            .slot = id.str(),
            .kind = MailKind::tool_result,
            .body = to_mail_body(answer),
            .owner_epoch = epoch_};
  std::string body = mail.body;
  auto outcome = co_await around_.store.mail(std::move(mail));
  if (!outcome) {
    if (!answer.timed_out) {
      progress_[id].is_cancelled = false;
      co_return;
    }
    watch_timeout(id, around_.timers.now() + kTimeoutRetry);
  } else if (*outcome == MailOutcome::stale_epoch) {
    observer_.on_broken(Error(ErrorCode::conflict, "another process owns the run"));
  } else if (*outcome == MailOutcome::accepted) {
    if (questions_.contains(id)) observer_.on_going_on();
    deliver({.run = key_.run,
             .slot = id.str(),
             .kind = MailKind::tool_result,
             .filled = true,
             .body = std::move(body)});
  }
}

}  // namespace errand::agent
