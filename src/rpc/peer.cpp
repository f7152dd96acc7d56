#include "rpc/peer.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "async/read_aside.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::rpc {
namespace {

constexpr std::string_view kCancelled = "notifications/cancelled";
constexpr std::string_view kProgress = "notifications/progress";
constexpr std::size_t kEndBytes = 4096;  // of a message that is not parsed, to find its id
constexpr int kMessagesAtOnce = 32;      // then other work of the home gets its turn

SteadyTime after(SteadyTime start, milliseconds time) {
  auto left = std::chrono::duration_cast<milliseconds>(SteadyTime::max() - start);
  return time >= left ? SteadyTime::max() : start + time;
}

std::optional<double> number_at(const json::Object& from, std::string_view key) {
  const json::Value* value = from.if_contains(key);
  if (!value || !value->is_number()) return {};
  return value->to_number<double>();
}

const json::Value* progress_token_of(const json::Object& params) {
  const json::Object* meta = json::object_at(&params, "_meta");
  return meta ? meta->if_contains("progressToken") : nullptr;
}

Error closed() {
  return Error(ErrorCode::unavailable, "the connection is closed").reason("closed");
}

// A request that was sent may have been carried out, whatever happened to the connection.
Error unknown_outcome(const Error& why) {
  if (why.code() != ErrorCode::unavailable) return why;
  return Error(ErrorCode::outcome_unknown, cat("no answer came: ", why.message()))
      .reason(why.reason());
}

// The text that is still to be parsed; null if there is none.
std::string* text_of(Received& received) {
  if (auto* text = std::get_if<std::string>(&received)) return text;
  auto* beside = std::get_if<Beside>(&received);
  return beside ? &beside->text : nullptr;
}

}  // namespace

// A request of ours. It lives in the coroutine frame of its call.
struct Peer::Call {
  Call(const Executor& home, std::int64_t number, CallOptions given)
      : id(number),
        options(std::move(given)),
        started(std::chrono::steady_clock::now()),
        heard(started),
        bell(home) {}

  SteadyTime deadline() const {
    if (pauses > 0) return SteadyTime::max();
    return std::min(after(heard, options.silence_max), after(started, options.total_max));
  }

  const std::int64_t id;
  const CallOptions options;
  SteadyTime started;
  SteadyTime heard;
  int pauses = 0;
  SteadyTime paused_at{};
  double progress = -1;
  bool is_sent = false;
  std::optional<Result<Answer>> outcome;
  Wakeup bell;
};

// Removes every trace of a call, however the call ends.
class Peer::CallScope final {
 public:
  CallScope(Peer& peer, Call& call)
      : peer_(peer),
        call_(call),
        waiting_(call.options.interrupt, [&call] { call.bell.notify(); }) {
    peer_.calls_[call.id] = &call;
  }
  ~CallScope() {
    peer_.calls_.erase(call_.id);
    if (!call_.is_sent) return;
    bool is_abandoned = !call_.outcome && !peer_.end_;
    if (is_abandoned && call_.options.on_abandon == CallOptions::OnAbandon::tell_peer) {
      // If the connection takes no more, it is about to end anyway.
      (void)peer_.notify(std::string(kCancelled), {{"requestId", call_.id}});
    }
    peer_.connection_.settled(call_.id);
  }
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  Peer& peer_;
  Call& call_;
  Interrupt::Scope waiting_;
};

// A request of the other side.
struct Peer::Served {
  Interrupt interrupt;
  const void* owner = nullptr;
};

Peer::Pause::Pause(Peer& peer, const void* owner) : peer_(peer), owner_(owner) {
  if (!owner_) return;
  for (auto& [id, call] : peer_.calls_) {
    if (call->options.owner != owner_ || call->pauses++ > 0) continue;
    call->paused_at = std::chrono::steady_clock::now();
  }
}

// Calls that were made during the pause were not paused.
Peer::Pause::~Pause() {
  if (!owner_) return;
  for (auto& [id, call] : peer_.calls_) {
    bool is_over = call->options.owner == owner_ && call->pauses > 0 && --call->pauses == 0;
    if (!is_over) continue;
    auto paused = std::chrono::steady_clock::now() - call->paused_at;
    call->started += paused;
    call->heard += paused;
    call->bell.notify();
  }
}

