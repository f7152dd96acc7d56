#include "engine/residency/residency.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <chrono>
#include <utility>

#include "async/read_aside.hpp"
#include "engine/residency/large_parts.hpp"
#include "engine/residency/whole_log.hpp"

namespace errand::engine {
namespace {

constexpr Backoff::Bounds kReloadPauses{};
// A run that fails again within this time waits longer each time before it is reloaded.
constexpr milliseconds kBreaksTogether{60'000};

// A run that gets its session's turn waits for a slot before its row is read. After this time the
// row is read, and the run ends if its time is over.
constexpr std::chrono::hours kTurnWait{24};

bool is_in_flight(Place place) {
  return place == Place::loading || place == Place::live;
}

}  // namespace

Residency::Residency(Deps deps)
    : deps_(std::move(deps)),
      slots_(deps_.slots),
      tasks_(deps_.home.executor(), [this](const char* task, const std::string& what) {
        deps_.log.error("a task of the engine failed; this is a bug",
                        {{"task", task}, {"what", what}});
      }) {}

Residency::~Residency() = default;

Residency::Resident& Residency::enter(const RunKey& run) {
  auto [at, is_new] = residents_.try_emplace(run.run);
  if (is_new) {
    at->second.workspace = run.workspace;
    ++counts_[static_cast<std::size_t>(Place::unowned)];
  }
  return at->second;
}

Residency::Resident* Residency::look_up(const RunId& run) {
  auto found = residents_.find(run);
  return found == residents_.end() ? nullptr : &found->second;
}

const Residency::Resident* Residency::look_up(const RunId& run) const {
  auto found = residents_.find(run);
  return found == residents_.end() ? nullptr : &found->second;
}

void Residency::move(Resident& resident, Place to) {
  if (resident.place == Place::waiting) waiting_.erase(resident.timer);
  deps_.timers.cancel(std::exchange(resident.timer, {}));
  --counts_[static_cast<std::size_t>(resident.place)];
  if (is_in_flight(to) && !is_in_flight(resident.place)) slots_.take(resident.workspace);
  if (!is_in_flight(to) && is_in_flight(resident.place)) {
    slots_.give_back(resident.workspace);
    wake_queue();
  }
  resident.place = to;
  ++counts_[static_cast<std::size_t>(to)];
}

void Residency::leave(const RunId& run) {
  Resident* resident = look_up(run);
  if (!resident) return;
  move(*resident, Place::unowned);
  --counts_[static_cast<std::size_t>(Place::unowned)];
  residents_.erase(run);
}

LiveRun& Residency::live_of(const RunId& run, Resident& resident) {
  if (!resident.live) {
    RunRow row{.id = run, .workspace = resident.workspace};
    resident.live = std::make_shared<LiveRun>(row, static_cast<LiveRun::Keeper&>(*this));
  }
  return *resident.live;
}

Residency::KeptSlot Residency::keep_slot(const WorkspaceSlug& workspace) {
  if (must_queue(workspace)) return {};
  slots_.take(workspace);
  return {*this, workspace};
}

Residency::KeptSlot& Residency::KeptSlot::operator=(KeptSlot&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  from_ = std::exchange(other.from_, nullptr);
  workspace_ = std::move(other.workspace_);
  return *this;
}

void Residency::KeptSlot::give_back() {
  if (Residency* from = std::exchange(from_, nullptr)) {
    from->slots_.give_back(workspace_);
    from->wake_queue();
  }
}

// The slot is released when this returns; by then the run has taken one of its own.
void Residency::begin(const RunRow& row, std::unique_ptr<agent::State> state, KeptSlot slot,
                      std::optional<HistorySize> history) {
  if (deps_.pauses.ended()) return;  // the run is durable: the next process drives it
  const RunKey key = row.key();
  Resident& resident = enter(key);
  // A cancel may have come before; it is handled at once.
  bool is_hurried = resident.live && resident.live->has_early_mail();
  bool must_wait = row.status == RunStatus::queued || !slot.is_kept();
  if (must_wait && !is_hurried) {
    queue(key, resident, end_of(row), Start::fresh);
    return;
  }
  drive({.row = row,
         .state = std::move(state),
         .mail = {},
         .start = Start::fresh,
         .history = history});
}

void Residency::begin_unread(const RunRow& row) {
  if (deps_.pauses.ended() || is_terminal(row.status)) return;
  const RunKey key = row.key();
  Resident& resident = enter(key);
  // Mail may have come before, so that the run is being loaded already.
  if (resident.place != Place::unowned) return;
  if (row.status == RunStatus::queued || must_queue(row.workspace)) {
    queue(key, resident, end_of(row), Start::fresh);
  } else {
    load(key, resident, Start::fresh);
  }
}

SteadyTime Residency::end_of(const RunRow& row) const {
  return deps_.timers.now() + std::max(row.ends_by - deps_.store.now(), milliseconds(0));
}

void Residency::queue(const RunKey& run, Resident& resident, SteadyTime until, Start start) {
  move(resident, Place::queued);
  resident.start = start;
  resident.ticket = slots_.wait(run);
  resident.timer = deps_.timers.set(until, [this, run] {
    Resident* queued = look_up(run.run);
    if (!queued) return;
    slots_.leave(run.workspace, queued->ticket);
    start_in_slot(run, *queued);
  });
  wake_queue();
}

void Residency::start_in_slot(const RunKey& run, Resident& resident) {
  load(run, resident, resident.start);
}

// Runs are started later, and not from inside the code that has freed a slot.
void Residency::wake_queue() {
  if (is_starting_ || slots_.waiting() == 0 || deps_.pauses.ended()) return;
  is_starting_ = true;
  tasks_.spawn("engine.start_queued", start_queued());
}

Task<void> Residency::start_queued() {
  co_await asio::post(deps_.home.executor(), use_task);
  is_starting_ = false;
  while (!deps_.pauses.ended()) {
    auto run = slots_.next();
    if (!run) co_return;
    Resident* resident = look_up(run->run);
    if (resident && resident->place == Place::queued) start_in_slot(*run, *resident);
  }
}

void Residency::drive(agent::AgentRun::Params params) {
  const RunKey key = params.row.key();
  Resident& resident = enter(key);
  LiveRun& live = live_of(key.run, resident);
  live.catch_up(params.row);
  const CreatedEntry& created = params.state->created();
  const std::string& model_id = created.model.id;
  std::shared_ptr<llm::Model> model =
      deps_.catalog.find_with_fallback(model_id, created.fallback, deps_.log);
  if (!model && !has_cancel(params.mail)) {
    deps_.log.warning("a run waits for its model, which is not configured",
                      {{"run", key.run.str()}, {"model", model_id}});
  }
  params.is_given_up = resident.is_given_up;
  move(resident, Place::live);
  if (auto reports = std::exchange(resident.reports, nullptr)) params.reports = std::move(*reports);
  live.attach(std::make_unique<agent::AgentRun>(deps_.surroundings, std::move(model), live,
                                                std::move(params)));
}

std::shared_ptr<LiveRun> Residency::find(const RunKey& run) const {
  const Resident* resident = look_up(run.run);
  return resident && resident->workspace == run.workspace ? resident->live : nullptr;
}

std::shared_ptr<LiveRun> Residency::find_or_watch(const RunRow& row) {
  Resident& resident = enter(row.key());
  if (!resident.live) {
    resident.live = std::make_shared<LiveRun>(row, static_cast<LiveRun::Keeper&>(*this));
  }
  return resident.live;
}

void Residency::deliver(const RunKey& run, Mailbox mail) {
  if (deps_.pauses.ended()) return;
  Resident& resident = enter(run);
  const bool is_cancel = mail.kind == MailKind::cancel;
  // The store may have been read before this mail came. Mail that comes twice is folded once.
  live_of(run.run, resident).deliver(std::move(mail));
  switch (resident.place) {
    case Place::waiting: move(resident, Place::live); break;
    case Place::resting: load(run, resident, Start::activated); break;
    case Place::queued:
      // A cancelled run ends without a slot.
      slots_.leave(run.workspace, resident.ticket);
      start_in_slot(run, resident);
      break;
    case Place::suspect:
      // A cancelled run sends no requests and makes no calls, so it can do no harm.
      if (is_cancel) release(run.run);
      break;
    case Place::unowned:
      // A run of an earlier process is claimed together with its mail.
      if (!is_recovering_) load(run, resident, Start::activated);
      break;
    case Place::claimed:
    case Place::live:
    case Place::loading:
    case Place::ended: break;
  }
}

void Residency::take_turn(const RunKey& run) {
  if (deps_.pauses.ended()) return;
  Resident& resident = enter(run);
  if (resident.place == Place::loading) {
    resident.is_read_again = true;
    return;
  }
  // A run that waits for a slot asks its session for the turn when it starts.
  if (resident.place == Place::ended || resident.place == Place::queued) return;
  if (!resident.live || !resident.live->agent()) {
    if (must_queue(run.workspace)) {
      return queue(run, resident, deps_.timers.now() + kTurnWait, Start::activated);
    }
    return load(run, resident, Start::activated);
  }
  // The agent in memory knows only that it has to wait.
  move(resident, Place::loading);
  tasks_.spawn("engine.replace", replace(run, resident.live->detach(), milliseconds(0)));
}

void Residency::on_turn_given(LiveRun& run, std::optional<RunId> to) {
  if (to) return take_turn({.workspace = run.workspace(), .run = *to});
  tasks_.spawn("engine.find_turn", find_turn(run.key()));
}

Task<void> Residency::find_turn(RunKey ended) {
  for (Backoff backoff(kReloadPauses, ended.run.view()); !deps_.pauses.ended();) {
    auto row = co_await deps_.store.find(ended);
    if (row && row->session.empty()) co_return;
    if (row) {
      auto session = co_await deps_.store.find_session({ended.workspace, row->session});
      if (session && !session->current) co_return;
      if (session) co_return take_turn({.workspace = ended.workspace, .run = *session->current});
    }
    co_await deps_.pauses.pause(backoff.next());
  }
}

void Residency::deliver_news(std::vector<Mailbox> news) {
  for (Mailbox& mail : news) {
    const Resident* resident = look_up(mail.run);
    if (!resident || resident->place == Place::unowned) continue;
    RunKey run{.workspace = resident->workspace, .run = mail.run};
    deliver(run, std::move(mail));
  }
}

void Residency::on_waiting(LiveRun& run) {
  Resident* resident = look_up(run.id());
  if (!resident || deps_.pauses.ended()) return;
  move(*resident, Place::waiting);
  resident->timer =
      deps_.timers.set(deps_.timers.now() + kRestAfter, [this, id = run.id()] { put_aside(id); });
  waiting_.emplace(resident->timer, run.id());
  if (waiting_.size() > kWaitingRunsMax) put_aside(RunId(waiting_.begin()->second));
}

// A run that waits for a run that it has called gives up its slot, because the called run may be
// waiting for that slot. It stays in memory, because it follows the called run.
void Residency::on_waiting_for_child(LiveRun& run) {
  Resident* resident = look_up(run.id());
  if (resident && !deps_.pauses.ended()) move(*resident, Place::waiting);
}

void Residency::on_going_on(LiveRun& run) {
  Resident* resident = look_up(run.id());
  if (resident && resident->place == Place::waiting) move(*resident, Place::live);
}

void Residency::put_aside(const RunId& run) {
  Resident* resident = look_up(run);
  if (!resident || !resident->live || !resident->live->agent()) return;
  LivePtr live = resident->live;
  if (!live->agent()->may_rest()) return move(*resident, Place::live);
  // The limit is also for clients that report now and then, and always find the run at rest.
  if (auto reports = live->agent()->reports(); !reports.empty()) {
    resident->reports = std::make_unique<std::map<ToolUseId, int>>(std::move(reports));
  }
  rest(run, *resident, live->agent()->next_deadline());
  tasks_.spawn("engine.destroy", destroy(live, live->detach()));
  if (!live->has_readers()) resident->live.reset();
}

void Residency::rest(const RunId& run, Resident& resident, SteadyTime until) {
  move(resident, Place::resting);
  resident.timer = deps_.timers.set(until, [this, run] {
    Resident* resting = look_up(run);
    if (resting) load({.workspace = resting->workspace, .run = run}, *resting, Start::activated);
  });
}

void Residency::load(const RunKey& run, Resident& resident, Start start) {
  move(resident, Place::loading);
  tasks_.spawn("engine.load", reload(run, start));
}

// Only the store knows how far the run got. If the store does not answer, it is asked again.
Task<void> Residency::reload(RunKey run, Start start) {
  for (Backoff backoff(kReloadPauses, run.run.view()); !deps_.pauses.ended();) {
    bool is_done = co_await try_reload(run, start);
    if (is_done) co_return;
    co_await deps_.pauses.pause(backoff.next());
  }
}

Task<bool> Residency::try_reload(RunKey run, Start start) {
  auto row = co_await deps_.store.find(run);
  auto mail = co_await deps_.store.mailboxes(run);
  bool is_gone = !row && row.error().code() == ErrorCode::not_found;
  if (!is_gone && (!row || !mail)) co_return false;
  const bool is_foreign = row && row->epoch != deps_.store.epoch();
  // Any process ends a cancelled run that has no owner: that takes no model and no tool.
  if (is_foreign && !is_terminal(row->status) && has_cancel(*mail)) {
    auto is_taken = co_await take_over_cancelled(run);
    if (!is_taken) co_return false;
    if (*is_taken) co_return true;
  }
  if (is_gone || is_terminal(row->status) || is_foreign) {
    // The run has ended, was removed, or belongs to another process.
    if (Resident* resident = look_up(run.run); resident && row) {
      move(*resident, Place::unowned);
      if (resident->live) resident->live->catch_up(*row);
    }
    drop_unused(run.run);
    co_return true;
  }
  auto state = co_await fold_run(&deps_.store, deps_.surroundings.schemas.pool, run);
  if (!state && state.error().code() != ErrorCode::internal) co_return false;
  if (deps_.pauses.ended()) co_return true;
  Resident* loading = look_up(run.run);
  if (loading && std::exchange(loading->is_read_again, false)) co_return false;
  if (!state) {
    deps_.log.error("a run cannot be read; 'errand check-data' shows more",
                    {{"run", run.run.str()}, {"error", state.error().describe()}});
    if (Resident* resident = look_up(run.run)) move(*resident, Place::unowned);
    drop_unused(run.run);
    co_return true;
  }
  drive({.row = std::move(*row),
         .state = std::move(*state),
         .mail = std::move(*mail),
         .start = start});
  co_return true;
}

void Residency::on_broken(LiveRun& run, const Error& error) {
  Resident* resident = look_up(run.id());
  if (deps_.pauses.ended() || !resident || !run.agent()) return;
  deps_.log.warning("dropping the state of a run in memory and reading it from the store again",
                    {{"run", run.id().str()}, {"error", error.describe()}});
  const SteadyTime now = deps_.timers.now();
  if (!resident->breaks || now - resident->broke_at > kBreaksTogether) {
    resident->breaks = std::make_unique<Backoff>(kReloadPauses, run.id().view());
  }
  resident->broke_at = now;
  move(*resident, Place::loading);
  RunKey key{.workspace = run.workspace(), .run = run.id()};
  tasks_.spawn("engine.replace", replace(key, run.detach(), resident->breaks->next()));
}

Task<void> Residency::replace(RunKey run, std::unique_ptr<agent::AgentRun> broken,
                              milliseconds pause) {
  co_await destroy(nullptr, std::move(broken));
  co_await deps_.pauses.pause(pause);
  co_await reload(run, Start::replaced);
}

// Called from inside a task of the agent, which is therefore destroyed later, from outside.
void Residency::on_end(LiveRun& run) {
  Resident* resident = look_up(run.id());
  if (!resident) return;
  move(*resident, Place::ended);
  deps_.on_calls_closed(run.id(), {});
  if (run.agent()) tasks_.spawn("engine.destroy", destroy(resident->live, run.detach()));
  ended_.push_back(run.id());
  if (ended_.size() <= kEndedRunsMax) return;
  const RunId oldest = ended_.front();
  ended_.pop_front();
  if (Resident* late = look_up(oldest)) move(*late, Place::unowned);
  drop_unused(oldest);
}

Task<void> Residency::destroy(LivePtr, std::unique_ptr<agent::AgentRun> agent) {
  co_await agent->stop(CancelReason::shutdown);
  auto large = large_parts(agent->state());
  agent.reset();
  if (large) co_await free_aside(deps_.surroundings.schemas.pool, std::move(*large));
}

void Residency::on_read_after_end(LiveRun& run, bool is_read) {
  if (is_read) {
    read_after_end_.insert(run.id());
  } else {
    read_after_end_.erase(run.id());
  }
}

void Residency::on_unused(LiveRun& run) {
  drop_unused(run.id());
}

// Forgets the run if it has no reader, driver or mail.
void Residency::drop_unused(const RunId& run) {
  Resident* resident = look_up(run);
  if (!resident) return;
  const LivePtr& live = resident->live;
  bool is_used = live && (live->has_readers() || live->agent() || live->has_early_mail());
  bool is_leaving = resident->place == Place::unowned && !is_recovering_;
  if (is_leaving && (!live || (!live->has_readers() && !live->agent()))) return leave(run);
  if (!is_used && resident->place != Place::ended) resident->live.reset();
}

void Residency::on_calls_offered(LiveRun& run, std::span<const Mailbox> calls) {
  deps_.on_calls_offered(run.key().workspace, calls);
}

void Residency::on_calls_closed(LiveRun& run, std::span<const std::string> slots) {
  deps_.on_calls_closed(run.id(), slots);
}

void Residency::resume_effects() {
  std::vector<LivePtr> all;
  for (const auto& [id, resident] : residents_) {
    if (resident.live && resident.live->agent()) all.push_back(resident.live);
  }
  for (const LivePtr& live : all) {
    if (live->agent()) live->agent()->resume_effects();
  }
}

bool Residency::owns_runs() const {
  return residents_.size() > count(Place::unowned) + count(Place::ended);
}

bool Residency::is_busy() const {
  return std::any_of(residents_.begin(), residents_.end(), [](const auto& entry) {
    const LivePtr& live = entry.second.live;
    return live && live->agent() && live->agent()->is_busy();
  });
}

Task<void> Residency::stop() {
  std::vector<LivePtr> all;
  for (auto& [id, resident] : residents_) {
    deps_.timers.cancel(resident.timer);
    if (resident.live) all.push_back(resident.live);
  }
  waiting_.clear();
  residents_.clear();
  for (const LivePtr& live : all) {
    if (auto agent = live->detach()) co_await agent->stop(CancelReason::shutdown);
  }
  co_await tasks_.join();  // never cancelled: they wait for the agents to stop
  // A task that was taking over runs may have put some to rest until now.
  for (const auto& [id, resident] : residents_) deps_.timers.cancel(resident.timer);
  residents_.clear();
}

}  // namespace errand::engine
