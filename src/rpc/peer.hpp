#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "async/blocking_pool.hpp"
#include "async/interrupt.hpp"
#include "async/task_group.hpp"
#include "base/clock.hpp"
#include "rpc/connection.hpp"

namespace errand::rpc {

// How far a request has got, as the other side tells.
struct Progress {
  double progress = 0;
  std::optional<double> total = {};
  std::string message = {};

  friend bool operator==(const Progress&, const Progress&) = default;
};

struct CallOptions {
  static constexpr milliseconds kNone = milliseconds::max();

  milliseconds silence_max = seconds(60);  // since the request, or its last progress
  milliseconds total_max = kNone;
  std::function<void(const Progress&)> on_progress = {};  // set: progress is asked for
  Interrupt* interrupt = nullptr;                         // raised: the call ends as cancelled
  // initialize may not be cancelled by MCP's rules.
  enum class OnAbandon : std::uint8_t { tell_peer, say_nothing };
  OnAbandon on_abandon = OnAbandon::tell_peer;
  std::optional<Id> belongs_to = {};  // see Outgoing
  const void* owner = nullptr;        // for whom the call is made, where that matters
};

class Peer;

// A request of the other side that is being answered.
class ServedRequest final {
 public:
  ServedRequest(Peer& peer, Id id, Interrupt& interrupt, std::optional<json::Value> progress_token,
                const void* owner)
      : peer_(peer),
        id_(std::move(id)),
        interrupt_(interrupt),
        progress_token_(std::move(progress_token)),
        owner_(owner) {}

  const Id& id() const { return id_; }
  // The owner of the call of ours that the request came about from; null: that is not known.
  const void* owner() const { return owner_; }
  // Raised when the other side no longer wants the answer, which is not sent then.
  Interrupt& interrupt() { return interrupt_; }
  // No effect if the other side has not asked for progress.
  void report(const Progress& progress);
  // Requests and notifications to the other side that belong to its request.
  Task<Result<Answer>> call(std::string method, json::Object params, CallOptions options = {});
  void notify(std::string method, json::Object params);

 private:
  Peer& peer_;
  const Id id_;
  Interrupt& interrupt_;
  std::optional<json::Value> progress_token_;
  const void* const owner_;
};

// What the other side may ask and tell. Called on the peer's home.
class Handler {
 public:
  virtual ~Handler() = default;
  // `served` lives until the task ends.
  virtual Task<Answer> handle(Request request, ServedRequest* served) = 0;
  virtual void notice(Notification /*notification*/) {}
  // The connection is over; every call has failed.
  virtual void ended(const Error& /*why*/) {}
};

struct PeerOptions {
  // What becomes of text that is not JSON. A client ignores it: programs print all kinds of things.
  enum class Noise : std::uint8_t { ignored, answered };

  std::size_t calls_max = 256;  // unanswered; beyond, call() refuses
  std::size_t served_max = 64;  // of the other side; beyond, they get kOverloaded
  Batches batches = Batches::refused;
  Noise noise = Noise::ignored;
  // After the other side has closed: how long its last requests may go on to be answered.
  milliseconds finish_time = milliseconds(0);
  // Where long texts are read; null: at home. Outlives the peer.
  BlockingPool* pool = nullptr;
};

// Both roles of JSON-RPC 2.0 on one connection. Progress and cancellation go as in MCP: by
// `notifications/progress` with a token, and by `notifications/cancelled`. Lives on one home, and
// outlives its calls. Must be stopped before it is destroyed, once it has been started.
class Peer final {
 public:
  Peer(Executor home, Connection& connection, Handler& handler, TaskGroup::OnBug on_bug,
       PeerOptions options = {});
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void start();

  // The other side's answer. A task that is cancelled tells the other side so.
  // unavailable: the request was not sent. outcome_unknown: it was sent, and the connection ended.
  // timeout, cancelled: as the options say. too_large: the answer, or what waits to be sent.
  // rate_limited: calls_max. unsupported with the reason bad_response: the answer is no answer.
  Task<Result<Answer>> call(std::string method, json::Object params, CallOptions options = {});
  Result<void> notify(std::string method, json::Object params, std::optional<Id> belongs_to = {});

  // As long as this lives, the time of the calls of one owner stands still: the other side waits
  // for us. Null: of no call.
  class Pause final {
   public:
    Pause(Peer& peer, const void* owner);
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    Peer& peer_;
    const void* const owner_;
  };

  // For protocols that settle this only when both sides have met.
  void set_batches(Batches batches) { batches_ = batches; }

  // Why no more calls are possible; nothing while they are.
  const std::optional<Error>& end() const { return end_; }
  std::size_t calls() const { return calls_.size(); }

  // Closes the connection, fails every call and ends every handler.
  Task<void> stop();

 private:
  struct Call;
  struct Served;
  class CallScope;
  class ServedScope;

  Task<void> pump();
  Task<void> finish_served();
  Task<void> serve(Request request, std::shared_ptr<Served> of);
  void take(Received received);
  void take(Incoming message, const void* owner = nullptr);
  void take_request(Request request, const void* owner);
  void take_notification(Notification notification);
  void take_response(Response response);
  void take_malformed(const Malformed& message);
  Task<void> take_long(std::string text, const void* owner);
  void take_read(std::string_view text, Result<std::vector<Incoming>> messages, const void* owner);
  const void* owner_of(const Received& received) const;
  void take_oversized(const Oversized& message);
  void fail_answer(std::string_view head, std::string_view tail, Error why);
  void settle(const Id& id, Result<Answer> outcome);
  void fail_all(const Error& why);
  void send_answer(std::optional<Id> id, Answer answer);
  Call* only_call();

  const Executor home_;
  Connection& connection_;
  Handler& handler_;
  const PeerOptions options_;
  Batches batches_;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, Call*> calls_;
  std::map<Id, std::shared_ptr<Served>> served_;
  Wakeup* finishing_ = nullptr;  // rung when no request of the other side is left
  bool has_input_ended_ = false;
  std::optional<Error> end_;
  TaskGroup tasks_;
};

}  // namespace errand::rpc
