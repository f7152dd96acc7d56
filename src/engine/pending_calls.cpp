// Calls that wait for a client, as work that many clients share.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "engine/call_errors.hpp"
#include "engine/engine.hpp"

namespace errand::engine {
namespace {

// This process does not notice when a claim made by an earlier process expires, or when another
// node opens a call. Such calls are found at most this much later.
constexpr milliseconds kLookAgain{5000};

// Depends on the caller, the call and the key alone, and cannot be guessed by others.
std::string claim_id_of(const Principal& who, std::string_view slot, std::string_view key) {
  constexpr std::size_t kHexChars = 32;
  std::string asked = cat(who.workspace.view(), "\n", who.key.view(), "\n", slot, "\n", key);
  return cat("claim_", crypto::to_hex(crypto::sha256(asked)).substr(0, kHexChars));
}

}  // namespace

// Registers a watcher with those that wait for the same calls, for as long as this lives.
class Engine::Watching final {
 public:
  Watching(Engine& engine, const CallFilter& filter, CallWatcher& watcher, CallPoll* poll)
      : watchers_(engine.call_watchers_),
        group_(watchers_.try_emplace({filter.workspace, filter.name}).first),
        watcher_(watcher),
        poll_(poll) {
    group_->second.insert(&watcher_);
    if (poll_) poll_->bell_ = &watcher_.wakeup;
  }
  ~Watching() {
    if (poll_) poll_->bell_ = nullptr;
    group_->second.erase(&watcher_);
    if (group_->second.empty()) watchers_.erase(group_);
  }
  Watching(const Watching&) = delete;
  Watching& operator=(const Watching&) = delete;

