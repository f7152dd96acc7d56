#include "room/client/room_client.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "crypto/random.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "room/client/waiting_request.hpp"

namespace errand::room {
namespace {

// Whether another attempt would get the same refusal.
bool is_final(const Error& error) {
  switch (error.code()) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unauthorized:
    case ErrorCode::forbidden:
    case ErrorCode::not_found:
    case ErrorCode::unsupported: return true;
    default: return false;
  }
}

// Spreads the pauses, so that clients that lost the same server do not reconnect at the same
// moment.
milliseconds shortened(milliseconds pause) {
  const auto half = pause.count() / 2;
  if (half <= 0) return pause;
  const auto random = static_cast<std::int64_t>(crypto::random_bits() >> 2U);
  return milliseconds(half + random % (half + 1));
}

json::Object messaging_call(std::string_view tool, json::Object arguments) {
  return {{"toolkit", "messaging"},
          {"tool", tool},
          {"arguments", json_content(std::move(arguments)).header}};
}

}  // namespace

RoomClient::RoomClient(Deps deps, Options options)
    : deps_(std::move(deps)),
      options_(std::move(options)),
      living_(deps_.home, deps_.on_bug),
      tasks_(deps_.home, deps_.on_bug) {}

RoomClient::~RoomClient() {
  for (auto& [id, call] : calls_) call->client_ = nullptr;
}

void RoomClient::start() {
  living_.spawn("room.live", live());
}

Task<void> RoomClient::stop() {
  is_stopping_ = true;
  leaving_.raise();
  lose({ErrorCode::cancelled, "the participant has left the room"});
  co_await tasks_.stop(CancelReason::shutdown);
  if (auto connection = connection_) connection->close();
  co_await living_.join();
  end_for_good({ErrorCode::cancelled, "the participant has left the room"});
}

// ---- Joining ------------------------------------------------------------------------------------

Task<void> RoomClient::live() {
  milliseconds pause = options_.limits.pause_first;
  while (!is_stopping_) {
    auto opened = co_await options_.connector->connect(&leaving_);
    if (opened) {
      const std::shared_ptr<Connection> connection = *opened;
      Error end = co_await converse(connection);
      if (phase_ == Phase::joined) pause = options_.limits.pause_first;
      lose(end);
      connection_ = nullptr;
      co_await connection->finish();
      last_error_ = std::move(end);
    } else {
      last_error_ = opened.error();
    }
    if (is_stopping_) co_return;
    if (is_final(*last_error_)) co_return end_for_good(*last_error_);
    changed();
    co_await deps_.timers.sleep_until(deps_.timers.now() + shortened(pause), &leaving_);
    pause = std::min(pause * 2, options_.limits.pause_max);
  }
}

// Reads messages until the connection is over, and returns why it ended.
Task<Error> RoomClient::converse(std::shared_ptr<Connection> connection) {
  connection_ = connection;
  is_connected_ = false;
  is_ready_ = false;
  std::optional<TimerGuard> greeting;
  greeting.emplace(deps_.timers, deps_.timers.now() + options_.limits.greeting_max,
                   [connection] { connection->close(); });
  if (is_stopping_) connection->close();
  for (;;) {
    auto message = co_await connection->read();
    if (!message) co_return std::move(message).error();
    receive(*message);
    if (phase_ != Phase::apart) greeting.reset();
  }
}

// Does what a connection needs before others may rely on the participant.
Task<void> RoomClient::settle(std::shared_ptr<Connection> connection) {
  if (options_.wants_messages) {
    // Without the grant there are no messages, but everything else works.
    [[maybe_unused]] auto enabled =
        co_await request("room.invoke_tool", messaging_call("enable", {}));
  }
  std::vector<std::uint64_t> handles;
  for (const auto& [handle, hosted] : hosted_) handles.push_back(handle);
  for (std::uint64_t handle : handles) {
    auto registered = co_await register_one(handle);
    if (connection_ != connection) co_return;
    if (!registered) tasks_.spawn("room.register", register_again(handle, connection));
  }
  if (connection_ != connection || phase_ != Phase::greeted) co_return;
  phase_ = Phase::joined;
  changed();
}

Task<Result<void>> RoomClient::register_one(std::uint64_t handle) {
  auto found = hosted_.find(handle);
  if (found == hosted_.end()) co_return Result<void>();
  const std::shared_ptr<HostedToolkit> toolkit = found->second.toolkit;
  ERRAND_CO_TRY(Content answer, co_await request("room.register_toolkit", toolkit->registration()));
  const json::Object* made = json::object_at(&answer.header, "json");
  std::string id(json::text_at(made, "id"));
  found = hosted_.find(handle);
  if (found != hosted_.end()) {
    found->second.registration = std::move(id);
    co_return Result<void>();
  }
  ERRAND_CO_CHECK(co_await request("room.unregister_toolkit", {{"id", id}}));
  co_return Result<void>();
}

