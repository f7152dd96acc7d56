#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "agent/agent_run.hpp"
#include "async/backoff.hpp"
#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "base/log.hpp"
#include "engine/models/catalog.hpp"
#include "engine/residency/live_run.hpp"
#include "engine/residency/pauses.hpp"
#include "engine/residency/slots.hpp"
#include "engine/residency/trials.hpp"
#include "store/store.hpp"

namespace errand::engine {

// Where a run is, as this process sees it.
enum class Place : std::uint8_t {
  unowned,  // the run has a reader, or mail came for it, but it is not driven here
  claimed,  // taken over from a process that has ended, and not looked at yet
  loading,  // on its way into memory
  live,     // its agent is at work
  waiting,  // its agent is in memory, with nothing to do until a client or another run answers
  resting,  // out of memory until mail, or its next deadline, comes
  suspect,  // held back: the run may have brought a process down
  queued,   // out of memory until there is a slot for it
  ended     // over; kept a little for readers that come late
};
constexpr std::size_t kPlaces = 9;

// Where every run of this process is, and how runs move: into memory when there is something to do,
// out of it while they only wait, and over from a process that has ended. Lives on one home.
//
// Files: residency.cpp (how a run moves), recovery.cpp (runs of processes that have ended).
class Residency final : private LiveRun::Keeper {
 public:
  struct Deps {
    Home home;
    Store& store;
    Timers& timers;
    Catalog& catalog;
    Log& log;
    agent::Surroundings& surroundings;
    Pauses& pauses;
    // Clients that look for work can see these calls.
    std::function<void(const WorkspaceSlug&, std::span<const Mailbox>)> on_calls_offered;
    // These calls of the run do not wait any more; without slots: none of its calls does.
    std::function<void(const RunId&, std::span<const std::string>)> on_calls_closed;
    SlotLimits slots = {};
  };