 private:
  std::map<CallsOf, std::set<CallWatcher*>>& watchers_;
  const std::map<CallsOf, std::set<CallWatcher*>>::iterator group_;
  CallWatcher& watcher_;
  CallPoll* const poll_;
};

PendingCall Engine::shown(Mailbox box) const {
  WallTime wall_now = deps_.clock.now();
  StoreTime now = deps_.store.now();
  PendingCall call{.expires_at = wall_now + (box.deadline - now)};
  if (!box.claim_id.empty() && box.claimed_until > now) {
    call.claimed_until = wall_now + (box.claimed_until - now);
  }
  call.box = std::move(box);
  return call;
}

Task<Result<std::vector<PendingCall>>> Engine::pending_calls(CallFilter filter,
                                                             milliseconds patience,
                                                             std::shared_ptr<CallPoll> poll) {
  SteadyTime deadline = deps_.timers.now() + patience;
  CallWatcher watcher{.wakeup = Wakeup(deps_.home.executor())};
  const Watching watching(*this, filter, watcher, poll.get());
  for (;;) {
    watcher.has_news = false;
    ERRAND_CO_TRY(auto boxes, co_await look_for_calls(filter));
    SteadyTime now = deps_.timers.now();
    auto is_over = [this, deadline, &poll] {
      return deps_.timers.now() >= deadline || draining_ || (poll && !poll->is_wanted());
    };
    if (!boxes.empty() || is_over()) {
      std::vector<PendingCall> calls;
      for (Mailbox& box : boxes) calls.push_back(shown(std::move(box)));
      co_return calls;
    }
    TimerGuard timer(deps_.timers, std::min(deadline, now + kLookAgain), [&watcher] {
      watcher.has_news = true;
      watcher.wakeup.notify();
    });
    // A wakeup that only checks whether the poller is still there does not need the store.
    while (!watcher.has_news && !is_over()) co_await watcher.wakeup.wait();
    if (!watcher.has_news) co_return std::vector<PendingCall>();
  }
}

Task<Result<std::vector<Mailbox>>> Engine::look_for_calls(CallFilter filter) {
  Gate::Pass pass = co_await call_looks_.enter();
  ++counters_.call_looks;
  co_return co_await deps_.store.pending_calls(std::move(filter));
}

void Engine::tell_watchers() {
  for (const auto& [calls, watchers] : call_watchers_) {
    for (CallWatcher* watcher : watchers) {
      watcher->has_news = true;
      watcher->wakeup.notify();
    }
  }
}

void Engine::recheck_waits() {
  for (const auto& [calls, watchers] : call_watchers_) {
    for (CallWatcher* watcher : watchers) watcher->wakeup.notify();
  }
}

void Engine::tell_watchers_of(const WorkspaceSlug& workspace, std::span<const Mailbox> calls) {
  if (calls.empty() || call_watchers_.empty()) return;
  tell_watchers_of(workspace, "");
  std::set<std::string_view> names;
  for (const Mailbox& call : calls) {
    if (names.insert(call.name).second) tell_watchers_of(workspace, call.name);
  }
}

// Wakes the watchers of this tool's calls. Without a name: the watchers of all calls.
void Engine::tell_watchers_of(const WorkspaceSlug& workspace, std::string_view name) {
  auto found = call_watchers_.find({workspace, std::string(name)});
  if (found == call_watchers_.end()) return;
  for (CallWatcher* watcher : found->second) {
    watcher->has_news = true;
    watcher->wakeup.notify();
  }
}

Task<Result<void>> Engine::report_progress(Principal who, std::string tool_use_id,
                                           ProgressReport report) {
  auto call = ToolUseId::parse(tool_use_id);
  if (!call) co_return call_not_pending(tool_use_id);
  CallFilter filter{.workspace = who.workspace, .slot = tool_use_id, .limit = 1};
  ERRAND_CO_TRY(auto boxes, co_await deps_.store.pending_calls(std::move(filter)));
  if (boxes.empty()) co_return call_not_pending(tool_use_id);
  Mail mail{.to = {.workspace = who.workspace, .run = boxes.front().run},
            .slot = progress_slot(*call),
            .kind = MailKind::progress,
            .body = to_mail_body(ToolProgress{.id = *call,
                                              .name = boxes.front().name,
                                              .message = std::move(report.message),
                                              .progress = report.progress,
                                              .total = report.total})};
  ERRAND_CO_TRY(auto outcome, co_await post(std::move(mail)));
  // Any other refusal means that the run has not read the last report yet; this one is dropped.
  if (outcome == MailOutcome::run_ended) {
    co_return Error(ErrorCode::conflict, "the run has ended").reason("run_terminal");
  }
  co_return Result<void>();
}

Task<Result<PendingCall>> Engine::take_call(CallClaim claim) {
  std::string slot = claim.slot;
  const WorkspaceSlug workspace = claim.workspace;
  ++counters_.durable_waits;
  ERRAND_CO_TRY(auto outcome, co_await deps_.store.claim_call(std::move(claim)));
  if (outcome.kind == CallClaimOutcome::Kind::unknown_slot) co_return call_not_pending(slot);
  if (outcome.kind == CallClaimOutcome::Kind::taken) co_return call_claimed(slot);
  watch_claim(workspace, outcome.box);
  co_return shown(std::move(outcome.box));
}

// When the claim expires, other clients may claim the call.
void Engine::watch_claim(const WorkspaceSlug& workspace, const Mailbox& call) {
  if (pauses_.ended()) return;
  forget_claim(call.run, call.slot);
  const milliseconds left = call.claimed_until - deps_.store.now();
  Mailbox free{.run = call.run, .slot = call.slot, .name = call.name};
  claims_[call.run][call.slot] =
      deps_.timers.set(deps_.timers.now() + left, [this, workspace, free = std::move(free)] {
        forget_claim(RunId(free.run), std::string(free.slot));
        tell_watchers_of(workspace, std::span(&free, 1));
      });
}

// The claim has expired, or the call is over.
void Engine::forget_claim(const RunId& run, const std::string& slot) {
  auto claims = claims_.find(run);
  if (claims == claims_.end()) return;
  auto claim = claims->second.find(slot);
  if (claim == claims->second.end()) return;
  deps_.timers.cancel(claim->second);
  claims->second.erase(claim);
  if (claims->second.empty()) claims_.erase(claims);
}

std::size_t Engine::claims() const {
  std::size_t count = 0;
  for (const auto& [run, claims] : claims_) count += claims.size();
  return count;
}

void Engine::forget_claims(const RunId& run) {
  auto claims = claims_.find(run);
  if (claims == claims_.end()) return;
  for (const auto& [slot, timer] : claims->second) deps_.timers.cancel(timer);
  claims_.erase(claims);
}

Task<Result<PendingCall>> Engine::claim_call(Principal who, std::string tool_use_id,
                                             milliseconds ttl, std::string key) {
  std::string id =
      key.empty() ? deps_.ids.make<ClaimIdTag>("claim_").str() : claim_id_of(who, tool_use_id, key);
  return take_call({.workspace = who.workspace,
                    .slot = std::move(tool_use_id),
                    .claim_id = std::move(id),
                    .ttl = ttl});
}

Task<Result<PendingCall>> Engine::extend_claim(Principal who, std::string tool_use_id,
                                               std::string claim_id, milliseconds ttl) {
  return take_call({.kind = CallClaim::Kind::extend,
                    .workspace = who.workspace,
                    .slot = std::move(tool_use_id),
                    .claim_id = std::move(claim_id),
                    .ttl = ttl});
}

}  // namespace errand::engine