// Another participant may have taken the name meanwhile, and may leave again.
Task<void> RoomClient::register_again(std::uint64_t handle,
                                      std::shared_ptr<Connection> connection) {
  milliseconds pause = options_.limits.pause_first;
  for (;;) {
    co_await deps_.timers.sleep_until(deps_.timers.now() + shortened(pause));
    pause = std::min(pause * 2, options_.limits.pause_max);
    if (connection_ != connection) co_return;
    auto registered = co_await register_one(handle);
    if (registered) co_return;
  }
}

// Called when the connection is over: requests on it fail, because no answer can come.
void RoomClient::lose(const Error& why) {
  if (phase_ != Phase::over) phase_ = Phase::apart;
  const Error unknown(ErrorCode::outcome_unknown,
                      cat("the connection to the room was lost: ", why.message()));
  for (auto& [id, waiting] : std::exchange(waiting_, {})) waiting->settle(unknown);
  answers_due_.clear();
  for (auto& [id, call] : std::exchange(calls_, {})) call->fail(unknown);
  for (auto& [id, taken] : std::exchange(taken_, {})) tasks_.cancel_one(taken.task);
  for (auto& [handle, hosted] : hosted_) hosted.registration.clear();
  peers_.clear();
}

void RoomClient::end_for_good(Error why) {
  last_error_ = std::move(why);
  phase_ = Phase::over;
  changed();
}

void RoomClient::changed() {
  for (Wakeup* bell : joining_) bell->notify();
}

Task<Result<void>> RoomClient::joined(SteadyTime deadline) {
  Wakeup bell(deps_.home);
  struct Listed {
    std::set<Wakeup*>& all;
    Wakeup* me;
    ~Listed() { all.erase(me); }
  };
  joining_.insert(&bell);
  Listed listed{joining_, &bell};
  for (;;) {
    if (phase_ == Phase::joined) co_return Result<void>();
    if (phase_ == Phase::over) co_return *last_error_;
    Wakeup::Woken woken = co_await bell.wait_until(deadline);
    if (woken == Wakeup::Woken::timed_out && phase_ != Phase::joined && phase_ != Phase::over) {
      co_return Error(ErrorCode::timeout,
                      cat("the room could not be joined in time",
                          last_error_ ? cat(": ", last_error_->message()) : ""));
    }
  }
}

Error RoomClient::not_connected() const {
  if (phase_ == Phase::over && last_error_) return *last_error_;
  return {ErrorCode::unavailable, cat("there is no connection to the room at the moment",
                                      last_error_ ? cat(": ", last_error_->message()) : "")};
}

// ---- Requests -----------------------------------------------------------------------------------

std::uint64_t RoomClient::post(std::string_view type, const json::Object& header,
                               std::string bytes) {
  Message message{
      .id = ++last_id_, .type = std::string(type), .header = "", .attachment = std::move(bytes)};
  json::write(message.header, header);
  const std::uint64_t id = message.id;
  connection_->send(message);
  return id;
}

Result<void> RoomClient::may_ask() const {
  const bool is_there = phase_ == Phase::greeted || phase_ == Phase::joined;
  if (!is_there || is_stopping_) return not_connected();
  if (waiting_.size() + answers_due_.size() < options_.limits.requests_max) return {};
  return Error(ErrorCode::unavailable, "too many requests to the room are in flight");
}

Task<Result<Content>> RoomClient::request(std::string type, json::Object header,
                                          std::string bytes) {
  ERRAND_CO_CHECK(may_ask());
  WaitingRequest waiting(deps_.home);
  // The answer may arrive inside the call that sends the request.
  const std::uint64_t id = last_id_ + 1;
  WaitingRequest::Entry entry(waiting_, id, waiting);
  post(type, header, std::move(bytes));
  Result<Content> answer = co_await waiting.result();
  if (!answer) co_return answer;
  if (kind_of(answer->header) == ContentKind::error) co_return error_of(answer->header);
  co_return answer;
}