class Peer::ServedScope final {
 public:
  ServedScope(Peer& peer, Id id) : peer_(peer), id_(std::move(id)) {}
  ~ServedScope() {
    peer_.served_.erase(id_);
    if (!is_answered_) peer_.connection_.dropped(id_);
    if (peer_.served_.empty() && peer_.finishing_) peer_.finishing_->notify();
  }
  ServedScope(const ServedScope&) = delete;
  ServedScope& operator=(const ServedScope&) = delete;

  void answer(Answer answer) {
    is_answered_ = true;
    peer_.send_answer(id_, std::move(answer));
  }

 private:
  Peer& peer_;
  const Id id_;
  bool is_answered_ = false;
};

void ServedRequest::report(const Progress& progress) {
  if (!progress_token_) return;
  json::Object params{{"progressToken", *progress_token_}, {"progress", progress.progress}};
  if (progress.total) params["total"] = *progress.total;
  if (!progress.message.empty()) params["message"] = progress.message;
  notify(std::string(kProgress), std::move(params));
}

Task<Result<Answer>> ServedRequest::call(std::string method, json::Object params,
                                         CallOptions options) {
  options.belongs_to = id_;
  if (!options.interrupt) options.interrupt = &interrupt_;
  return peer_.call(std::move(method), std::move(params), std::move(options));
}

void ServedRequest::notify(std::string method, json::Object params) {
  // A notification that cannot be sent is dropped, because the answer will say the same.
  (void)peer_.notify(std::move(method), std::move(params), id_);
}

Peer::Peer(Executor home, Connection& connection, Handler& handler, TaskGroup::OnBug on_bug,
           PeerOptions options)
    : home_(std::move(home)),
      connection_(connection),
      handler_(handler),
      options_(options),
      batches_(options.batches),
      tasks_(home_, std::move(on_bug)) {}

void Peer::start() {
  tasks_.spawn("rpc.pump", pump());
}

Task<Result<Answer>> Peer::call(std::string method, json::Object params, CallOptions options) {
  if (end_) co_return *end_;
  if (has_input_ended_) co_return closed();
  if (options.interrupt && options.interrupt->is_raised()) {
    co_return Error(ErrorCode::cancelled, "the request was cancelled");
  }
  if (calls_.size() >= options_.calls_max) {
    co_return Error(ErrorCode::rate_limited, "too many requests wait for their answers")
        .limit("callsInFlight", static_cast<std::int64_t>(options_.calls_max));
  }
  Call call(home_, ++last_id_, std::move(options));
  CallScope scope(*this, call);
  if (call.options.on_progress) {
    if (!params["_meta"].is_object()) params["_meta"] = json::Object();
    params["_meta"].as_object()["progressToken"] = call.id;
  }
  Request request{.id = call.id, .method = std::move(method), .params = std::move(params)};
  std::string text = write(request);
  Outgoing message{.text = std::move(text),
                   .method = std::move(request.method),
                   .id = call.id,
                   .belongs_to = call.options.belongs_to,
                   .params = std::move(request.params)};
  ERRAND_CO_CHECK(connection_.send(std::move(message)));
  call.is_sent = true;
  while (!call.outcome) {
    co_await call.bell.wait_until(call.deadline());
    if (call.outcome) break;
    if (call.options.interrupt && call.options.interrupt->is_raised()) {
      co_return Error(ErrorCode::cancelled, "the request was cancelled");
    }
    if (std::chrono::steady_clock::now() >= call.deadline()) {
      co_return Error(ErrorCode::timeout, "no answer came in time").reason("call_timeout");
    }
  }
  co_return std::move(*call.outcome);
}

Result<void> Peer::notify(std::string method, json::Object params, std::optional<Id> belongs_to) {
  if (end_) return *end_;
  Notification notification{.method = std::move(method), .params = std::move(params)};
  std::string text = write(notification);
  return connection_.send({.text = std::move(text),
                           .method = std::move(notification.method),
                           .belongs_to = std::move(belongs_to)});
}

Task<void> Peer::stop() {
  fail_all(closed());
  connection_.close();
  co_await tasks_.stop(CancelReason::shutdown);
  co_await connection_.join();
}

