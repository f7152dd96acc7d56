#include "agent/calls.hpp"

#include <algorithm>
#include <utility>

namespace errand::agent {

Calls::~Calls() {
  for (const auto& [id, time] : times_) timers_.cancel(time.timer);
}

const Calls::Call* Calls::find(const ToolUseId& id) const {
  auto known = calls_.find(id);
  return known == calls_.end() ? nullptr : &known->second;
}

Calls::Stage Calls::stage_of(const ToolUseId& id) const {
  const Call* call = find(id);
  return call ? call->stage : Stage::open;
}

bool Calls::is_started(const ToolUseId& id) const {
  const Stage stage = stage_of(id);
  return stage != Stage::open && stage != Stage::maybe_begun;
}

bool Calls::is_under_way(const ToolUseId& id) const {
  const Stage stage = stage_of(id);
  return stage == Stage::started || stage == Stage::forgotten;
}

bool Calls::settle(const ToolUseId& id) {
  return std::exchange(calls_[id].stage, Stage::settled) != Stage::settled;
}

void Calls::reopen() {
  for (auto& [id, call] : calls_) {
    if (call.stage == Stage::maybe_begun) call.stage = Stage::open;
  }
}

std::vector<ToolUseId> Calls::take_forgotten() {
  std::vector<ToolUseId> ids;
  for (auto& [id, call] : calls_) {
    if (call.stage != Stage::forgotten) continue;
    call.stage = Stage::started;
    ids.push_back(id);
  }
  return ids;
}

void Calls::drop_shown() {
  for (auto& [id, call] : calls_) {
    const bool is_refused = call.refusal && *call.refusal;
    if (is_started(id) || is_refused) call.shown = {};
  }
}

std::map<ToolUseId, int> Calls::reports() const {
  std::map<ToolUseId, int> reports;
  for (const auto& [id, call] : calls_) {
    if (call.reports > 0) reports.emplace(id, call.reports);
  }
  return reports;
}

std::size_t Calls::asking() const {
  return static_cast<std::size_t>(std::count_if(
      calls_.begin(), calls_.end(), [](const auto& one) { return one.second.unanswered > 0; }));
}

// ---- Time ---------------------------------------------------------------------------------------

void Calls::watch(const ToolUseId& id, SteadyTime when) {
  forget_time(id);
  const Timers::Id timer = timers_.set(when, [this, id] {
    times_.erase(id);
    on_time_over_(id);
  });
  times_[id] = {.when = when, .timer = timer};
}

void Calls::forget_time(const ToolUseId& id) {
  if (auto time = times_.extract(id)) timers_.cancel(time.mapped().timer);
}

SteadyTime Calls::next_time() const {
  SteadyTime earliest = SteadyTime::max();
  for (const auto& [id, time] : times_) earliest = std::min(earliest, time.when);
  return earliest;
}

void Calls::hold(const ToolUseId& id) {
  Hold& hold = holds_[id];
  auto time = times_.find(id);
  if (hold.count++ > 0 || time == times_.end()) return;
  hold.left = std::chrono::ceil<milliseconds>(time->second.when - timers_.now());
  forget_time(id);
}

std::optional<milliseconds> Calls::release(const ToolUseId& id) {
  auto hold = holds_.find(id);
  if (hold == holds_.end() || --hold->second.count > 0) return std::nullopt;
  return holds_.extract(hold).mapped().left;
}

}  // namespace errand::agent
