#pragma once

#include <memory>
#include <optional>

#include "async/interrupt.hpp"
#include "async/task_group.hpp"
#include "async/wakeup.hpp"
#include "base/log.hpp"
#include "tool/tool.hpp"

namespace errand {

// Calls tools outside of any run, for clients that want one call and no agent. Lives on one home;
// must be stopped before it is destroyed.
class ToolCaller final {
 public:
  static constexpr std::size_t kCallsMax = 256;  // at once; beyond, a call fails

  // `log` and `secrets` outlive the caller. Null: there are no secrets.
  ToolCaller(Executor home, Log& log, SecretSource* secrets = nullptr);
  ToolCaller(const ToolCaller&) = delete;
  ToolCaller& operator=(const ToolCaller&) = delete;

  // What the tool gives back, without the secrets of the caller's workspace that it was given, or a
  // failed outcome once its deadline has passed. The call ends with
  // the task that waits for it, and when `interrupt` is raised. `context.progress` and `interrupt`
  // outlive the task.
  Task<ToolOutcome> call(ToolPtr tool, ToolCall call, ToolContext context, Interrupt* interrupt);

  Task<void> stop() { return tasks_.stop(CancelReason::shutdown); }

 private:
  struct Running;
  class Scope;
  static Task<void> invoke(ToolPtr tool, ToolCall call, ToolContext context,
                           std::shared_ptr<Running> running, Log* log);

  const Executor home_;
  Log& log_;
  SecretSource* const secrets_;
  TaskGroup tasks_;  // last: tasks use everything above
};

}  // namespace errand