Task<void> Peer::pump() {
  for (int taken = 1;; ++taken) {
    auto received = co_await connection_.receive();
    if (received && !*received) co_await finish_served();
    if (!received || !*received) {
      Error why = received ? closed() : std::move(received).error();
      connection_.close();
      fail_all(why);
      for (auto& [id, served] : served_) served->interrupt.raise();
      handler_.ended(why);
      co_return;
    }
    std::string* text = text_of(**received);
    if (text && text->size() > kBytesInABreath) {
      const void* owner = owner_of(**received);
      co_await take_long(std::move(*text), owner);
    } else {
      take(std::move(**received));
    }
    if (taken % kMessagesAtOnce == 0) co_await asio::post(use_task);
  }
}

// The other side may have closed only its sending direction, so its requests are still answered.
Task<void> Peer::finish_served() {
  has_input_ended_ = true;
  for (auto& [id, call] : calls_) settle(id, unknown_outcome(closed()));
  if (options_.finish_time == milliseconds(0)) co_return;
  Wakeup idle(home_);
  finishing_ = &idle;
  SteadyTime deadline = std::chrono::steady_clock::now() + options_.finish_time;
  while (!served_.empty()) {
    Wakeup::Woken woken = co_await idle.wait_until(deadline);
    if (woken == Wakeup::Woken::timed_out) break;
  }
  finishing_ = nullptr;
  co_await connection_.flush();
}

// The call that a message belongs to, if its sender has said so.
const void* Peer::owner_of(const Received& received) const {
  const auto* beside = std::get_if<Beside>(&received);
  const auto* number = beside ? std::get_if<std::int64_t>(&beside->request) : nullptr;
  auto call = number ? calls_.find(*number) : calls_.end();
  return call == calls_.end() ? nullptr : call->second->options.owner;
}

void Peer::take(Received received) {
  if (const std::string* text = text_of(received)) {
    take_read(*text, read_messages(*text, batches_), owner_of(received));
  } else if (auto* message = std::get_if<Incoming>(&received)) {
    take(std::move(*message));
  } else if (auto* oversized = std::get_if<Oversized>(&received)) {
    take_oversized(*oversized);
  } else {
    auto& lost = std::get<Lost>(received);
    settle(lost.id, std::move(lost.error));
  }
}

// Messages are taken in the order in which they arrive, so the next message waits for this one.
Task<void> Peer::take_long(std::string text, const void* owner) {
  auto read = [batches = batches_](std::string_view all) { return read_messages(all, batches); };
  auto messages = co_await read_aside(&text, options_.pool, read);
  const bool is_refused = !messages && messages.error().code() == ErrorCode::unavailable;
  if (is_refused) messages = read(text);
  take_read(text, std::move(messages), owner);
}

void Peer::take_read(std::string_view text, Result<std::vector<Incoming>> messages,
                     const void* owner) {
  if (messages) {
    for (Incoming& message : *messages) take(std::move(message), owner);
    return;
  }
  const std::size_t end = std::min(kEndBytes, text.size());
  fail_answer(
      text.substr(0, end), text.substr(text.size() - end),
      Error(ErrorCode::too_large, cat("the answer is too large: ", messages.error().message()))
          .reason("answer_too_large"));
}

void Peer::take(Incoming message, const void* owner) {
  if (auto* request = std::get_if<Request>(&message)) {
    return take_request(std::move(*request), owner);
  }
  if (auto* told = std::get_if<Notification>(&message)) return take_notification(std::move(*told));
  if (auto* response = std::get_if<Response>(&message)) return take_response(std::move(*response));
  take_malformed(std::get<Malformed>(message));
}

void Peer::take_request(Request request, const void* owner) {
  if (served_.contains(request.id)) {
    return send_answer({}, RpcError{.code = code::kInvalidRequest,
                                    .message = "a request with this id is unanswered"});
  }
  if (served_.size() >= options_.served_max) {
    return send_answer(request.id, RpcError{.code = code::kOverloaded,
                                            .message = "too many requests are unanswered"});
  }
  auto served = std::make_shared<Served>();
  served->owner = owner;
  served_[request.id] = served;
  tasks_.spawn("rpc.serve", serve(std::move(request), std::move(served)));
}

