#include "tool/tool_caller.hpp"

#include <utility>

#include "tool/safe_invoke.hpp"

namespace errand {

// A call under way. Its waiter may leave before the call has noticed.
struct ToolCaller::Running final : public ProgressSink {
  Running(const Executor& home, SecretSource* source, const WorkspaceSlug& workspace)
      : secrets(source, workspace), done(home) {}

  void report(ProgressReport report) override {
    report.message = secrets.blot_out(std::move(report.message));
    if (sink) sink->report(std::move(report));
  }

  CallSecrets secrets;

  ProgressSink* sink = nullptr;  // null once nobody waits
  std::optional<ToolOutcome> outcome;
  Wakeup done;
};

// Cancels the call when its waiter leaves.
class ToolCaller::Scope final {
 public:
  Scope(TaskGroup& tasks, TaskGroup::Ticket task, Running& running, Interrupt* interrupt)
      : tasks_(tasks),
        task_(task),
        running_(running),
        waiting_(interrupt, [&running] { running.done.notify(); }) {}
  ~Scope() {
    running_.sink = nullptr;
    tasks_.cancel_one(task_);
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  TaskGroup& tasks_;
  const TaskGroup::Ticket task_;
  Running& running_;
  Interrupt::Scope waiting_;
};

ToolCaller::ToolCaller(Executor home, Log& log, SecretSource* secrets)
    : home_(std::move(home)),
      log_(log),
      secrets_(secrets),
      tasks_(home_, [&log](const char* task, const std::string& what) {
        log.error("a task of a tool failed; this is a bug", {{"task", task}, {"what", what}});
      }) {}

Task<void> ToolCaller::invoke(ToolPtr tool, ToolCall call, ToolContext context,
                              std::shared_ptr<Running> running, Log* log) {
  running->outcome = co_await invoke_safely(std::move(tool), std::move(call), context, log);
  running->done.notify();
}

Task<ToolOutcome> ToolCaller::call(ToolPtr tool, ToolCall call, ToolContext context,
                                   Interrupt* interrupt) {
  if (tasks_.cancelled()) co_return failed_outcome("The server is shutting down.");
  if (tasks_.size() >= kCallsMax) co_return failed_outcome("Too many calls are under way.");
  auto running = std::make_shared<Running>(home_, secrets_, context.who.workspace);
  context.secrets = &running->secrets;
  running->sink = std::exchange(context.progress, running.get());
  if (tool->is_instant()) {
    ToolOutcome outcome = co_await invoke_safely(std::move(tool), std::move(call), context, &log_);
    co_return outcome;
  }
  const SteadyTime begun = std::chrono::steady_clock::now();
  const SteadyTime deadline = context.deadline;
  TaskGroup::Ticket task =
      tasks_.spawn("tool.call", invoke(std::move(tool), std::move(call), context, running, &log_));
  Scope scope(tasks_, task, *running, interrupt);
  while (!running->outcome) {
    if (interrupt && interrupt->is_raised()) co_return failed_outcome("The call was cancelled.");
    Wakeup::Woken woken = co_await running->done.wait_until(deadline);
    if (running->outcome || (interrupt && interrupt->is_raised())) continue;
    if (woken == Wakeup::Woken::timed_out) {
      co_return overdue_outcome(std::chrono::ceil<milliseconds>(deadline - begun));
    }
  }
  co_return std::move(*running->outcome);
}

}  // namespace errand
