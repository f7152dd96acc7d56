#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <errand/agent.hpp>
#include <errand/error.hpp>
#include <errand/event.hpp>
#include <errand/run.hpp>
#include <errand/schema.hpp>

// No part of the contract.
namespace errand::sdk {
class RunnerCore;
class Following;
class SessionCore;
struct AskedRun;
}  // namespace errand::sdk

namespace errand::ERRAND_V1 {

// The events of a run as they come. For one thread at a time. A reader that falls
// kEventsWaitingMax events behind holds the run's calls back. Destroying the stream ends neither
// the run nor, in a Runtime, its tools; a Client answers no more calls of it.
class RunStream final {
 public:
  static constexpr std::size_t kEventsWaitingMax = 1'000;

  RunStream();  // of no run: it has no events
  RunStream(RunStream&&) noexcept;
  RunStream& operator=(RunStream&&) noexcept;
  ~RunStream();

  const std::string& run_id() const { return run_id_; }

  // Waits for the next event; nothing after the last one. `next` throws the Error.
  std::optional<Event> next();
  Result<std::optional<Event>> try_next();
  // The same without waiting: `done` is called once, on the thread that brings the event, where it
  // must neither block nor call the runner. <errand/asio.hpp> delivers it elsewhere. One at a time.
  void next_async(std::function<void(Result<std::optional<Event>>)> done);

  // Reads to the end. `reply` throws a RunError if the run has not succeeded.
  Reply reply();
  Result<Reply> try_reply();

  // Asks the run to stop. The stream then ends with the event that says so.
  void cancel();

  // for (const errand::Event& event : client.stream(...))
  class Iterator {
   public:
    using value_type = Event;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(RunStream* stream) : stream_(stream) { ++*this; }
    const Event& operator*() const { return *event_; }
    const Event* operator->() const { return &*event_; }
    Iterator& operator++() {
      event_ = stream_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !event_.has_value(); }

   private:
    RunStream* stream_ = nullptr;
    std::optional<Event> event_;
  };
  Iterator begin() { return Iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  friend class Runner;
  friend class Session;
  RunStream(std::shared_ptr<sdk::RunnerCore> core, std::shared_ptr<sdk::Following> run,
            std::string run_id);

  std::shared_ptr<sdk::RunnerCore> core_;
  std::shared_ptr<sdk::Following> run_;
  std::string run_id_;
};

// A run that was asked for with run_async. Cheap to copy.
class AsyncRun final {
 public:
  AsyncRun() = default;
  // Asks the run to stop, and does not wait for it. Its end is told as any other.
  void cancel() const;

 private:
  friend class Runner;
  friend class Session;
  AsyncRun(std::weak_ptr<sdk::RunnerCore> core, std::shared_ptr<sdk::AskedRun> run);

  std::weak_ptr<sdk::RunnerCore> core_;
  std::shared_ptr<sdk::AskedRun> run_;
};

// How a run is joined that another process, or an earlier call, has asked for.
struct AttachOptions {
  std::vector<Tool> tools = {};  // answer the calls that wait, and later ones
  std::vector<Toolkit> toolkits = {};
  std::vector<McpServer> mcp_servers = {};  // as in RunOptions
  std::vector<A2aAgent> a2a_agents = {};
  AskUser ask_user = {};
  std::int64_t after_seq = 0;  // only events behind this one are shown
};

// A conversation that the server, or the runtime, keeps. Its runs take turns. Cheap to copy; safe
// to use from any thread. What a message leaves out is as the session was made with.
class Session final {
 public:
  const std::string& id() const { return id_; }

  // Says something, and waits for the answer. See Runner::run.
  Reply run(std::string prompt) const;
  Reply run(RunOptions message) const;
  Result<Reply> try_run(RunOptions message) const;
  template <class T>
  TypedReply<T> run(RunOptions message) const;
  template <class T>
  Result<TypedReply<T>> try_run(RunOptions message) const;
  RunStream stream(RunOptions message) const;
  AsyncRun run_async(RunOptions message, std::function<void(Result<Reply>)> done) const;

  // The messages and answers so far.
  std::vector<Message> messages() const;
  // Takes no more messages, and cancels unfinished runs.
  void end() const;

 private:
  friend class Runner;
  Session(std::shared_ptr<sdk::RunnerCore> core, std::shared_ptr<sdk::SessionCore> session,
          std::string id);

  std::shared_ptr<sdk::RunnerCore> core_;
  std::shared_ptr<sdk::SessionCore> session_;
  std::string id_;
};

// Runs of agents, wherever they are driven: by a server (Client), or in this process (Runtime).
// Every call blocks, may be made from any number of threads, and also from handlers of tools.
// Calls that wait when the runner is destroyed fail with `cancelled`.
//
// try_run returns a Result, everything else throws an Error: unavailable with the reason
// "unreachable" if there is no answer from the server, unauthorized for a wrong key,
// invalid_argument with a pointer for options that are wrong.
class Runner {
 public:
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Runs an agent to its end, and answers the calls of its tools. Throws a RunError if the run
  // fails or is cancelled; the Error of try_run is then a conflict with the reason "run_failed", or
  // cancelled with the reason "run_cancelled", and has the run's id.
  Reply run(RunOptions options) const;
  Result<Reply> try_run(RunOptions options) const;

