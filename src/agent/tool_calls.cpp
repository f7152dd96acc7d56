// The calls of a turn and their outcomes.
#include <algorithm>
#include <utility>

#include "agent/agent_run.hpp"
#include "agent/fold/arguments.hpp"
#include "agent/fold/offers.hpp"
#include "async/backoff.hpp"
#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::agent {
namespace {

constexpr Backoff::Bounds kAnswerRetries{.first = milliseconds(250), .max = milliseconds(5000)};

// Calls that are refused or checked at a stretch.
constexpr std::size_t kJudgedInABreath = 8;
// Arguments up to this size are checked on the home if their schema compiles quickly.
constexpr std::size_t kQuickArgumentsBytes = 16U * 1024;

bool takes_long_to_judge(const CallState& call) {
  if (call.arguments.size() > kQuickArgumentsBytes) return true;
  if (call.tool->annotations.checks_arguments) return false;
  return call.tool->checker || !json::is_plain_schema(*call.tool->input_schema);
}

// The result of checking the arguments of a call.
struct JudgedArguments {
  std::optional<std::string> mistakes;
  std::string shown;
};

// A call that was running each time the process ended may be what ends it, whatever its tool
// promises. A call with a note only resumes what the note names, which may take longer than several
// processes live; if such a call ends the process, the run's strikes end the run.
bool may_run_again(const CallState& call) {
  const bool goes_on = call.tool->annotations.resumable && !call.note.empty();
  return goes_on || (promises_repeat(*call.tool) && call.resumes < kCallResumesMax);
}

// Shows the outcome as an event of type E, which has the text only meanwhile: a copy of megabytes
// takes as long as writing them.
template <class E>
void emit_result(RunLog& log, const std::string& tool, OutcomeEntry& outcome,
                 milliseconds wait_max) {
  Event event = E{.id = outcome.id,
                  .name = tool,
                  .ok = outcome.ok,
                  .text = std::move(outcome.text),
                  .files = outcome.files};
  log.emit(event, wait_max);
  outcome.text = std::move(std::get<E>(event).text);
}

constexpr std::string_view kOutcomeUnknown =
    "A restart cut this call off. It may or may not have taken effect. Check before calling it "
    "again.";

constexpr std::string_view kBegunByClient =
    "A client had begun this call. It may or may not have taken effect. Check before calling it "
    "again.";

constexpr std::string_view kCancelledCall =
    "The run was cancelled while this call was running. It may or may not have taken effect.";

constexpr std::string_view kCancelledFirst =
    "This call was not made: the run was cancelled before it.";

constexpr std::string_view kNotMade =
    "This call was not made: another call of the turn ended the run.";

constexpr std::string_view kSiblingFailed =
    "This call was not made: a call beside it failed, and its tool cancels the others.";

constexpr std::string_view kSiblingCutOff =
    "This call was cancelled because a call beside it failed. It may or may not have taken effect.";

// How long the outcome of a call may wait to share a commit. An answer by mail is durable in its
// mailbox until the same commit closes the mailbox. The outcome of a read-only tool can be read
// again if it is lost.
milliseconds outcome_wait(const ToolDecl& tool) {
  if (tool.site == ToolSite::client) return RunLog::kEchoWait;
  return tool.annotations.read_only ? RunLog::kDeltaWait : RunLog::kNoWait;
}

}  // namespace