Task<void> Peer::serve(Request request, std::shared_ptr<Served> of) {
  Id id = request.id;
  ServedScope scope(*this, id);
  std::optional<json::Value> token;
  if (const json::Value* wanted = progress_token_of(request.params)) token = *wanted;
  Interrupt& interrupt = of->interrupt;
  if (interrupt.is_raised()) co_return;
  ServedRequest served(*this, id, interrupt, std::move(token), of->owner);
  Answer answer = co_await handler_.handle(std::move(request), &served);
  if (!interrupt.is_raised()) scope.answer(std::move(answer));
}

void Peer::take_notification(Notification notification) {
  if (notification.method == kCancelled) {
    const json::Value* of = notification.params.if_contains("requestId");
    auto id = of ? parse_id(*of) : std::nullopt;
    auto found = id ? served_.find(*id) : served_.end();
    if (found != served_.end()) found->second->interrupt.raise();
    return;
  }
  if (notification.method != kProgress) return handler_.notice(std::move(notification));
  auto token = json::integer_at(&notification.params, "progressToken");
  auto progress = number_at(notification.params, "progress");
  auto found = token ? calls_.find(*token) : calls_.end();
  // Progress that does not rise must not keep a call alive.
  if (found == calls_.end() || !progress || *progress <= found->second->progress) return;
  Call& call = *found->second;
  call.progress = *progress;
  call.heard = std::chrono::steady_clock::now();
  call.bell.notify();
  if (!call.options.on_progress) return;
  call.options.on_progress(
      {.progress = *progress,
       .total = number_at(notification.params, "total"),
       .message = std::string(json::text_at(&notification.params, "message"))});
}

void Peer::take_response(Response response) {
  if (response.id) return settle(*response.id, std::move(response.answer));
  if (Call* call = only_call()) settle(call->id, std::move(response.answer));
}

void Peer::take_malformed(const Malformed& message) {
  if (message.kind == Malformed::Kind::request) {
    bool is_noise = message.error.code == code::kParseError;
    if (is_noise && options_.noise == PeerOptions::Noise::ignored) return;
    send_answer(message.id, message.error);
    return;
  }
  if (!message.id) return;
  settle(*message.id, Error(ErrorCode::unsupported,
                            cat("the answer cannot be understood: ", message.error.message))
                          .reason("bad_response"));
}

void Peer::take_oversized(const Oversized& message) {
  fail_answer(message.head, message.tail,
              Error(ErrorCode::too_large, cat("the answer is too large: ", message.bytes, " bytes"))
                  .reason("answer_too_large"));
}

// Handles a message that is too long to be parsed: the call that it answers fails, if the message's
// ends show which call that is.
void Peer::fail_answer(std::string_view head, std::string_view tail, Error why) {
  auto id = find_response_id(head, tail);
  if (id) return settle(*id, std::move(why));
  if (Call* call = only_call()) return settle(call->id, std::move(why));
  connection_.close();
}

void Peer::settle(const Id& id, Result<Answer> outcome) {
  const auto* number = std::get_if<std::int64_t>(&id);
  auto found = number ? calls_.find(*number) : calls_.end();
  if (found == calls_.end() || found->second->outcome) return;
  found->second->outcome = std::move(outcome);
  found->second->bell.notify();
}

void Peer::fail_all(const Error& why) {
  if (end_) return;
  end_ = why;
  for (auto& [id, call] : calls_) settle(id, call->is_sent ? unknown_outcome(why) : why);
}

void Peer::send_answer(std::optional<Id> id, Answer answer) {
  if (end_) return;
  std::optional<std::int64_t> code;
  if (const auto* error = std::get_if<RpcError>(&answer)) code = error->code;
  std::string text = write(Response{.id = id, .answer = std::move(answer)});
  auto sent =
      connection_.send({.text = std::move(text), .answers = std::move(id), .error_code = code});
  // If the peer does not read its answers, it has no more use for the connection.
  if (!sent) connection_.close();
}

Peer::Call* Peer::only_call() {
  return calls_.size() == 1 ? calls_.begin()->second : nullptr;
}

}  // namespace errand::rpc