  // The same for an answer that is JSON of T, as <errand/schema.hpp> reads it. With
  // RunOptions::output the text must fit that schema, too: run<Json> is for a schema that no type
  // stands for. Throws an OutputError if the text does not fit.
  template <class T>
  TypedReply<T> run(RunOptions options) const;
  template <class T>
  Result<TypedReply<T>> try_run(RunOptions options) const;

  // The same without waiting: `done` is called once, on the runner's own thread, where it must
  // neither block nor call the runner. <errand/asio.hpp> delivers it elsewhere.
  AsyncRun run_async(RunOptions options, std::function<void(Result<Reply>)> done) const;
  void stream_async(RunOptions options, std::function<void(Result<RunStream>)> done) const;
  void attach_async(std::string_view run_id, AttachOptions options,
                    std::function<void(Result<RunStream>)> done) const;
  void cancel_async(std::string_view run_id, std::function<void(Result<RunStatus>)> done) const;

  // Starts a run and shows it.
  RunStream stream(RunOptions options) const;
  // Starts a run and gives its id. In a Client others answer its calls; see attach.
  std::string start(RunOptions options) const;

  RunStream attach(std::string_view run_id, AttachOptions options = {}) const;

  // The status is what the run will end as.
  RunStatus cancel(std::string_view run_id) const;
  RunInfo get(std::string_view run_id) const;
  RunPage list(RunQuery query = {}) const;
  // Answers a call that waits for a client.
  void answer(std::string_view run_id, std::string_view call_id, const ToolResult& result) const;

  ModelList models() const;

  // Makes a session whose runs are asked for with these options, which have no prompt. With
  // answer_calls = false others answer the calls of all its runs, such as a worker.
  Session session(RunOptions agent, WhenBusy when_busy = WhenBusy::queue) const;
  // A session that is there already. Its runs call these tools; after_seq means nothing here.
  Session open_session(std::string_view id, AttachOptions tools = {}) const;
  SessionPage sessions(SessionQuery query = {}) const;

  // Stored agents, of the server or of the runtime's directory. They go by their names or by their
  // ids, and every change makes a version. All of these throw an Error: not_found for an unknown
  // agent, invalid_argument with a pointer for an agent that cannot be stored, forbidden for a key
  // without the scope.
  //
  // conflict with the reason "name_taken": there is an agent of this name.
  Agent create_agent(const AgentSpec& agent) const;
  // Creates the agent, or replaces the one of this name.
  Agent apply_agent(const AgentSpec& agent) const;
  // Replaces the agent of this name if its latest version is still `version`. conflict with the
  // reason "version_mismatch": it is not, and nothing has changed. Not repeated by itself, because
  // an attempt that was heard would look like another client's change.
  Agent replace_agent(const AgentSpec& agent, std::int64_t version) const;
  // The latest version, or the named one.
  Agent agent(std::string_view name_or_id, std::optional<std::int64_t> version = {}) const;
  AgentPage agents(AgentQuery query = {}) const;
  // The latest first. The last hundred are kept.
  std::vector<Agent> agent_versions(std::string_view name_or_id) const;
  // With a version, only if it is still the latest; see replace_agent.
  void delete_agent(std::string_view name_or_id, std::optional<std::int64_t> version = {}) const;

 protected:
  explicit Runner(std::shared_ptr<sdk::RunnerCore> core);
  ~Runner();

  const std::shared_ptr<sdk::RunnerCore> core_;
};

// ---- Implementation -----------------------------------------------------------------------------

namespace detail {

template <class T>
Result<TypedReply<T>> typed_reply(Result<Reply> reply, const Json* schema) {
  if (!reply) return reply.error();
  Result<Json> json = output_value(*reply, schema);
  if (!json) return json.error();
  Result<T> value = from_json<T>(*json);
  if (!value) return output_error(*reply, value.error());
  return TypedReply<T>{std::move(*reply), std::move(*value)};
}

// `runs` has a try_run. What fits a T fits the schema of T.
template <class T, class Runs>
Result<TypedReply<T>> try_typed_run(const Runs& runs, RunOptions options) {
  if (!options.output) {
    options.output = OutputSchema{schema_of<T>()};
    return typed_reply<T>(runs.try_run(std::move(options)), nullptr);
  }
  const Json schema = options.output->schema;
  return typed_reply<T>(runs.try_run(std::move(options)), &schema);
}

// A RunError, an OutputError, or the Error itself.
std::exception_ptr run_exception(const Error& error);
[[noreturn]] void throw_run_error(const Error& error);

}  // namespace detail

template <class T>
Result<TypedReply<T>> Runner::try_run(RunOptions options) const {
  return detail::try_typed_run<T>(*this, std::move(options));
}

template <class T>
Result<TypedReply<T>> Session::try_run(RunOptions message) const {
  return detail::try_typed_run<T>(*this, std::move(message));
}

template <class T>
TypedReply<T> Session::run(RunOptions message) const {
  Result<TypedReply<T>> reply = try_run<T>(std::move(message));
  if (!reply) detail::throw_run_error(reply.error());
  return *std::move(reply);
}

template <class T>
TypedReply<T> Runner::run(RunOptions options) const {
  Result<TypedReply<T>> reply = try_run<T>(std::move(options));
  if (!reply) detail::throw_run_error(reply.error());
  return *std::move(reply);
}

}  // namespace errand::ERRAND_V1