void AgentRun::start_ready_calls(std::size_t first) {
  if (state_->cancel() || holds_calls(*state_) || fatal_outcome_of(*state_)) return;
  if (state_->turn().end && batch_refusal(*state_)) return;
  if (has_failed_sibling()) return;
  const std::vector<CallState>& calls = state_->turn().calls;
  const DispatchOrder order = state_->dispatch_order();
  for (std::size_t i = first; i < calls.size(); ++i) {
    const CallState& call = calls[i];
    if (call.outcome || calls_.is_started(call.id) || !order.may_start(i)) continue;
    if (refusal(call)) continue;
    if (call.tool->site == ToolSite::host && !around_.lease.allows_effects()) {
      hold_ = Hold::lease;
      continue;
    }
    if (call.tool->site == ToolSite::client) {
      calls_.at(call.id).stage = Stage::started;
      offer_to_client(call);
    } else if (ToolPtr tool = open_tool(*call.tool)) {
      calls_.at(call.id).stage = Stage::started;
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

const Refusal* AgentRun::refusal(const CallState& call) {
  Calls::Call& known = calls_.at(call.id);
  if (!known.refusal) {
    auto refused = refusal_of(*state_, call, *around_.schemas.cache);
    known.refusal = refused ? std::make_unique<const Refusal>(std::move(*refused)) : nullptr;
  }
  return known.refusal->get();
}

Task<void> AgentRun::judge_calls(std::size_t first) {
  Breath breath(kJudgedInABreath);
  for (std::size_t i = first; i < state_->turn().calls.size(); ++i) {
    const CallState& call = state_->turn().calls[i];
    if (call.outcome || calls_.at(call.id).refusal) continue;
    if (!refusal_unseen(*state_, call) && takes_long_to_judge(call)) {
      co_await judge_aside(call.id);
    } else {
      refusal(call);
    }
    if (breath.is_due(1)) co_await let_others_run();
  }
}

// The task may outlive the turn, so it keeps the run's tools alive.
Task<void> AgentRun::judge_aside(ToolUseId id) {
  auto judge = [call = *state_->find_call(id), tools = state_->tools(),
                cache = around_.schemas.cache] {
    return Result<JudgedArguments>(JudgedArguments{.mistakes = invalid_arguments_text(call, *cache),
                                                   .shown = shown_arguments(call)});
  };
  auto judged = co_await surely_aside(around_.schemas.pool, std::move(judge));
  if (!judged) co_return observer_.on_broken(judged.error());
  Calls::Call& call = calls_.at(id);
  call.shown = std::move(judged->shown);
  call.refusal = nullptr;
  if (!judged->mistakes) co_return;
  call.refusal = std::make_unique<const Refusal>(Refusal{.text = std::move(*judged->mistakes)});
}

std::string AgentRun::shown_input(const CallState& call) {
  const std::string& shown = calls_.at(call.id).shown;
  return shown.empty() ? shown_arguments(call) : shown;
}

void AgentRun::offer_to_client(const CallState& call) {
  milliseconds timeout =
      call.tool->annotations.timeout.value_or(state_->created().limits.local_tool_timeout);
  LocalToolCall offer = offer_of(call, shown_input(call));
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
  calls_.watch(call.id, around_.timers.now() + timeout);
}

// Settles the calls whose outcome is known without running them.
Task<void> AgentRun::settle_without_running() {
  Breath breath(kJudgedInABreath);
  for (const ToolUseId& id : calls_.take_forgotten()) {
    const CallState* call = state_->find_call(id);
    if (call && !call->outcome) log_->emit(offer_of(*call, shown_input(*call)));
    if (breath.is_due(1)) co_await let_others_run();
  }
  std::optional<std::string> all_refused = batch_refusal(*state_);
  if (has_failed_sibling()) all_refused = kSiblingFailed;
  if (fatal_outcome_of(*state_)) all_refused = kNotMade;
  // Gathered first, because recording an outcome changes the turn that this loop walks over.
  std::vector<OutcomeEntry> outcomes;
  for (const CallState& call : state_->turn().calls) {
    if (call.outcome) continue;
    const bool may_have_begun = calls_.stage_of(call.id) == Stage::maybe_begun;
    const bool is_lost = may_have_begun && call.tool && !may_run_again(call);
    if (all_refused && !calls_.is_started(call.id) && !is_lost) {
      outcomes.push_back({.id = call.id, .ok = false, .text = *all_refused, .synthetic = true});
    } else if (const Refusal* refused = refusal(call)) {
      outcomes.push_back({.id = call.id, .ok = false, .text = refused->text, .synthetic = true});
    } else if (state_->cancel() && call.tool->site == ToolSite::host) {
      const bool may_have_run = calls_.is_started(call.id) || may_have_begun;
      outcomes.push_back({.id = call.id,
                          .ok = false,
                          .text = std::string(may_have_run ? kCancelledCall : kCancelledFirst),
                          .synthetic = !may_have_run});
    } else if (is_lost) {
      outcomes.push_back({.id = call.id, .ok = false, .text = std::string(kOutcomeUnknown)});
    } else if (call.tool->site == ToolSite::host && !calls_.is_started(call.id) &&
               !open_tool(*call.tool)) {
      outcomes.push_back(
          {.id = call.id, .ok = false, .text = gone_tool_text(call.name), .synthetic = true});
    }
  }
  calls_.reopen();
  for (OutcomeEntry& outcome : outcomes) {
    record_outcome(std::move(outcome));
    if (breath.is_due(1)) co_await let_others_run();
  }
  if (state_->waits_for_client()) log_->set_status(RunStatus::waiting);
}

// Counts a call for the kind of its tool. Refused calls, and calls of tools that the run does not
// have, belong to no kind.
void AgentRun::count_call(const CallState& call, const OutcomeEntry& outcome) {
  if (!call.tool || outcome.synthetic) return;
  std::string_view kind = "local";  // the kind of every ref that a client answers
  if (call.tool->site == ToolSite::host) {
    kind = kind_of(state_->created().spec.tools->refs.at(call.tool->origin.ref));
  }
  CallCounts& counts = around_.counters.tool_calls[kind];
  ++counts.calls;
  if (!outcome.ok) ++counts.failures;
}

void AgentRun::record_outcome(OutcomeEntry outcome) {
  const CallState* call = state_->find_call(outcome.id);
  if (!call || call->outcome) return;
  count_call(*call, outcome);
  close_questions(outcome.id);
  // Cut to little more than the conversation has room for: otherwise, many large results of one
  // turn would fill memory and the log at once.
  if (!outcome.synthetic) outcome.text.resize(state_->kept_result(outcome.text).size());
  const bool is_started = call->tool && calls_.is_started(call->id);
  const bool is_offered = is_started && call->tool->site == ToolSite::client;
  const milliseconds wait_max = is_started ? outcome_wait(*call->tool) : RunLog::kNoWait;
  if (is_offered) log_->close_mailbox(outcome.id.str(), wait_max);
  calls_.forget_time(outcome.id);
  // An answer that no client sent is not shown as a client's.
  if (is_offered && !outcome.timed_out) {
    emit_result<LocalToolResultIn>(*log_, call->name, outcome, wait_max);
  } else {
    emit_result<ToolResultEvent>(*log_, call->name, outcome, wait_max);
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

// ---- Siblings -----------------------------------------------------------------------------------

// Answers that wait for the end of the turn count, too: a call that the model streams after the
// failure is not begun.
bool AgentRun::has_failed_sibling() const {
  auto cancels = [this](const ToolUseId& id) {
    const CallState* call = state_->find_call(id);
    return call && call->tool && call->tool->annotations.cancel_siblings;
  };
  for (const CallState& call : state_->turn().calls) {
    const bool has_failed = call.outcome && !call.outcome->synthetic && !call.outcome->ok;
    if (has_failed && call.tool && call.tool->annotations.cancel_siblings) return true;
  }
  for (const HostOutcome& outcome : host_outcomes_) {
    if (!outcome.entry.ok && cancels(outcome.entry.id)) return true;
  }
  return std::any_of(inbox_.begin(), inbox_.end(), [&](const Mailbox& mail) {
    auto id = mail.kind == MailKind::tool_result ? ToolUseId::parse(mail.slot) : std::nullopt;
    if (!id || !cancels(*id)) return false;
    auto answer = parse_tool_answer(mail.body);
    return answer && !answer->ok;
  });
}

// The child run of a call that is cut off ends as well. If the store does not answer, the child run
// ends at its time limit.
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
    if (call.outcome || !calls_.is_under_way(call.id)) continue;
    Calls::Call& known = calls_.at(call.id);
    if (call.tool->site == ToolSite::client) {
      known.stage = Stage::ending;
      tasks_.spawn("run.sibling",
                   answer_for_client(call.id, {.ok = false, .text = std::string(kSiblingCutOff)}));
    } else if (known.task) {
      settle_host_call(call.id, failed_outcome(std::string(kSiblingCutOff)));
      tasks_for(*call.tool).cancel_one(*known.task);
      if (is_agent_tool(*call.tool)) tasks_.spawn("run.sibling", cancel_child_of(call.id));
    }
  }
}

// ---- Timeouts -----------------------------------------------------------------------------------

void AgentRun::end_time_of(const ToolUseId& id) {
  const CallState* call = state_->find_call(id);
  if (call && call->tool && call->tool->site == ToolSite::host) return cut_off(*call);
  ToolAnswer answer{
      .ok = false, .text = "Timed out waiting for local tool result", .timed_out = true};
  tasks_.spawn("run.timeout", answer_for_client(id, std::move(answer)));
}

// A timeout competes with the client's answer for the same mailbox, and the first one counts. The
// store is asked until it answers, because nothing else ends the call.
Task<void> AgentRun::answer_for_client(ToolUseId id, ToolAnswer answer) {
  for (Backoff backoff(kAnswerRetries, key_.run.view()); waits_for_answer(id);) {
    const bool is_done = co_await try_to_answer(id, answer);
    if (is_done) co_return;
    co_await around_.timers.sleep_until(around_.timers.now() + backoff.next());
  }
}

bool AgentRun::waits_for_answer(const ToolUseId& id) const {
  if (log_->failed() || state_->terminal()) return false;
  const CallState* call = state_->find_call(id);
  return questions_.contains(id) || (call && !call->outcome);
}

Task<bool> AgentRun::try_to_answer(ToolUseId id, ToolAnswer answer) {
  // The mailbox of a call that was offered a moment ago may not be in the store yet.
  auto durable = co_await log_->flush();
  if (!durable) co_return true;
  auto boxes = co_await around_.store.mailboxes(key_);
  if (!boxes) co_return false;
  auto box = std::find_if(boxes->begin(), boxes->end(),
                          [&id](const Mailbox& one) { return one.slot == id.view(); });
  if (box == boxes->end()) co_return true;
  if (box->filled) {
    // The client filled the mailbox, or an earlier attempt whose reply from the store was lost.
    take_late_answer(std::move(*box));
    co_return true;
  }
  // The client that claimed the call may have begun it, and may have been cut off in the middle.
  if (answer.timed_out && !box->claim_id.empty()) append(answer.text, ". ", kBegunByClient);
  Mail mail{.to = key_,
            .slot = id.str(),
            .kind = MailKind::tool_result,
            .body = to_mail_body(answer),
            .owner_epoch = epoch_};
  auto outcome = co_await around_.store.mail(mail);
  // The mailbox was filled or closed in between; the next attempt reads what is in it.
  if (!outcome || *outcome == MailOutcome::unknown_slot) co_return false;
  if (*outcome == MailOutcome::stale_epoch) {
    observer_.on_broken(Error(ErrorCode::conflict, "another process owns the run"));
  } else if (*outcome == MailOutcome::accepted) {
    take_late_answer(filled_by(std::move(mail)));
  }
  co_return true;
}

void AgentRun::take_late_answer(Mailbox filled) {
  if (questions_.contains(*ToolUseId::parse(filled.slot))) observer_.on_going_on();
  deliver(std::move(filled));
}

}  // namespace errand::agent