  // Ended runs that stay in memory for readers that come a little late; the oldest go first.
  static constexpr std::size_t kEndedRunsMax = 128;
  // A run that only waits for its client is dropped from memory after this time, and folded again
  // when mail, or its next deadline, comes.
  static constexpr milliseconds kRestAfter{2000};
  // If more runs wait, the run that has waited longest is dropped at once, so that memory does not
  // grow with the rate at which runs come.
  static constexpr std::size_t kWaitingRunsMax = 2048;
  // After a restart, a call that waits for a client waits for at least this long.
  static constexpr milliseconds kCallGrace{30'000};
  // Suspects that make no progress within this time make room for the next ones.
  static constexpr milliseconds kTrialTime{2000};
  // The last suspects on trial are watched for this long.
  static constexpr milliseconds kLastTrialTime{60'000};
  // While many runs are taken over, the log says this often how many are left.
  static constexpr milliseconds kBacklogTold{5000};

  explicit Residency(Deps deps);
  ~Residency() override;
  Residency(const Residency&) = delete;
  Residency& operator=(const Residency&) = delete;

  // A slot that is kept for a run while the run is being created, so that runs which are created at
  // the same time do not count on the same slot. The residency outlives it.
  class KeptSlot final {
   public:
    KeptSlot() = default;  // none
    ~KeptSlot() { give_back(); }
    KeptSlot(KeptSlot&& other) noexcept
        : from_(std::exchange(other.from_, nullptr)), workspace_(std::move(other.workspace_)) {}
    KeptSlot& operator=(KeptSlot&& other) noexcept;

    bool is_kept() const { return from_ != nullptr; }
    void give_back();

   private:
    friend Residency;
    KeptSlot(Residency& from, WorkspaceSlug workspace)
        : from_(&from), workspace_(std::move(workspace)) {}

    Residency* from_ = nullptr;
    WorkspaceSlug workspace_;
  };
  // None if a new run of the workspace has to wait for a slot.
  KeptSlot keep_slot(const WorkspaceSlug& workspace);
  const Slots& slots() const { return slots_; }

  // Drives a run that was created a moment ago: at once in the slot that was kept for it, else when
  // there is one. `history` is its session's, if the run has the turn.
  void begin(const RunRow& row, std::unique_ptr<agent::State> state, KeptSlot slot,
             std::optional<HistorySize> history);
  // The same for a run whose state is not at hand: it is read from the store.
  void begin_unread(const RunRow& row);
  // Brings a filled mailbox, which is durable, to its run.
  void deliver(const RunKey& run, Mailbox mail);
  // Drives a run that has waited for its session's turn and has it now.
  void take_turn(const RunKey& run);
  // Brings mail of other nodes to the runs that are here.
  void deliver_news(std::vector<Mailbox> news);

  // The run, for a reader; nullptr if it is not in memory.
  std::shared_ptr<LiveRun> find(const RunKey& run) const;
  std::shared_ptr<LiveRun> find_or_watch(const RunRow& row);

  // Takes over runs without an owner: a former process left them unfinished.
  Task<void> recover();
  // The same once more, for runs whose owner has since lost its lease.
  Task<void> claim_all();
  bool is_recovered() const { return recovered_; }
  // How many of these runs are not taken over yet.
  std::size_t backlog() const { return backlog_; }

  // The lease allows effects again.
  void resume_effects();

  std::size_t count(Place place) const { return counts_[static_cast<std::size_t>(place)]; }
  bool owns_runs() const;
  // Whether a run is doing something of its own, rather than waiting for its client.
  bool is_busy() const;
  // Ended runs that still have readers. Takes no longer if many other runs are here.
  const std::set<RunId>& ended_with_readers() const { return read_after_end_; }

  // Cuts off every run and returns when nothing moves any more.
  Task<void> stop();

 private:
  using LivePtr = std::shared_ptr<LiveRun>;
  using Start = agent::AgentRun::Start;

  struct Resident {
    WorkspaceSlug workspace;
    Place place = Place::unowned;
    Timers::Id timer = {};   // waiting: puts the run aside; resting: its next deadline
    LivePtr live = nullptr;  // always there with an agent, a reader or early mail
    std::unique_ptr<ClaimedRun> held = nullptr;  // of a suspect
    bool is_read_again = false;  // loading: the run was given its turn while it was being read
    bool is_given_up = false;    // ends instead of being tried once more, whenever it is read
    Start start = Start::fresh;  // queued: how the run begins once it has a slot
    Slots::Ticket ticket = 0;    // queued: its place in the queue; 0: it needs none
    // Resting: the number of progress reports of the calls; null: none.
    std::unique_ptr<std::map<ToolUseId, int>> reports = nullptr;
    SteadyTime broke_at = {};
    std::unique_ptr<Backoff> breaks = nullptr;  // since when it broke again and again; null: never
  };

  // residency.cpp
  Resident& enter(const RunKey& run);
  Resident* look_up(const RunId& run);
  const Resident* look_up(const RunId& run) const;
  void move(Resident& resident, Place to);
  LiveRun& live_of(const RunId& run, Resident& resident);
  void leave(const RunId& run);
  void drop_unused(const RunId& run);
  void put_aside(const RunId& run);
  void rest(const RunId& run, Resident& resident, SteadyTime until);
  void load(const RunKey& run, Resident& resident, Start start);
  // Has the run wait for a slot, and for no longer than its time.
  void queue(const RunKey& run, Resident& resident, SteadyTime until, Start start);
  // When the run is out of time.
  SteadyTime end_of(const RunRow& row) const;
  bool must_queue(const WorkspaceSlug& workspace) const { return !slots_.is_free(workspace); }
  void start_in_slot(const RunKey& run, Resident& resident);
  // Starts runs that wait, as far as there are slots.
  void wake_queue();
  Task<void> start_queued();
  Task<void> reload(RunKey run, Start start);
  // Finds out who has the turn of an ended run's session.
  Task<void> find_turn(RunKey ended);
  Task<bool> try_reload(RunKey run, Start start);
  Task<void> replace(RunKey run, std::unique_ptr<agent::AgentRun> broken, milliseconds pause);
  Task<void> destroy(LivePtr run, std::unique_ptr<agent::AgentRun> agent);
  void drive(agent::AgentRun::Params params);

  void on_end(LiveRun& run) override;
  void on_waiting(LiveRun& run) override;
  void on_waiting_for_child(LiveRun& run) override;
  void on_going_on(LiveRun& run) override;
  void on_calls_offered(LiveRun& run, std::span<const Mailbox> calls) override;
  void on_calls_closed(LiveRun& run, std::span<const std::string> slots) override;
  void on_broken(LiveRun& run, const Error& error) override;
  void on_turn_given(LiveRun& run, std::optional<RunId> to) override;
  void on_read_after_end(LiveRun& run, bool is_read) override;
  void on_unused(LiveRun& run) override;

  // recovery.cpp
  // A run that was taken over and is to go on.
  struct Taken {
    ClaimedRun run;
    Result<std::unique_ptr<agent::State>> state;
  };
  void expect(const ClaimedRun& run);
  // Takes over one run, if nobody owns it, to end it. This process may take over no others: a
  // cancelled run asks nobody and calls nothing.
  Task<Result<bool>> take_over_cancelled(RunKey run);
  Task<void> take_over_page(std::vector<ClaimedRun> runs);
  // Nothing: the run rests, is held back or is not read yet, or is driven already.
  Task<std::optional<Taken>> take_over(ClaimedRun run);
  Task<void> note_trial(bool goes_on, std::size_t suspects_before);
  void go_on_or_queue(Taken taken);
  void tell_backlog(const ClaimedRuns& claimed);
  Task<bool> leave_resting(const ClaimedRun* run);
  Task<bool> has_turn(RunRow row);
  // The same for a run whose journal was read, or cannot be read at all.
  Task<std::optional<Taken>> judge(ClaimedRun run, Result<std::unique_ptr<agent::State>> state);
  Task<void> take_over_later(ClaimedRun run);
  bool may_resume_now();
  void wait_to_resume(const RunRow& row, Resident& resident);
  Task<void> resume_in_turn();
  Task<Trial> read_trial(std::int64_t former_epoch);
  Task<Suspicion> suspicion(RunId run, std::int64_t former_epoch, ProcessEnd end);
  void hold_back(ClaimedRun run, Suspicion suspected);
  void go_on(ClaimedRun run, Result<std::unique_ptr<agent::State>> state);
  void release(const RunId& run);
  Task<void> read_and_go_on(ClaimedRun run);
  Task<void> try_suspects();
  Task<void> watch(std::vector<RunId> runs, milliseconds time);
  Task<void> write_trial();
  bool is_settled(const RunId& run) const;

  Deps deps_;
  Slots slots_;
  bool is_starting_ = false;  // start_queued() will run
  std::unordered_map<RunId, Resident> residents_;
  std::array<std::size_t, kPlaces> counts_{};
  std::map<Timers::Id, RunId> waiting_;  // by when they are put aside: the oldest comes first
  std::deque<RunId> ended_;              // oldest first
  std::set<RunId> read_after_end_;

  // Of recovery.
  bool is_recovering_ = false;
  bool recovered_ = false;
  std::size_t backlog_ = 0;
  SteadyTime backlog_told_{};
  bool is_judging_ = true;   // suspects are still being told from the others
  std::size_t unread_ = 0;   // claimed runs whose journals the store does not give yet
  std::size_t resumed_ = 0;  // runs that go on
  // Claimed runs that go on a few at a time, with the end of the time of each.
  std::deque<std::pair<RunKey, SteadyTime>> to_resume_;
  SteadyTime pace_ends_{};
  std::size_t resumed_in_pace_ = 0;     // since the last interval began
  std::vector<RunId> resumed_at_once_;  // the suspects that are on trial together
  Trial trial_;
  std::size_t everyone_suspected_ = 0;  // runs that a kill made suspect all together
  bool is_trial_written_ = false;
  std::map<std::int64_t, Trial> former_trials_;  // by epoch

  TaskGroup tasks_;  // last: tasks use everything above
};

}  // namespace errand::engine
