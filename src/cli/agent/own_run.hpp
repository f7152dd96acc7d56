#pragma once

#include <optional>

#include "async/task_group.hpp"
#include "cli/agent/agent_session.hpp"
#include "cli/show/follow.hpp"

namespace errand::cli {

// A run that this process has asked for: shown until it ends, or cancelled by its user. Lives on
// the home of its session; must be cleaned up before it is destroyed.
class OwnRun final {
 public:
  static constexpr seconds kCancelGrace{3};

  // `session` outlives the run.
  explicit OwnRun(AgentSession& session);

  // Waits for the run to be made, and shows it until it ends. Called once, as is rejoin.
  Task<Result<sdk::RunEnd>> ask(Task<Result<RunId>> making);
  // The same for a run that is there already, from its beginning. Calls that have their answers are
  // not made again.
  Task<Result<sdk::RunEnd>> rejoin(sdk::RunInfo run);
  // Shows what the run took, and where it ran if nothing else tells. Gives its cost, if the prices
  // are known.
  enum class Place { told, left_out };
  Task<std::optional<double>> sum_up(sdk::RunEnd end, Place place);

  // Ends the work on calls and cancels the run, which then ends soon.
  void interrupt();
  bool is_interrupted() const { return is_interrupted_; }

  const RunId& id() const { return run_; }  // empty until it is created

  Task<void> clean_up();

 private:
  Task<Result<sdk::RunEnd>> show(sdk::FollowedRun run);
  Task<void> show_waiting();
  void cancel();
  Task<void> cancel_run();
  Task<void> note(std::string text);

  AgentSession& session_;
  const SteadyTime started_;
  RunId run_;
  bool is_interrupted_ = false;
  bool is_followed_ = false;
  sdk::FollowedRun followed_;  // once it is there
  TaskGroup tasks_;            // last: tasks use everything above
};

// An error of a server that cannot be reached, with the advice to do without it.
Error with_way_out(const Error& error);

}  // namespace errand::cli
