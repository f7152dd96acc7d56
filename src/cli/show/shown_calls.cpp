#include "cli/show/shown_calls.hpp"

#include <utility>

namespace errand::cli {

void ShownCalls::begin(RunId run) {
  state_ = State::known;
  run_ = std::move(run);
  calls_.clear();
  wake();
}

void ShownCalls::end() {
  state_ = State::none;
  wake();
}

void ShownCalls::add(const ToolUseId& call) {
  calls_.insert(call);
  wake();
}

bool ShownCalls::is_awaited(const RunId& run, const ToolUseId& call) const {
  if (state_ == State::expected) return true;
  return state_ == State::known && run_ == run && !calls_.contains(call);
}

void ShownCalls::wake() {
  for (Wakeup* waiting : waiting_) waiting->notify();
}

Task<void> ShownCalls::wait(RunId run, ToolUseId call) {
  Wakeup wakeup(home_);
  waiting_.insert(&wakeup);
  struct Leave {
    std::set<Wakeup*>& waiting;
    Wakeup* me;
    ~Leave() { waiting.erase(me); }
  };
  Leave leave{waiting_, &wakeup};
  while (is_awaited(run, call)) co_await wakeup.wait();
}

}  // namespace errand::cli
