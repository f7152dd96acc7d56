// Calls that this process makes.
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent/agent_run.hpp"
#include "agent/blotted_questions.hpp"
#include "agent/file_bytes.hpp"
#include "agent/fold/arguments.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "tool/safe_invoke.hpp"

namespace errand::agent {
namespace {

// The time limit of a call that this process makes.
milliseconds time_of(const CallState& call) {
  return call.tool->annotations.timeout.value_or(kHostToolTimeout);
}

// The child run that a call of the tool starts; empty if it starts none.
RunId child_of(const ToolDecl& tool, const ToolUseId& call) {
  return is_agent_tool(tool) ? child_run_of(call) : RunId();
}

// Passes on the progress of a call while it runs.
class CallProgress final : public ProgressSink {
 public:
  using Show = std::function<void(ToolProgress)>;
  // `secrets` outlives this. `child` is empty unless the call starts a child run.
  CallProgress(ToolUseId id, std::string name, RunId child, const CallSecrets& secrets, Show show)
      : id_(std::move(id)),
        name_(std::move(name)),
        child_(std::move(child)),
        secrets_(secrets),
        show_(std::move(show)) {}

  void report(ProgressReport report) override {
    show_({.id = id_,
           .name = name_,
           .message = secrets_.blot_out(std::move(report.message)),
           .progress = report.progress,
           .total = report.total,
           .child_run = child_});
  }

 private:
  const ToolUseId id_;
  const std::string name_;
  const RunId child_;
  const CallSecrets& secrets_;
  const Show show_;
};

// The notes of one call while it runs.
class JournaledNotes final : public CallNotes {
 public:
  using Keep = std::function<Task<Result<void>>(json::Object)>;
  JournaledNotes(const std::string& last, Keep keep, std::function<bool()> goes_on_later)
      : keep_(std::move(keep)), goes_on_later_(std::move(goes_on_later)) {
    auto note = last.empty() ? Result<json::Value>(json::Value()) : json::parse(last);
    if (note && note->is_object()) last_ = std::move(note->get_object());
  }

  const std::optional<json::Object>& last() const override { return last_; }
  Task<Result<void>> keep(json::Object note) override { return keep_(std::move(note)); }
  bool goes_on_later() const override { return goes_on_later_(); }

 private:
  std::optional<json::Object> last_;
  const Keep keep_;
  const std::function<bool()> goes_on_later_;
};

// Adds what a tool says about its peer to the call's span. Secrets are removed, because a peer may
// repeat those that it was sent.
class CallSpanNotes final : public SpanNotes {
 public:
  CallSpanNotes(RunTrace& trace, ToolUseId call, const CallSecrets& secrets)
      : trace_(trace), call_(std::move(call)), secrets_(secrets) {}

  void note(std::string_view attribute, std::string_view value) override {
    trace_.note(call_, attribute, secrets_.blot_out(std::string(value)));
  }
  void note(std::string_view attribute, std::int64_t value) override {
    trace_.note(call_, attribute, value);
  }