Result<RoomCallPtr> RoomClient::invoke(InvokeParams params) {
  ERRAND_CHECK(may_ask());
  std::string id = cat("errand-", ++last_call_);
  json::Object header{{"toolkit", params.toolkit}, {"tool", params.tool}, {"tool_call_id", id}};
  header["arguments"] = params.arguments.header;
  if (!params.participant_id.empty()) header["participant_id"] = params.participant_id;
  if (!params.on_behalf_of_id.empty()) header["on_behalf_of_id"] = params.on_behalf_of_id;
  if (!params.caller_context.empty()) header["caller_context"] = params.caller_context;
  if (!params.traceparent.empty()) {
    header["__meshagent__"] = {{"v", 1}, {"otel", {{"traceparent", params.traceparent}}}};
  }
  std::string bytes = params.arguments.bytes;
  RoomCallPtr call(new RoomCall(*this, deps_.home, id, std::move(params)));
  calls_.emplace(std::move(id), call.get());
  answers_due_.emplace(last_id_ + 1, call.get());
  post("room.invoke_tool", header, std::move(bytes));
  return call;
}

Task<Result<Content>> RoomClient::call(InvokeParams params) {
  ERRAND_CO_TRY(RoomCallPtr made, invoke(std::move(params)));
  ERRAND_CO_TRY(Content answer, co_await made->answer());
  if (kind_of(answer.header) == ContentKind::error) co_return error_of(answer.header);
  if (!is_open(answer.header)) co_return answer;
  co_return Error(ErrorCode::unsupported, "the tool answers with a stream");
}

void RoomClient::give_up(RoomCall& call) {
  calls_.erase(call.id_);
  std::erase_if(answers_due_, [&call](const auto& due) { return due.second == &call; });
  if (!call.is_over()) {
    post_chunk(call.id_, close_content(kCallerGone, "the caller has given the call up"));
  }
}

Task<Result<Content>> RoomClient::send_chunk(std::string call_id, Content chunk) {
  json::Object header{{"tool_call_id", call_id}};
  header["chunk"] = std::move(chunk.header);
  return request("room.tool_call_request_chunk", std::move(header), std::move(chunk.bytes));
}

void RoomClient::post_chunk(const std::string& call_id, Content chunk) {
  if (!may_ask()) return;
  json::Object header{{"tool_call_id", call_id}};
  header["chunk"] = std::move(chunk.header);
  post("room.tool_call_request_chunk", header, std::move(chunk.bytes));
}

// ---- What rooms offer ---------------------------------------------------------------------------

Task<Result<std::uint64_t>> RoomClient::host(std::shared_ptr<HostedToolkit> toolkit) {
  ERRAND_CO_CHECK(may_ask());
  const std::uint64_t handle = ++last_handle_;
  const json::Object offered = toolkit->registration();
  std::string name(json::text_at(&offered, "name"));
  hosted_.emplace(handle, Hosted{.toolkit = std::move(toolkit), .name = std::move(name)});
  auto registered = co_await register_one(handle);
  if (registered) co_return handle;
  hosted_.erase(handle);
  co_return std::move(registered).error();
}

Task<Result<void>> RoomClient::unhost(std::uint64_t handle) {
  auto found = hosted_.find(handle);
  if (found == hosted_.end()) co_return Result<void>();
  // Calls that arrive before the room's answer are served nevertheless.
  const std::string registration = found->second.registration;
  Result<void> done;
  if (!registration.empty()) {
    auto removed = co_await request("room.unregister_toolkit", {{"id", registration}});
    if (!removed) done = std::move(removed).error();
  }
  hosted_.erase(handle);
  co_return done;
}

Task<Result<std::vector<ListedToolkit>>> RoomClient::list(ListToolkits which) {
  json::Object header;
  if (!which.participant_id.empty()) header["participant_id"] = which.participant_id;
  if (!which.participant_name.empty()) {
    header["participant_name"] = which.participant_name;
    header["timeout"] = 0;
  }
  ERRAND_CO_TRY(Content answer, co_await request("room.list_toolkits", std::move(header)));
  const json::Object* tools = json::object_at(json::object_at(&answer.header, "json"), "tools");
  std::vector<ListedToolkit> out;
  for (const auto& member : tools ? *tools : json::Object()) {
    const json::Object* listed = member.value().if_object();
    if (!listed) continue;
    out.push_back({.name = std::string(member.key().data(), member.key().size()),
                   .participant_id = std::string(json::text_at(listed, "participant_id")),
                   .members = *listed});
  }
  co_return out;
}

Task<Result<void>> RoomClient::send(SendParams params) {
  json::Object arguments{{"type", params.type},
                         {"message_json", json::write(json::Value(std::move(params.message)))}};
  if (!params.to.empty()) arguments["to_participant_id"] = params.to;
  if (!params.attachment.empty()) arguments["attachment_base64"] = to_base64(params.attachment);
  ERRAND_CO_CHECK(co_await request(
      "room.invoke_tool",
      messaging_call(params.to.empty() ? "broadcast" : "send", std::move(arguments))));
  co_return Result<void>();
}

}  // namespace errand::room
