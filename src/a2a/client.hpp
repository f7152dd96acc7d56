#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "a2a/codec.hpp"
#include "async/blocking_pool.hpp"
#include "async/interrupt.hpp"
#include "async/task.hpp"
#include "async/timers.hpp"
#include "net/client/http_client.hpp"
#include "rpc/message.hpp"

namespace errand::a2a {

// Bounds of what an agent sends.
constexpr std::size_t kCardBytesMax = 1024U * 1024;
constexpr std::size_t kAnswerBytesMax = 16U * 1024 * 1024;  // of one answer, or one event
// Of the events from which a task's artifacts are put together. Beyond, the call ends as too_large.
constexpr std::size_t kStreamedBytesMax = 2 * kAnswerBytesMax;

// An agent, as a ref or a flag names it.
struct AgentAddress {
  std::string card_url;
  // Go with every request. Interfaces at another origin than the card's are therefore not used.
  std::vector<net::Header> headers = {};
};

// What the client needs besides the agent. All of it outlives the client.
struct ClientDeps {
  net::HttpClient& http;  // with the address rules that the agent's URLs must meet
  Timers& timers;
  // Until the answer to a question about a task begins, and between its bytes. An agent that takes
  // longer hangs; its task may be asked about again.
  milliseconds answer_time = seconds(30);
  // Where long answers are read; null: at home.
  BlockingPool* pool = nullptr;
};

// Is told of a task's progress while a call follows it.
class TaskWatcher {
 public:
  virtual ~TaskWatcher() = default;
  // The agent has taken the message as this task. Returns once that is kept; an Error ends the
  // call, and the task goes on.
  virtual ::errand::Task<Result<void>> taken(std::string task_id, std::string context_id) = 0;
  virtual void updated(const StreamEvent& event) = 0;
  // A message is about to be sent.
  virtual void sending(Verb /*verb*/, const Interface& /*to*/) {}
  // The header `traceparent` of requests; empty: they have none.
  virtual std::string traceparent() const { return {}; }
};

using Reply = std::variant<Task, Message>;

// Requests to one agent, in the version that its card names. Lives on one home and outlives its
// calls. A message is never sent twice: after a failure, its task is asked about.
// Errors are those of net::HttpClient; an error of the agent is not_found (no such task),
// invalid_argument (wrong parameters) or unsupported (anything else).
class Client final {
 public:
  static constexpr milliseconds kPollFirst = milliseconds(500);  // grows to kPollMax
  static constexpr milliseconds kPollMax = seconds(10);
  // Below the address that the card names: where an agent takes messages, in the order in which
  // the paths are tried. A path that the agent does not know has not taken the message.
  static constexpr std::string_view kPaths[] = {"", "/rpc", "/message:send", "/message/send"};
  static constexpr milliseconds kCardTime = std::chrono::minutes(5);
  static constexpr int kFailuresMax = 20;  // in a row, while a task is followed

  Client(ClientDeps deps, AgentAddress agent) : deps_(deps), agent_(std::move(agent)) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Kept for kCardTime, and until a request to the agent fails: the agent may have moved.
  ::errand::Task<Result<AgentCard>> card();
  // Sends a message and follows its task until it ends or waits for somebody. outcome_unknown: the
  // agent may have taken the message as a task that is not known.
  ::errand::Task<Result<Reply>> send(Message message, TaskWatcher* watcher);
  // Follows a task that has been taken before.
  ::errand::Task<Result<Task>> follow(std::string task_id, TaskWatcher* watcher);
  ::errand::Task<Result<Task>> get(std::string task_id);
  ::errand::Task<Result<Task>> cancel(std::string task_id);

 private:
  class Following;

  ::errand::Task<Result<json::Value>> ask(Verb verb, json::Object params);
  ::errand::Task<Result<void>> stream(Verb verb, json::Object params, Following* into);
  ::errand::Task<Result<void>> read_events(std::unique_ptr<net::ClientStream> from,
                                           Following* into);
  ::errand::Task<Result<std::unique_ptr<net::ClientStream>>> open_card(std::string url);
  net::ClientRequest make(Verb verb, const json::Object& params, const Interface& to,
                          std::string_view path);
  ::errand::Task<Result<std::unique_ptr<net::ClientStream>>> open(Verb verb, json::Object params,
                                                                  Interface at,
                                                                  std::string traceparent = {});
  Error failed_with(const Interface& at, int status);

  const ClientDeps deps_;
  const AgentAddress agent_;
  std::optional<AgentCard> card_;
  SteadyTime card_expires_{};
  std::optional<std::size_t> path_;  // of kPaths, once the agent has answered there
  std::int64_t last_id_ = 0;
};

}  // namespace errand::a2a
