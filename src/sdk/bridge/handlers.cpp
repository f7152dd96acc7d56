#include "sdk/bridge/handlers.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "async/completion.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "sdk/api/values.hpp"
#include "sdk/bridge/mcp_call.hpp"

namespace errand::sdk {
namespace {

// The most reports that may wait for the home; further ones are dropped.
constexpr int kReportsMax = 64;

void tell_caller(v1::ToolCallInfo& info, const RoomCaller& caller) {
  info.caller = caller.name.empty() ? caller.participant_id : caller.name;
  info.caller_id = caller.participant_id;
  info.on_behalf_of = caller.on_behalf_of;
  info.room = caller.room;
  v1::Json context = v1::detail::from_value(json::Value(caller.context));
  info.caller_context = std::move(*context.if_object());
  info.caller_role = caller.role;
  v1::Json attributes = v1::detail::from_value(json::Value(caller.attributes));
  info.caller_attributes = std::move(*attributes.if_object());
}

}  // namespace

// A call whose handler runs on another thread. It lives until both the task on the home and the
// handler's thread have let go of it.
class Handlers::Running final : public v1::ToolCallHost,
                                public std::enable_shared_from_this<Running> {
 public:
  Running(const Executor& home, std::shared_ptr<HomeDoor> door,
          std::shared_ptr<const HandlerServices> services, const HandlerCall& call,
          CallSecrets* secrets)
      : door_(std::move(door)),
        services_(std::move(services)),
        run_(call.call.run),
        deadline_(call.deadline),
        has_vault_(call.secrets != nullptr),
        mcp_(call.mcp),
        sink_(call.progress),
        secrets_(secrets),
        bell_(std::make_unique<Wakeup>(home)) {}

  // Called from any thread.
  bool cancelled() const override {
    return is_left_.load() || std::chrono::steady_clock::now() >= deadline_;
  }

  void progress(const v1::ToolProgress& progress) override {
    if (cancelled()) return;
    if (reports_.fetch_add(1) >= kReportsMax) {
      reports_.fetch_sub(1);
      return;
    }
    ProgressReport report{.message = progress.message};
    if (progress.done != 0 || progress.total != 0) report.progress = progress.done;
    if (progress.total != 0) report.total = progress.total;
    door_->post([self = shared_from_this(), report = std::move(report)]() mutable {
      self->reports_.fetch_sub(1);
      self->show(std::move(report));
    });
  }

  std::optional<std::string> secret(std::string_view name) override {
    std::optional<std::string> own = services_->secrets ? services_->secrets(name) : std::nullopt;
    if (!own) return has_vault_ ? ask_vault(name) : std::nullopt;
    std::lock_guard lock(mutex_);
    given_.push_back(*own);
    return own;
  }

  void log(v1::LogLevel level, std::string_view message) override {
    if (services_->log) services_->log(level, message);
    if (mcp_) mcp_->log(level, message);
  }

  std::shared_ptr<RoomCore> room() const override {
    return services_->room ? services_->room() : nullptr;
  }

  std::shared_ptr<McpCall> mcp() const override { return mcp_; }

  std::shared_ptr<void> wait_elsewhere() override {
    return std::make_shared<HandlerPool::Waiting>();
  }

  std::chrono::system_clock::time_point now() const override {
    return services_->now ? services_->now() : std::chrono::system_clock::now();
  }

  void on_cancel(std::function<void()> call) override {
    {
      std::lock_guard lock(mutex_);
      if (is_finished_) return;
      if (!is_left_.load()) {
        on_cancel_.push_back(std::move(call));
        return;
      }
    }
    call();
  }

  // Called on the handler's thread.
  void work(const Handler& handler, v1::ToolCallInfo info, const json::Object& arguments) {
    if (cancelled()) return finish(never_began());
    has_begun_.store(true);
    auto context = std::make_shared<v1::ToolContext>(std::move(info), shared_from_this());
    handler(context, v1::detail::from_value(json::Value(arguments)),
            [self = shared_from_this()](v1::ToolResult result) {
              self->finish(outcome_of(std::move(result)));
            });
  }

  // Called on the home. The first outcome counts.
  void settle(ToolOutcome outcome) {
    if (!outcome_) outcome_ = std::move(outcome);
    if (bell_) bell_->notify();
  }

  Task<ToolOutcome> outcome() {
    while (!outcome_) {
      if (wanted_.empty()) {
        co_await bell_->wait();
        continue;
      }
      std::shared_ptr<Wanted> wanted = std::move(wanted_.front());
      wanted_.pop_front();
      auto found = co_await secrets_->find(wanted->name);
      give(*wanted, std::move(found));
    }
    remember_given();
    secrets_->blot_out(*outcome_);
    co_return std::move(*outcome_);
  }

  void leave() {
    std::vector<std::function<void()>> calls;
    {
      std::lock_guard lock(mutex_);
      is_left_.store(true);
      calls.swap(on_cancel_);
    }
    answered_.notify_all();
    for (const auto& call : calls) call();
    sink_ = nullptr;
    secrets_ = nullptr;
    bell_.reset();
  }

  // Called on the home when the time is over. Effects are in doubt only if the handler has begun.
  ToolOutcome overdue(milliseconds limit) const {
    return has_begun_.load() ? overdue_outcome(limit) : never_began();
  }

  const RunId& run() const { return run_; }

 private:
  // Called from any thread.
  void finish(ToolOutcome outcome) {
    {
      std::lock_guard lock(mutex_);
      is_finished_ = true;
      on_cancel_.clear();
    }
    door_->post([self = shared_from_this(), outcome = std::move(outcome)]() mutable {
      self->settle(std::move(outcome));
    });
  }

  static ToolOutcome never_began() {
    return failed_outcome("The time for this call was over before it began.");
  }

  // A secret that a handler waits for.
  struct Wanted {
    std::string name;
    std::optional<std::string> value = {};
    bool is_answered = false;
  };

  std::optional<std::string> ask_vault(std::string_view name) {
    auto wanted = std::make_shared<Wanted>(Wanted{.name = std::string(name)});
    door_->post([self = shared_from_this(), wanted] {
      self->wanted_.push_back(wanted);
      if (self->bell_) self->bell_->notify();
    });
    std::unique_lock lock(mutex_);
    answered_.wait(lock, [&] { return wanted->is_answered || is_left_.load(); });
    return wanted->value;
  }

  void give(Wanted& wanted, Result<std::string> found) {
    bool is_broken = !found && found.error().code() != ErrorCode::not_found;
    if (is_broken) {
      log(v1::LogLevel::warning,
          cat("the secret ", wanted.name, " cannot be read: ", found.error().message()));
    }
    {
      std::lock_guard lock(mutex_);
      if (found) wanted.value = *std::move(found);
      wanted.is_answered = true;
    }
    answered_.notify_all();
  }

  void show(ProgressReport report) {
    if (!sink_) return;
    remember_given();
    report.message = secrets_->blot_out(std::move(report.message));
    sink_->report(std::move(report));
  }

  void remember_given() {
    std::vector<std::string> given;
    {
      std::lock_guard lock(mutex_);
      given.swap(given_);
    }
    for (const std::string& value : given) secrets_->remember(value);
  }

  const std::shared_ptr<HomeDoor> door_;
  const std::shared_ptr<const HandlerServices> services_;
  const RunId run_;
  const SteadyTime deadline_;
  const bool has_vault_;
  const std::shared_ptr<McpCall> mcp_;
  std::atomic<bool> is_left_ = false;  // nothing waits for the handler any more
  std::atomic<bool> has_begun_ = false;
  std::atomic<int> reports_ = 0;

  std::mutex mutex_;
  std::condition_variable answered_;  // wakes one Wanted, or all of them when is_left_
  std::vector<std::string> given_;    // secrets that the handler asked for
  std::vector<std::function<void()>> on_cancel_;
  bool is_finished_ = false;

  // Used on the home only.
  ProgressSink* sink_;
  CallSecrets* secrets_;
  std::deque<std::shared_ptr<Wanted>> wanted_;
  std::unique_ptr<Wakeup> bell_;  // null when nothing waits
  std::optional<ToolOutcome> outcome_;
};

Handlers::Handlers(Executor home, Timers& timers, std::size_t threads_max, HandlerServices services)
    : home_(std::move(home)),
      door_(std::make_shared<HomeDoor>(home_)),
      timers_(timers),
      services_(std::make_shared<const HandlerServices>(std::move(services))),
      pool_(threads_max),
      models_(kModelThreadsMax) {}

Task<ToolOutcome> Handlers::call(HandlerCall call) {
  CallSecrets own_secrets(nullptr, WorkspaceSlug());
  auto running = std::make_shared<Running>(home_, door_, call.services ? call.services : services_,
                                           call, call.secrets ? call.secrets : &own_secrets);
  struct Entry {
    Handlers& handlers;
    std::shared_ptr<Running> running;
    Entry(Handlers& all, std::shared_ptr<Running> one) : handlers(all), running(std::move(one)) {
      handlers.running_.insert(running.get());
    }
    ~Entry() {
      handlers.running_.erase(running.get());
      running->leave();
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
  };
  Entry entry(*this, running);
  v1::ToolCallInfo info{
      .run_id = call.call.run.str(), .call_id = call.call.id.str(), .tool = call.tool};
  std::optional<TimerGuard> overdue;
  milliseconds limit{};
  if (call.deadline != SteadyTime::max()) {
    info.deadline = call.deadline;
    auto left = std::chrono::ceil<milliseconds>(call.deadline - timers_.now());
    limit = call.timeout.value_or(left);
    overdue.emplace(timers_, call.deadline,
                    [running = running.get(), limit] { running->settle(running->overdue(limit)); });
  }
  if (call.caller) tell_caller(info, *call.caller);
  info.traceparent = std::move(call.traceparent);
  Interrupt::Scope unwanted(call.interrupt, [running = running.get()] {
    running->settle(failed_outcome("The call was cancelled."));
  });
  if (call.interrupt && call.interrupt->is_raised()) {
    co_return failed_outcome("The call was cancelled.");
  }
  bool is_taken = pool_.run(
      [running, handler = std::move(call.handler), info = std::move(info),
       arguments = std::move(call.call.arguments)] { running->work(handler, info, arguments); });
  if (!is_taken) co_return failed_outcome("Too many calls wait for a thread of this program.");
  ToolOutcome outcome = co_await running->outcome();
  // A handler that gives up at its deadline may report that before the timer fires.
  if (timers_.now() >= call.deadline) outcome = running->overdue(limit);
  if (!outcome.ok() && call.cancels_siblings) cancel_siblings(*running);
  co_return outcome;
}

// Calls without a run, such as those from rooms and MCP clients, belong to different callers.
void Handlers::cancel_siblings(const Running& failed) {
  if (failed.run().view().empty()) return;
  for (Running* other : running_) {
    if (other == &failed || other->run() != failed.run()) continue;
    other->settle(failed_outcome("This call was cancelled because a call beside it failed."));
  }
}

// ---- Results ------------------------------------------------------------------------------------

namespace {

FilePart file_of(std::string bytes, std::string mime_type, std::string name) {
  auto shared = std::make_shared<const std::string>(std::move(bytes));
  return {.filename = std::move(name),
          .mime_type = to_lower(mime_type),
          .size = static_cast<std::int64_t>(shared->size()),
          .bytes = std::move(shared)};
}

// Adds one part of a public result to an outcome.
struct AddContent {
  std::vector<Content>& out;

  void operator()(v1::TextContent& one) { out.emplace_back(TextContent{std::move(one.text)}); }
  void operator()(v1::JsonContent& one) {
    out.emplace_back(JsonContent{v1::detail::to_value(one.value)});
  }
  void operator()(v1::ImageContent& one) {
    out.emplace_back(
        FileContent{.kind = FileContent::Kind::image,
                    .file = file_of(std::move(one.bytes), std::move(one.mime_type), {})});
  }
  void operator()(v1::AudioContent& one) {
    out.emplace_back(
        FileContent{.kind = FileContent::Kind::audio,
                    .file = file_of(std::move(one.bytes), std::move(one.mime_type), {})});
  }
  void operator()(v1::FileContent& one) {
    out.emplace_back(FileContent{
        .file = file_of(std::move(one.bytes), std::move(one.mime_type), std::move(one.name))});
  }
  void operator()(v1::LinkContent& one) {
    out.emplace_back(LinkContent{.uri = std::move(one.url),
                                 .name = std::move(one.name),
                                 .description = std::move(one.description),
                                 .mime_type = std::move(one.mime_type)});
  }
  void operator()(v1::ResourceContent& one) {
    ResourceContent resource{
        .uri = std::move(one.uri), .mime_type = one.mime_type, .text = std::move(one.text)};
    if (!one.bytes.empty()) {
      resource.file = file_of(std::move(one.bytes), std::move(one.mime_type), {});
    }
    out.emplace_back(std::move(resource));
  }
  void operator()(v1::EmptyContent&) {}
};

ToolOutcome::Kind kind_of(v1::ToolOutcome outcome) {
  switch (outcome) {
    case v1::ToolOutcome::ok: return ToolOutcome::Kind::ok;
    case v1::ToolOutcome::failed: return ToolOutcome::Kind::failed;
    case v1::ToolOutcome::fatal: return ToolOutcome::Kind::fatal;
  }
  return ToolOutcome::Kind::failed;
}

}  // namespace

ToolOutcome outcome_of(v1::ToolResult result) {
  ToolOutcome outcome{.kind = kind_of(result.outcome)};
  AddContent add{outcome.content};
  for (v1::Content& one : result.content) std::visit(add, one);
  if (result.structured) outcome.structured = v1::detail::to_value(*result.structured);
  // Models read only the content.
  bool says_nothing = outcome.content.empty() && outcome.ok() && outcome.structured;
  if (says_nothing) outcome.content.emplace_back(JsonContent{*outcome.structured});
  return outcome;
}

}  // namespace errand::sdk
