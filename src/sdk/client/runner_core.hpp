#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <errand/client.hpp>

#include "async/completion.hpp"
#include "async/home.hpp"
#include "async/task_group.hpp"
#include "async/timers.hpp"
#include "sdk/bridge/handlers.hpp"
#include "sdk/bridge/pending.hpp"
#include "sdk/bridge/run_request.hpp"
#include "sdk/client/backend.hpp"
#include "sdk/client/following.hpp"
#include "sdk/client/retry.hpp"
#include "sdk/client/serving.hpp"
#include "sdk/local_servers.hpp"
#include "sdk/mcp/in_process.hpp"
#include "store/sessions.hpp"

namespace errand::sdk {

// What a session of the program has: the tools that its runs call, and who answers the calls.
class SessionCore final {
 public:
  SessionId id;
  std::vector<ToolPtr> tools = {};
  ToolPtr elicitation =
      nullptr;  // answers questions of MCP servers to the user; null: questions stay open
  LentTools lent = {};
  bool answers_calls = true;  // false: other clients do
  std::optional<milliseconds> tool_timeout =
      {};  // for calls whose tool has no timeout, if it is known
};

// The tools that a program names for a run.
struct AskedTools {
  std::vector<v1::Tool> tools;
  std::vector<v1::Toolkit> toolkits;
  std::vector<v1::McpServer> mcp_servers = {};
  std::vector<v1::A2aAgent> a2a_agents = {};
  v1::AskUser ask_user = {};

  template <class Options>
  static AskedTools of(const Options& options) {
    return {options.tools, options.toolkits, options.mcp_servers, options.a2a_agents,
            options.ask_user};
  }
};
// The same, found, and as the run refers to them.
struct RunTools {
  std::vector<ToolPtr> tools = {};
  ToolPtr elicitation = nullptr;  // see SessionCore
  LentTools lent = {};
};

// A run without a thread that waits for it. Lives on the home.
struct AskedRun {
  std::optional<RunId> id = {};  // once it is made
  bool is_unwanted = false;
};

// Everything behind a Client or a Runtime: a thread with a loop, on which all work is done, and the
// calls that other threads make and wait for. Shared by those who use it; closed by the object of
// the user. A command brings its own loop, runs it, and calls only what is to be called at home.
class RunnerCore final : public std::enable_shared_from_this<RunnerCore> {
 public:
  // What a backend is made with, on the home.
  struct Surroundings {
    asio::io_context& io;
    Home home;
    Timers& timers;
    Handlers& handlers;
  };
  using MakeBackend = std::function<Result<std::unique_ptr<Backend>>(const Surroundings&)>;

  struct Options {
    v1::HandlerOptions handlers = {};
    seconds patience = RunStream::kPatience;
    // The time of day for handlers; empty: that of this machine.
    std::function<std::chrono::system_clock::time_point()> now = {};
    asio::io_context* loop = nullptr;  // outlives the core; null: one of its own, on a thread
  };

  explicit RunnerCore(Options options);
  ~RunnerCore();
  RunnerCore(const RunnerCore&) = delete;
  RunnerCore& operator=(const RunnerCore&) = delete;

  // Before any other call.
  Result<void> open(const MakeBackend& make);
  // Ends every call that waits, and waits for handlers that run. From any thread but theirs.
  void close();
  // The same at home, for a core on another's loop, without waiting for handlers.
  Task<void> stop();

  // Runs a task at home and waits for its result. cancelled: the core is closed.
  template <class T>
  Result<T> wait(std::function<Task<Result<T>>()> make);
  // The same for a plain function.
  template <class T>
  Result<T> ask(std::function<T()> function);

  // The same without a thread that waits. `done` is called once, on the home or, if the core is
  // closed, here.
  template <class T>
  void tell(std::function<Task<Result<T>>()> make, std::function<void(Result<T>)> done);

