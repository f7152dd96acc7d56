#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/fold/refusal.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "run/ids.hpp"

namespace errand::agent {

// The state of a turn's calls that the journal does not have: how far each has come in this
// process, what the process has found out about it, and when its time is over. Lives on the run's
// home.
class Calls final {
 public:
  enum class Stage : std::uint8_t {
    open,         // neither offered nor invoked
    maybe_begun,  // a call of the server that a former process may have begun; else like `open`
    forgotten,    // offered by a former process to a client that may have forgotten the call
    started,      // offered or invoked
    ending,       // a client's call whose end is on its way, because a call beside it failed
    settled       // a call of the server whose outcome is known
  };

  struct Call {
    Stage stage = Stage::open;
    // Whether the call is refused, once that is known: null if it is not.
    std::optional<std::unique_ptr<const Refusal>> refusal = {};
    std::string shown = {};  // long arguments as events show them, until they were shown
    std::optional<TaskGroup::Ticket> task = {};  // of a call that the server makes
    int reports = 0;                             // progress reports of the call
    int questions = 0;                           // that its server has asked the client
    int unanswered = 0;                          // of those
    std::vector<TaskGroup::Ticket> samplings = {};
  };

  // Told on the home that the time of a call, or of a question that a call has asked, is over.
  using OnTimeOver = std::function<void(const ToolUseId&)>;

  Calls(Timers& timers, OnTimeOver on_time_over)
      : timers_(timers), on_time_over_(std::move(on_time_over)) {}
  ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // A call that nothing is known of is open. The reference holds until the turn is over.
  Call& at(const ToolUseId& id) { return calls_[id]; }
  // Null: nothing is known of it.
  const Call* find(const ToolUseId& id) const;
  Stage stage_of(const ToolUseId& id) const;
  // Offered or invoked, with or without an outcome since.
  bool is_started(const ToolUseId& id) const;
  // Offered or invoked, and neither settled nor ending.
  bool is_under_way(const ToolUseId& id) const;
  // False: the call was settled before.
  bool settle(const ToolUseId& id);

  // Calls that a former process may have begun are open from now on.
  void reopen();
  // Calls that their clients may have forgotten, in the order of their ids. They are offered again,
  // and so are started from now on.
  std::vector<ToolUseId> take_forgotten();
  // Calls that have begun, or never will, were shown with their arguments.
  void drop_shown();
  // The turn is over. Times go on: the time of a question may belong to a call that ends late.
  void clear() { calls_.clear(); }

  // The number of progress reports of each call; calls without any are left out.
  std::map<ToolUseId, int> reports() const;
  // Calls whose servers wait for the client.
  std::size_t asking() const;

  // on_time_over is called at `when`, unless the time is forgotten or held. One time an id.
  void watch(const ToolUseId& id, SteadyTime when);
  void forget_time(const ToolUseId& id);
  // The earliest time that is watched; SteadyTime::max() if there is none.
  SteadyTime next_time() const;
  // The time of a call stands still until it is released as often as it was held.
  void hold(const ToolUseId& id);
  // The rest of a time that goes on from now. The caller watches it, if the call does.
  std::optional<milliseconds> release(const ToolUseId& id);

 private:
  struct Time {
    SteadyTime when;
    Timers::Id timer;
  };
  struct Hold {
    int count = 0;
    std::optional<milliseconds> left = {};  // nothing: no time was watched
  };

  Timers& timers_;
  const OnTimeOver on_time_over_;
  std::map<ToolUseId, Call> calls_;
  std::map<ToolUseId, Time> times_;
  std::map<ToolUseId, Hold> holds_;
};

}  // namespace errand::agent
