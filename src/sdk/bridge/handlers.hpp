#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <errand/content.hpp>
#include <errand/tool_context.hpp>

#include "async/completion.hpp"
#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "async/timers.hpp"
#include "sdk/bridge/handler_pool.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

class RoomCore;
class McpCall;

// What a program gives its handlers. Called from any thread.
struct HandlerServices {
  std::function<std::optional<std::string>(std::string_view)> secrets = {};
  std::function<void(v1::LogLevel, std::string_view)> log = {};
  std::function<std::shared_ptr<RoomCore>()> room = {};             // that the tools are hosted in
  std::function<std::chrono::system_clock::time_point()> now = {};  // empty: this machine's
};

// A handler with all that a call needs. May block, and throws nothing. `done` is called once, from
// any thread: before the handler returns, or later by one that needs no thread while it waits.
using HandlerDone = std::function<void(v1::ToolResult)>;
using Handler =
    std::function<void(const std::shared_ptr<v1::ToolContext>&, const v1::Json&, HandlerDone done)>;

// The way from other threads to the home, which their work may outlive.
class HomeDoor final {
 public:
  explicit HomeDoor(Executor home) : home_(std::move(home)) {}

  // Does nothing once the door is closed.
  template <class F>
  void post(F work) {
    std::lock_guard lock(mutex_);
    if (home_) post_from_outside(*home_, std::move(work));
  }
  void close() {
    std::lock_guard lock(mutex_);
    home_.reset();
  }

 private:
  std::mutex mutex_;
  std::optional<Executor> home_;
};

struct HandlerCall {
  Handler handler;
  ToolCall call;
  std::string tool;
  SteadyTime deadline = SteadyTime::max();
  std::optional<milliseconds> timeout = {};  // of the tool, if that is what the deadline follows
  ProgressSink* progress = nullptr;    // valid until the call returns; null: reports are dropped
  CallSecrets* secrets = nullptr;      // the same; null: only the program's secrets
  bool cancels_siblings = false;       // a failure cancels the other calls of its run
  std::string traceparent = {};        // of the call; may be empty
  const RoomCaller* caller = nullptr;  // null: the call does not come from a room
  std::shared_ptr<McpCall> mcp = nullptr;  // null: the call does not come over MCP
  Interrupt* interrupt = nullptr;          // raised: the result is not wanted any more
  std::shared_ptr<const HandlerServices> services = nullptr;  // null: those of the program
};

// Calls handlers on threads of a pool. A call that is cancelled, or whose time is over, returns at
// once; its handler learns it from ToolContext::cancelled() and ends when it likes. The secrets
// that a handler has asked for are kept out of its result and its progress. Lives on one home; must
// be closed before the home's loop is destroyed.
class Handlers final {
 public:
  // Models of the program that are asked at a time; later questions wait.
  static constexpr std::size_t kModelThreadsMax = 256;

  Handlers(Executor home, Timers& timers, std::size_t threads_max, HandlerServices services);

  Task<ToolOutcome> call(HandlerCall call);

  // Asks a model of the program, on threads apart from those of handlers. See HandlerPool::run.
  [[nodiscard]] bool ask_model(std::function<void()> work) { return models_.run(std::move(work)); }

  // Waits for the handlers and models that have a thread. Not from one of them. Later results of
  // handlers that need no thread are dropped.
  void close() {
    pool_.close();
    models_.close();
    door_->close();
  }

  const Executor& home() const { return home_; }

 private:
  class Running;
  void cancel_siblings(const Running& failed);

  const Executor home_;
  const std::shared_ptr<HomeDoor> door_;
  Timers& timers_;
  const std::shared_ptr<const HandlerServices> services_;
  std::set<Running*> running_;
  HandlerPool pool_;  // last, with the next: what runs there uses everything above
  HandlerPool models_;
};

// What a public result means to the engine.
ToolOutcome outcome_of(v1::ToolResult result);

}  // namespace errand::sdk
