// The calls of a turn and their outcomes.
#include <utility>

#include "agent/agent_run.hpp"
#include "agent/arguments.hpp"
#include "base/text.hpp"

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

// A call that was running whenever the process ended may be what ends it, whatever it promises.
bool may_run_again(const CallState& call) {
  const ToolAnnotations& promises = call.tool->annotations;
  return (promises.read_only || promises.idempotent) && call.resumes < kCallResumesMax;
}

constexpr std::string_view kOutcomeUnknown =
    "The server was restarted while this call was running. It may or may not have taken effect. "
    "Check before calling it again.";

constexpr std::string_view kCutOff =
    "The run was cancelled while this call was running. It may or may not have taken effect.";

}  // namespace

void AgentRun::start_ready_calls() {
  if (state_->cancel() || holds_calls(*state_)) return;
  if (state_->turn().end && batch_refusal(*state_)) return;
  const std::vector<CallState>& calls = state_->turn().calls;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallState& call = calls[i];
    if (call.outcome || is_started(call.id) || !state_->may_start(i)) continue;
    if (refusal(call)) continue;
    if (call.tool->site == ToolSite::host && !around_.lease.allows_effects()) {
      hold_ = Hold::lease;
      continue;
    }
    Progress& progress = progress_[call.id];
    progress.is_started = true;
    if (call.tool->site == ToolSite::client) {
      offer_to_client(call);
    } else if (Tool* tool = around_.tools.find(call.name)) {
      log_->emit(ToolCallStarted{.id = call.id, .name = call.name, .input = call.arguments});
      if (!host_tools_) {
        host_tools_ = std::make_unique<TaskGroup>(around_.home.executor(), on_bug());
      }
      host_tools_->spawn("run.tool",
                         run_host_tool(call.id, tool, parse_arguments(call.arguments).value()));
    } else {
      progress.is_started = false;
    }
  }
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
  milliseconds timeout = state_->created().limits.local_tool_timeout;
  LocalToolCall offer = offer_of(call);
  log_->emit(offer);
  log_->open_mailbox({.run = key_.run,
                      .slot = call.id.str(),
                      .kind = MailKind::tool_result,
                      .name = call.name,
                      .request = to_mail_request(offer),
                      .offer_again = call.tool->annotations.read_only,
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
  std::vector<OutcomeEntry> outcomes;
  for (const CallState& call : state_->turn().calls) {
    if (call.outcome) continue;
    bool is_lost = maybe_started_.contains(call.id) && call.tool && !may_run_again(call);
    if (all_refused && !is_started(call.id)) {
      outcomes.push_back({.id = call.id, .ok = false, .text = *all_refused, .synthetic = true});
    } else if (const Refusal* refused = refusal(call)) {
      outcomes.push_back({.id = call.id, .ok = false, .text = refused->text, .synthetic = true});
    } else if (call.tool->site == ToolSite::host && !around_.tools.find(call.name)) {
      outcomes.push_back({.id = call.id,
                          .ok = false,
                          .text = unknown_tool_text(*state_, call.name),
                          .synthetic = true});
    } else if (state_->cancel() && call.tool->site == ToolSite::host) {
      outcomes.push_back({.id = call.id, .ok = false, .text = std::string(kCutOff)});
    } else if (is_lost) {
      outcomes.push_back({.id = call.id, .ok = false, .text = std::string(kOutcomeUnknown)});
    }
  }
  maybe_started_.clear();
  for (OutcomeEntry& outcome : outcomes) record_outcome(std::move(outcome));
  if (state_->waits_for_client()) log_->set_status(RunStatus::waiting);
}

void AgentRun::record_outcome(OutcomeEntry outcome) {
  const CallState* call = state_->find_call(outcome.id);
  if (!call || call->outcome) return;
  bool is_offered = call->tool && call->tool->site == ToolSite::client && is_started(call->id);
  // What came by mail is durable there until its mailbox is closed along with this.
  milliseconds wait_max = is_offered ? RunLog::kEchoWait : RunLog::kNoWait;
  if (is_offered) {
    log_->close_mailbox(outcome.id.str(), wait_max);
    if (auto timer = timeouts_.extract(outcome.id)) around_.timers.cancel(timer.mapped().timer);
  }
  // What nobody sent is not shown as if somebody had.
  if (is_offered && !outcome.timed_out) {
    log_->emit(LocalToolResultIn{.id = outcome.id,
                                 .name = call->name,
                                 .ok = outcome.ok,
                                 .text = outcome.text,
                                 .files = outcome.files},
               wait_max);
  } else {
    log_->emit(
        ToolResultEvent{
            .id = outcome.id, .name = call->name, .ok = outcome.ok, .text = outcome.text},
        wait_max);
  }
  const Refusal* refused = outcome.synthetic ? refusal(*call) : nullptr;
  if (refused && refused->event && refused->text == outcome.text) log_->emit(*refused->event);
  record(std::move(outcome), wait_max);
  start_ready_calls();
}

Task<void> AgentRun::run_host_tool(ToolUseId id, Tool* tool, json::Object arguments) {
  // An effect that cannot be repeated waits until the call is in the journal for good.
  if (!tool->decl().annotations.read_only) {
    auto durable = co_await log_->flush();
    if (!durable) co_return;
  }
  ToolOutcome outcome =
      co_await tool->invoke({.run = key_.run, .id = id, .arguments = std::move(arguments)});
  host_outcomes_.push_back({.id = id, .ok = outcome.ok, .text = std::move(outcome.text)});
  kick();
}

void AgentRun::watch_timeout(const ToolUseId& id, SteadyTime when) {
  Timers::Id timer = around_.timers.set(when, [this, id] {
    timeouts_.erase(id);
    tasks_.spawn("run.timeout", expire(id));
  });
  timeouts_[id] = {.when = when, .timer = timer};
}

// The timeout competes with an answer for the same mailbox; whichever is first counts.
Task<void> AgentRun::expire(ToolUseId id) {
  ToolAnswer answer{
      .ok = false, .text = "Timed out waiting for local tool result", .timed_out = true};
  Mail mail{.to = key_,
            .slot = id.str(),
            .kind = MailKind::tool_result,
            .body = to_mail_body(answer),
            .owner_epoch = epoch_};
  std::string body = mail.body;
  auto outcome = co_await around_.store.mail(std::move(mail));
  if (!outcome) {
    watch_timeout(id, around_.timers.now() + kTimeoutRetry);
  } else if (*outcome == MailOutcome::stale_epoch) {
    observer_.on_broken(Error(ErrorCode::conflict, "another process owns the run"));
  } else if (*outcome == MailOutcome::accepted) {
    deliver({.run = key_.run,
             .slot = id.str(),
             .kind = MailKind::tool_result,
             .filled = true,
             .body = std::move(body)});
  }
}

}  // namespace errand::agent