  // Makes a run, and follows it if its end is wanted. From any thread.
  Result<std::shared_ptr<Following>> follow(v1::RunOptions options, EventQueue::Keep keep);
  std::shared_ptr<AskedRun> follow_async(v1::RunOptions options, ReplyPromise::Done done);
  std::shared_ptr<AskedRun> say_async(std::shared_ptr<const SessionCore> session,
                                      v1::RunOptions message, ReplyPromise::Done done);
  // Asks a run to stop, as soon as it is made.
  void cancel_async(std::shared_ptr<AskedRun> run);
  void stream_async(v1::RunOptions options, Callback<std::shared_ptr<Following>>::Done done);
  void attach_async(RunId run, v1::AttachOptions options,
                    Callback<std::shared_ptr<Following>>::Done done);
  Result<RunId> start(v1::RunOptions options);
  Result<std::shared_ptr<Following>> attach(RunId run, v1::AttachOptions options);
  // The same for a message of a session.
  Result<std::shared_ptr<Following>> say(std::shared_ptr<const SessionCore> session,
                                         v1::RunOptions message, EventQueue::Keep keep);
  Result<std::shared_ptr<SessionCore>> make_session(v1::RunOptions agent, WhenBusy when_busy);
  Result<std::shared_ptr<SessionCore>> open_session(SessionId id, v1::AttachOptions tools);
  // Starts a worker.
  Result<std::shared_ptr<Serving>> serve(const v1::Toolkit& toolkit, v1::WorkerOptions options);
  // The reader of a run is gone.
  void abandon(const std::shared_ptr<Following>& run);

  // At home. Repeats a request that is safe to repeat, as long as the patience lasts.
  template <class T>
  Task<Result<T>> persist(std::function<Task<Result<T>>()> ask);
  Task<Result<bool>> answer(RunId run, ToolUseId call, ToolAnswer answer);
  Task<Result<RunStatus>> cancel(RunId run);
  Task<Result<bool>> end_session(SessionId session);
  Task<Result<bool>> finish(std::shared_ptr<Serving> serving);
  // Follows a run for a reader at home: with the members that are set here, the rest is the core's.
  struct Reading {
    EventSeq after = 0;
    RunStream::FirstFailure first_failure = RunStream::FirstFailure::is_retried;
    std::vector<ToolPtr> tools = {};
    bool answers = false;  // calls of these tools; other calls fail
    EventSeq calls_after = 0;
  };
  std::shared_ptr<Following> read(const RunId& run, Reading reading);
  // The reader is gone.
  Task<void> leave(std::shared_ptr<Following> run);
  RunApi& api() { return backend_->api(); }
  Backend& backend() { return *backend_; }
  Timers& timers() { return timers_; }
  Handlers& handlers() { return handlers_; }
  Executor home() const { return home_.executor(); }
  TaskGroup& tasks() { return tasks_; }

 private:
  using Followed = std::shared_ptr<Following>;