 private:
  RunTrace& trace_;
  const ToolUseId call_;
  const CallSecrets& secrets_;
};

}  // namespace

TaskGroup& AgentRun::tasks_for(const ToolDecl& tool) {
  std::unique_ptr<TaskGroup>& tasks = is_agent_tool(tool) ? child_calls_ : host_tools_;
  if (!tasks) tasks = std::make_unique<TaskGroup>(around_.home.executor(), on_bug());
  return *tasks;
}

void AgentRun::make_call(const CallState& call, ToolPtr tool) {
  if (trace_) trace_->begin_call(call.id);
  log_->emit(ToolCallStarted{.id = call.id,
                             .name = call.name,
                             .input = call.arguments,
                             .child_run = child_of(*call.tool, call.id)});
  ToolCall made{
      .run = key_.run, .id = call.id, .arguments = parse_arguments(call.arguments).value()};
  calls_.at(call.id).task = tasks_for(*call.tool)
                                .spawn("run.tool", run_host_tool(std::move(tool), std::move(made),
                                                                 principal_of(call.id)));
}

// An effect that cannot be repeated waits until the call is durable, and until the lease allows
// effects: without it, another process may have claimed the run. The tool's time begins after both
// waits.
Task<bool> AgentRun::may_take_effect(ToolUseId id, ToolAnnotations promises) {
  if (!promises.read_only) {
    auto durable = co_await log_->flush();
    if (!durable) co_return false;
  }
  while (!around_.lease.allows_effects()) {
    Wakeup wakeup(around_.home.executor());
    held_calls_.push_back(&wakeup);
    struct Leave {
      std::vector<Wakeup*>& held;
      Wakeup* me;
      ~Leave() { std::erase(held, me); }
    };
    Leave leave{held_calls_, &wakeup};
    co_await wakeup.wait();
  }
  co_return is_running(id);
}

Task<void> AgentRun::run_host_tool(ToolPtr tool, ToolCall call, Principal who) {
  const ToolUseId id = call.id;
  const bool may_begin = co_await may_take_effect(id, tool->decl().annotations);
  if (!may_begin) co_return;
  const CallState& known = *state_->find_call(id);
  ToolContext context{.who = std::move(who), .deadline = around_.timers.now() + time_of(known)};
  calls_.watch(id, context.deadline);
  CallSecrets secrets(around_.secrets, key_.workspace);
  context.secrets = &secrets;
  CallProgress progress(id, tool->decl().name, child_of(tool->decl(), id), secrets,
                        [this](ToolProgress report) { show_progress(std::move(report)); });
  context.progress = &progress;
  JournaledNotes notes(
      known.note, [this, id](json::Object note) { return keep_note(id, std::move(note)); },
      [this, id] { return goes_on_later(id); });
  context.notes = &notes;
  std::unique_ptr<CallQuestions> questions = blotted(make_questions(id), secrets);
  context.questions = questions.get();
  std::optional<CallSpanNotes> span;
  if (trace_) context.span = &span.emplace(*trace_, id, secrets);
  ToolOutcome outcome = co_await invoke_safely(tool, std::move(call), context, &around_.log);
  settle_host_call(id, std::move(outcome));
}

Task<Result<void>> AgentRun::keep_note(ToolUseId id, json::Object note) {
  const CallState* call = state_->find_call(id);
  if (!call || call->outcome || state_->terminal() || calls_.stage_of(id) == Stage::settled) {
    co_return Error(ErrorCode::cancelled, "the call is over");
  }
  // Only resumable tools get their notes back. Runs in formats without notes have no such calls.
  if (!call->tool || !call->tool->annotations.resumable) co_return Result<void>();
  NoteEntry entry{.id = id, .note = json::write(json::Value(std::move(note)))};
  if (entry.note.size() > kNoteBytesMax) {
    co_return Error(ErrorCode::too_large,
                    cat("the note of a call has more than ", kNoteBytesMax, " bytes"));
  }
  record(std::move(entry));
  auto durable = co_await log_->flush();
  co_return durable;
}

bool AgentRun::goes_on_later(const ToolUseId& id) const {
  bool is_over = state_->terminal() || state_->cancel() || calls_.stage_of(id) == Stage::settled;
  return !is_over && activity_ == Activity::stopping;
}

void AgentRun::settle_host_call(const ToolUseId& id, ToolOutcome outcome) {
  // A call that was cut off may return late, even after the next turn has begun. Its outcome is
  // dropped, but the run may have stayed in memory only because the call had not returned.
  if (!calls_.settle(id)) return kick();
  calls_.forget_time(id);
  for (TaskGroup::Ticket sampling : calls_.at(id).samplings) host_tools_->cancel_one(sampling);
  const CallState* call = state_->find_call(id);
  if (!call || call->outcome) return kick();
  const bool is_fatal = outcome.kind == ToolOutcome::Kind::fatal;
  const bool ok = outcome.ok();
  FlatContent flat = flatten(std::move(outcome.content));
  std::vector<RunBlob> blobs = take_bytes(flat.files);
  observer_.on_going_on();
  host_outcomes_.push_back({.entry = {.id = id,
                                      .ok = ok,
                                      .text = std::move(flat.text),
                                      .files = std::move(flat.files),
                                      .is_fatal = is_fatal,
                                      .child_turns = outcome.child_turns},
                            .blobs = std::move(blobs),
                            .structured = std::move(outcome.structured)});
  kick();
}

// Ends a call whose time is over, without waiting until its task has noticed.
void AgentRun::cut_off(const CallState& call) {
  TaskGroup& tasks = tasks_for(*call.tool);
  const TaskGroup::Ticket task = *calls_.at(call.id).task;
  settle_host_call(call.id, overdue_outcome(time_of(call)));
  tasks.cancel_one(task);
}

// Progress is written like streamed text. The run does not wait for a tool that reports faster than
// the store can write, or without end: its reports are dropped.
void AgentRun::show_progress(ToolProgress progress) {
  const CallState* call = state_->find_call(progress.id);
  if (!call || call->outcome || state_->terminal() || !log_->has_room()) return;
  if (++calls_.at(progress.id).reports > kReportsMax) return;
  progress.message = utf8_prefix(progress.message, kProgressMessageBytesMax);
  log_->emit_delta(progress);
}

void AgentRun::fold_progress(const Mailbox& mail) {
  if (auto progress = parse_progress(mail.body)) show_progress(std::move(*progress));
  log_->close_mailbox(mail.slot, RunLog::kDeltaWait);
}

}  // namespace errand::agent
