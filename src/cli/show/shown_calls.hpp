#pragma once

#include <optional>
#include <set>

#include "async/task.hpp"
#include "async/wakeup.hpp"
#include "run/ids.hpp"

namespace errand::cli {

// The calls that the user has been shown of a run, so that a question about a call comes after the
// call itself. Lives on one home; outlives its waiters.
class ShownCalls final {
 public:
  explicit ShownCalls(Executor home) : home_(std::move(home)) {}

  // A run will be shown that is not known yet; then: it is this one; then: nothing more of it.
  void expect() { state_ = State::expected; }
  void begin(RunId run);
  void end();

  void add(const ToolUseId& call);
  // Returns once the call has been shown, or at once if its run is not shown here.
  Task<void> wait(RunId run, ToolUseId call);

 private:
  enum class State { none, expected, known };
  bool is_awaited(const RunId& run, const ToolUseId& call) const;
  void wake();

  const Executor home_;
  State state_ = State::none;
  RunId run_;
  std::set<ToolUseId> calls_;
  std::set<Wakeup*> waiting_;
};

}  // namespace errand::cli