  // False: the core is closed.
  bool post(std::function<void()> work);
  using Reply = std::shared_ptr<ReplyPromise>;
  Task<Result<Followed>> make_run(std::shared_ptr<v1::RunOptions> options, EventQueue::Keep keep,
                                  Reply reply);
  Task<void> make_for(Task<Result<Followed>> making, Reply reply, std::shared_ptr<AskedRun> run);
  Task<void> cancel_asked(RunId run);
  Task<Result<Followed>> join_run(RunId run, std::shared_ptr<v1::AttachOptions> options);
  Task<Result<RunId>> create(RunRequest request, std::shared_ptr<v1::RunOptions> options);
  // The system prompt of the run that the options fork, if they need it.
  Task<Result<std::string>> prompt_of_fork(std::shared_ptr<v1::RunOptions> options);
  Task<Result<Followed>> say_in(std::shared_ptr<const SessionCore> session,
                                std::shared_ptr<v1::RunOptions> message, EventQueue::Keep keep,
                                Reply reply);
  Task<Result<std::shared_ptr<SessionCore>>> create_session(std::shared_ptr<v1::RunOptions> agent,
                                                            WhenBusy when_busy);
  Task<Result<std::shared_ptr<SessionCore>>> find_session(SessionId id,
                                                          std::shared_ptr<v1::AttachOptions> tools);
  // Finds the tools. Only the run knows what other clients answered.
  enum class Answers : std::uint8_t { here, elsewhere };
  Task<Result<RunTools>> gather(AskedTools asked, Answers answers);
  Task<Result<ServerTools>> learn(AskedTools asked, std::set<std::string> taken);
  struct Servers {
    Servers(const Executor& home, Timers& timers, Handlers& handlers, const Teller& tell,
            RunsAt runs)
        : in_process(handlers, bugs_to(tell)), local(home, timers, tell, runs) {}
    InProcessServers in_process;
    LocalServers local;
  };
  Servers& servers();
  // What a server knows is for the server to say.
  RequestRules rules(Says says) const {
    bool is_remote = backend_->called_by() == CalledBy::client;
    return {.kinds = is_remote ? ToolKinds::any : ToolKinds::known, .says = says};
  }
  // Of a request without one. An engine in this process needs none: no connection breaks between a
  // request and its answer.
  std::string key_of(const v1::RunOptions& options) const;
  // Lets the follower of a run answer calls of these tools, and questions to the user.
  void let_answer(Following::Params& params, std::vector<ToolPtr> tools, const ToolPtr& elicitation,
                  bool answers_calls) const;
  Followed add(Following::Params params);
  Following::Params params_for(const RunId& run);
  void retire(Followed run);
  Task<void> stop_one(Followed run);
  Task<void> shut_down();
  std::function<void(const v1::Error&)> log_failures() const;

  const Options options_;
  std::optional<asio::io_context> own_loop_;
  asio::io_context& io_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  const Home home_;
  AsioTimers timers_;
  Handlers handlers_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Servers> servers_;  // once a run has some
  std::set<Followed> runs_;
  std::set<Followed> retiring_;  // have ended, and are being stopped
  std::set<std::shared_ptr<Serving>> workers_;
  bool has_heard_ = false;  // of a server
  TaskGroup tasks_;
  TaskGroup closing_;

  std::mutex mutex_;
  bool is_closed_ = false;
  std::thread thread_;
};

template <class T>
Result<T> RunnerCore::wait(std::function<Task<Result<T>>()> make) {
  auto pending = std::make_shared<Pending<T>>();
  bool is_posted = post([this, pending, make = std::move(make)] {
    tasks_.spawn("call", fill(make(), Promise<T>(pending)));
  });
  if (!is_posted) return closed_error();
  return pending->get();
}

template <class T>
void RunnerCore::tell(std::function<Task<Result<T>>()> make, std::function<void(Result<T>)> done) {
  auto callback = std::make_shared<Callback<T>>(std::move(done));
  post([this, callback, make = std::move(make)] {
    tasks_.spawn("call", sdk::tell(make(), std::move(*callback)));
  });
}

template <class T>
Result<T> RunnerCore::ask(std::function<T()> function) {
  auto pending = std::make_shared<Pending<T>>();
  bool is_posted = post([pending, function = std::move(function)] { pending->set(function()); });
  if (!is_posted) return closed_error();
  return pending->get();
}

template <class T>
Task<Result<T>> RunnerCore::persist(std::function<Task<Result<T>>()> ask) {
  Retry retry(timers_, options_.patience, has_heard_);
  for (;;) {
    auto result = co_await ask();
    bool is_unreachable = !result && result.error().reason() == RunApi::kUnreachable;
    if (!is_unreachable) has_heard_ = true;
    if (result) co_return result;
    bool goes_on = co_await retry.wait_after(result.error());
    if (!goes_on) co_return result;
  }
}

}  // namespace errand::sdk
