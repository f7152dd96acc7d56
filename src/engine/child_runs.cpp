// Runs that other runs call: how they begin, and how they end with their callers.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "engine/engine.hpp"
#include "engine/records/agents.hpp"

namespace errand::engine {
namespace {

Error too_deep() {
  return Error(ErrorCode::invalid_argument, cat("agents call agents at most ", kChildDepthMax,
                                                " deep, and this run is that deep already"))
      .reason("too_deep");
}

Error cut_off() {
  return {ErrorCode::cancelled, "the calling run was cut off"};
}

}  // namespace

// What the child run takes from its caller's state at the moment of the call.
Result<Engine::ChildOf> Engine::child_of(const RunKey& parent, const AgentCall& call) const {
  std::shared_ptr<LiveRun> live = residency_.find(parent);
  if (!live || !live->agent()) return cut_off();
  const agent::State& state = live->agent()->state();
  const CreatedEntry& created = state.created();
  ChildOf child{.id = child_run_of(call.id),
                .parent = {.run = call.run,
                           .call = call.id,
                           .depth = created.parent ? created.parent->depth + 1 : 1},
                .ends_by = created.ends_by,
                .tool_turns_max = state.turns_left()};
  if (child.parent.depth > kChildDepthMax) return too_deep();
  return child;
}

Task<Result<RunRow>> Engine::begin_child(Principal who, AgentCall call) {
  const RunKey key{.workspace = who.workspace, .run = child_run_of(call.id)};
  auto known = co_await deps_.store.find(key);
  if (known || known.error().code() != ErrorCode::not_found) co_return known;
  ERRAND_CO_TRY(auto child, child_of({.workspace = who.workspace, .run = call.run}, call));
  // A run that was reloaded may repeat the call while its child run is still being created.
  NewChildPtr& entry = new_children_[key.run];
  if (!entry) {
    entry = std::make_shared<NewChild>();
    entry->task = tasks_.spawn("engine.create_child", create_child(std::move(who), std::move(call),
                                                                   std::move(child), entry));
  }
  NewChildPtr created = entry;
  co_await wait_for(created);
  if (!created->result) co_return created->result.error();
  auto row = co_await deps_.store.find(key);
  co_return row;
}

// This is a task of the engine because the call may be cut off at any time. A child run that was
// created and not driven would have no owner.
Task<void> Engine::create_child(Principal who, AgentCall call, ChildOf child, NewChildPtr created) {
  const RunId id = child.id;
  created->result = co_await make_child(std::move(who), std::move(call), std::move(child));
  created->is_done = true;
  new_children_.erase(id);
  for (Wakeup* waiter : created->waiters) waiter->notify();
}

Task<Result<void>> Engine::make_child(Principal who, AgentCall call, ChildOf child) {
  if (!deps_.records) co_return Error(ErrorCode::not_found, "there are no stored agents here");
  auto agent = co_await deps_.records->agents.find_version(who.workspace, call.agent, call.version);
  if (!agent) co_return std::move(agent).error();
  Spec asked;
  asked.prompt = std::move(call.message);
  ERRAND_CO_TRY(auto spec, with_agent(std::move(asked), *agent));
  spec.metadata.emplace_back(kParentRunKey, call.run.str());
  auto made = co_await make_run(std::move(who), std::move(spec), {}, std::move(child));
  if (!made) co_return std::move(made).error();
  co_return Result<void>();
}

Task<void> Engine::wait_for(NewChildPtr child) {
  if (child->is_done) co_return;
  Wakeup wakeup(deps_.home.executor());
  child->waiters.push_back(&wakeup);
  struct Leave {
    NewChild& child;
    Wakeup* me;
    ~Leave() { std::erase(child.waiters, me); }
  };
  Leave leave{*child, &wakeup};
  co_await wakeup.wait();
}

Task<Result<void>> Engine::cancel_child(RunKey child) {
  if (auto created = new_children_.find(child.run); created != new_children_.end()) {
    co_await wait_for(created->second);
  }
  auto cancelled = co_await cancel({.workspace = child.workspace, .key = {}}, child.run);
  if (cancelled || cancelled.error().code() == ErrorCode::not_found) co_return Result<void>();
  co_return std::move(cancelled).error();
}

}  // namespace errand::engine
