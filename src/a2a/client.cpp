#include "a2a/client.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"
#include "net/client/sse_reader.hpp"
#include "net/client/whole_answer.hpp"
#include "net/url.hpp"

namespace errand::a2a {
namespace {

template <class T>
using Async = ::errand::Task<T>;

constexpr std::string_view kWellKnown = "/.well-known/agent-card.json";
constexpr std::string_view kOldWellKnown = "/.well-known/agent.json";  // before version 0.3

// A task may take any time; its call has a deadline of its own.
constexpr net::ClientTimeouts kPatient{.first_byte = net::ClientTimeouts::kNone,
                                       .idle = net::ClientTimeouts::kNone,
                                       .total = net::ClientTimeouts::kNone};

constexpr int kAnswerTimes = 4;  // a request about a task may take this many answer times

Error status_error(std::string_view url, int status) {
  const ErrorCode code = status == 404 ? ErrorCode::not_found : net::code_of_status(status);
  auto parsed = net::parse_url(url);
  return Error(code, cat("the agent at ", parsed ? parsed->endpoint() : std::string(url),
                         " answers with HTTP status ", status))
      .reason(cat("http_", status));
}

Error to_error(const rpc::RpcError& error) {
  auto code = ErrorCode::unsupported;
  if (error.code == code::kTaskNotFound) code = ErrorCode::not_found;
  if (error.code == rpc::code::kInvalidParams) code = ErrorCode::invalid_argument;
  if (error.code == rpc::code::kInternalError) code = ErrorCode::unavailable;
  return Error(code, cat("the agent answers with error ", error.code, ": ",
                         utf8_prefix(error.message, 1000)))
      .reason("agent_error");
}

// Whether the agent may have carried out the request although no answer came.
bool may_have_been_sent(const Error& error) {
  if (error.code() == ErrorCode::timeout || error.code() == ErrorCode::too_large) return true;
  return error.code() == ErrorCode::unavailable && error.reason() != "connect_failed" &&
         error.reason() != "lookup_failed" && !error.reason().starts_with("tls_") &&
         error.reason() != "agent_error";
}

// The result of a JSON-RPC answer.
Result<json::Value> result_of(std::string_view text) {
  auto messages = rpc::read_messages(text, rpc::Batches::refused);
  if (!messages) {
    return Error(ErrorCode::too_large,
                 cat("the agent's answer is too large: ", messages.error().message()));
  }
  for (rpc::Incoming& one : *messages) {
    auto* response = std::get_if<rpc::Response>(&one);
    if (!response) break;
    if (const auto* error = std::get_if<rpc::RpcError>(&response->answer)) return to_error(*error);
    return std::move(std::get<json::Value>(response->answer));
  }
  return Error(ErrorCode::unsupported, "the agent's answer is not one of JSON-RPC")
      .reason("bad_response");
}

// The headers hold credentials for the origin of the card. The card may name other origins, which
// must not get them.
Result<void> keep_interfaces_at(const net::Url& origin, AgentCard& card) {
  const std::string foreign = card.interfaces.front().url;
  std::erase_if(card.interfaces, [&origin](const Interface& one) {
    auto url = net::parse_url(one.url);
    return !url || !net::is_same_origin(origin, *url);
  });
  if (!card.interfaces.empty()) return {};
  return Error(ErrorCode::unsupported,
               cat("the agent takes messages at ", foreign,
                   ", which is another origin than that of its card; headers are not sent there"))
      .reason("foreign_interface")
      .hint("name the agent by a card at the origin where it takes messages");
}

// Whether the call that follows the task has no further use for it.
bool is_end_of_call(const Error& error) {
  return error.code() == ErrorCode::cancelled || error.code() == ErrorCode::too_large;
}

bool is_at_rest(TaskState state) {
  return is_terminal(state) || is_interrupted(state);
}

}  // namespace

// What is known of a task so far.
class Client::Following final {
 public:
  explicit Following(TaskWatcher* watcher) : watcher_(watcher) {}

  // `bytes` is the size of the event as it was sent.
  Async<Result<void>> take(StreamEvent event, std::size_t bytes) {
    if (watcher_) watcher_->updated(event);
    if (auto* whole = std::get_if<Task>(&event)) {
      auto known = co_await begin(whole->id, whole->context_id);
      if (!known) co_return known;
      held_ = bytes;
      held_by_.clear();
      task = std::move(*whole);
    } else if (auto* said = std::get_if<Message>(&event)) {
      message = std::move(*said);
    } else if (auto* status = std::get_if<StatusUpdate>(&event)) {
      auto known = co_await begin(status->task_id, status->context_id);
      if (!known) co_return known;
      apply(*task, std::move(*status));
    } else {
      auto& artifact = std::get<ArtifactUpdate>(event);
      auto known = co_await begin(artifact.task_id, artifact.context_id);
      if (!known) co_return known;
      if (!has_room_for(artifact, bytes)) {
        co_return Error(
            ErrorCode::too_large,
            cat("the artifacts of the agent's task have more than ", kStreamedBytesMax, " bytes"));
      }
      apply(*task, std::move(artifact));
    }
    co_return Result<void>();
  }

  std::string traceparent() const { return watcher_ ? watcher_->traceparent() : ""; }
  bool is_over() const { return message || (task && is_at_rest(task->status.state)); }
  Reply reply() {
    if (message) return std::move(*message);
    return std::move(*task);
  }

  std::optional<Task> task;
  std::optional<Message> message;

 private:
  Async<Result<void>> begin(std::string id, std::string context_id) {
    if (task) co_return Result<void>();
    if (id.empty()) {
      co_return Error(ErrorCode::unsupported, "the agent's event names no task")
          .reason("bad_response");
    }
    task = Task{.id = id, .context_id = context_id};
    if (!watcher_) co_return Result<void>();
    auto kept = co_await watcher_->taken(std::move(id), std::move(context_id));
    co_return kept;
  }

  // An artifact that is sent again replaces the earlier one.
  bool has_room_for(const ArtifactUpdate& update, std::size_t bytes) {
    std::size_t& held = held_by_[update.artifact.id];
    if (!update.append) held_ -= std::exchange(held, 0);
    held += bytes;
    held_ += bytes;
    return held_ <= kStreamedBytesMax;
  }

  TaskWatcher* const watcher_;
  std::size_t held_ = 0;                        // bytes of the events that `task` was made from
  std::map<std::string, std::size_t> held_by_;  // the part of each streamed artifact
};

Async<Result<std::unique_ptr<net::ClientStream>>> Client::open_card(std::string url) {
  net::ClientRequest request{.url = std::move(url), .headers = agent_.headers};
  request.headers.push_back({"Accept", "application/json"});
  return deps_.http.open(std::move(request));
}

Async<Result<AgentCard>> Client::card() {
  if (card_ && deps_.timers.now() < card_expires_) co_return *card_;
  std::string url = agent_.card_url;
  auto origin = net::parse_url(url);
  if (!origin) co_return std::move(origin).error();
  const bool is_elsewhere = origin->target == "/";
  const std::string base(net::without_trailing_slashes(url));
  if (is_elsewhere) url = cat(base, kWellKnown);
  ERRAND_CO_TRY(auto stream, co_await open_card(url));
  if (is_elsewhere && stream->status() == 404) {
    url = cat(base, kOldWellKnown);
    ERRAND_CO_TRY(stream, co_await open_card(url));
  }
  if (stream->status() != 200) co_return status_error(url, stream->status());
  ERRAND_CO_TRY(std::string body, co_await net::read_whole(stream.get(), kCardBytesMax));
  auto read = [](std::string_view text) {
    return json::parse(text, {.values_max = json::kStrangersValuesMax});
  };
  ERRAND_CO_TRY(auto value, co_await read_aside(&body, deps_.pool, read));
  ERRAND_CO_TRY(auto card, parse_card(value, url));
  if (!agent_.headers.empty()) ERRAND_CO_CHECK(keep_interfaces_at(*origin, card));
  card_ = card;
  card_expires_ = deps_.timers.now() + kCardTime;
  co_return card;
}

// Opens a request to the agent. If the agent cannot be reached, its card is forgotten, because the
// agent may have moved.
Async<Result<std::unique_ptr<net::ClientStream>>> Client::open(Verb verb, json::Object params,
                                                               Interface at,
                                                               std::string traceparent) {
  std::unique_ptr<net::ClientStream> first;
  for (std::size_t i = path_.value_or(0); i < std::size(kPaths); ++i) {
    net::ClientRequest request = make(verb, params, at, kPaths[i]);
    if (!traceparent.empty()) request.headers.push_back({"traceparent", traceparent});
    auto stream = co_await deps_.http.open(std::move(request));
    if (!stream) {
      card_.reset();
      path_.reset();
      co_return std::move(stream).error();
    }
    const int status = (*stream)->status();
    const bool is_elsewhere = !path_ && (status == 404 || status == 405);
    if (!is_elsewhere) {
      if (status < 300) path_ = i;
      co_return std::move(*stream);
    }
    if (!first) first = std::move(*stream);
  }
  co_return first;  // the answer at the address on the card counts
}

Error Client::failed_with(const Interface& at, int status) {
  card_.reset();
  path_.reset();
  return status_error(at.url, status);
}

net::ClientRequest Client::make(Verb verb, const json::Object& params, const Interface& to,
                                std::string_view path) {
  const Version version = to.version;
  rpc::Request message{
      .id = ++last_id_, .method = std::string(method_of(verb, version)), .params = params};
  bool is_stream = verb == Verb::stream || verb == Verb::subscribe;
  net::ClientRequest request{
      .method = net::Method::post,
      .url = path.empty() ? to.url : cat(net::without_trailing_slashes(to.url), path),
      .headers = agent_.headers,
      .body = rpc::write(message),
      .timeouts = kPatient,
      .resend = verb == Verb::get ? net::Resend::once : net::Resend::never};
  if (verb == Verb::get || verb == Verb::cancel) {
    request.timeouts = {.first_byte = deps_.answer_time,
                        .idle = deps_.answer_time,
                        .total = deps_.answer_time * kAnswerTimes};
  }
  request.headers.push_back({"Content-Type", "application/json"});
  request.headers.push_back(
      {"Accept", is_stream ? "text/event-stream, application/json" : "application/json"});
  request.headers.push_back({"A2A-Version", version == Version::v10 ? "1.0" : "0.3"});
  return request;
}

Async<Result<json::Value>> Client::ask(Verb verb, json::Object params) {
  ERRAND_CO_TRY(auto about, co_await card());
  const Interface at = about.interfaces.front();
  ERRAND_CO_TRY(auto stream, co_await open(verb, std::move(params), at));
  int status = stream->status();
  ERRAND_CO_TRY(std::string body, co_await net::read_whole(stream.get(), kAnswerBytesMax));
  auto result = co_await read_aside(&body, deps_.pool, result_of);
  bool is_http_error = status < 200 || status >= 300;
  bool says_nothing = !result && result.error().reason() == "bad_response";
  if (is_http_error && (result || says_nothing)) co_return failed_with(at, status);
  co_return result;
}

Async<Result<void>> Client::stream(Verb verb, json::Object params, Following* into) {
  ERRAND_CO_TRY(auto about, co_await card());
  const Interface at = about.interfaces.front();
  ERRAND_CO_TRY(auto stream, co_await open(verb, std::move(params), at, into->traceparent()));
  if (net::has_type(*stream, "text/event-stream")) {
    auto read = co_await read_events(std::move(stream), into);
    co_return read;
  }
  int status = stream->status();
  ERRAND_CO_TRY(std::string body, co_await net::read_whole(stream.get(), kAnswerBytesMax));
  auto result = co_await read_aside(&body, deps_.pool, result_of);
  if (!result && result.error().reason() == "bad_response" && status != 200) {
    co_return failed_with(at, status);
  }
  if (!result) co_return std::move(result).error();
  ERRAND_CO_TRY(auto event, parse_event(*result));
  auto taken = co_await into->take(std::move(event), body.size());
  co_return taken;
}

Async<Result<void>> Client::read_events(std::unique_ptr<net::ClientStream> from, Following* into) {
  auto reader = std::make_shared<net::SseReader>();
  for (;;) {
    auto bytes = co_await from->read();
    if (!bytes) co_return std::move(bytes).error();
    if (bytes->empty()) co_return Result<void>();
    ERRAND_CO_TRY(auto events, co_await net::feed_aside(reader, std::move(*bytes), deps_.pool));
    for (net::SseEvent& event : events) {
      if (event.data.empty()) continue;
      ERRAND_CO_TRY(auto result, co_await read_aside(&event.data, deps_.pool, result_of));
      ERRAND_CO_TRY(auto parsed, parse_event(result));
      ERRAND_CO_CHECK(co_await into->take(std::move(parsed), event.data.size()));
      // Anything that an agent sends after the end is ignored.
      if (into->is_over()) co_return Result<void>();
    }
  }
}

Async<Result<Reply>> Client::send(Message message, TaskWatcher* watcher) {
  ERRAND_CO_TRY(auto about, co_await card());
  Version version = about.interfaces.front().version;
  json::Object params{{"message", to_json(message, version)}};
  json::Object configuration{
      {"acceptedOutputModes", json::Array{"text/plain", "application/json", "image/*"}}};
  if (version == Version::v03) configuration["blocking"] = false;
  if (version == Version::v10) configuration["returnImmediately"] = true;
  params["configuration"] = std::move(configuration);
  Following following(watcher);
  Verb verb = about.streaming ? Verb::stream : Verb::send;
  if (watcher) watcher->sending(verb, about.interfaces.front());
  auto sent = co_await stream(verb, std::move(params), &following);
  if (following.is_over()) co_return following.reply();
  if (!following.task) {
    if (sent) {
      co_return Error(ErrorCode::outcome_unknown,
                      "the agent's stream ended before it named a task");
    }
    if (!may_have_been_sent(sent.error())) co_return std::move(sent).error();
    co_return Error(ErrorCode::outcome_unknown, cat("no answer came: ", sent.error().message()));
  }
  if (!sent && is_end_of_call(sent.error())) co_return std::move(sent).error();
  auto end = co_await follow(following.task->id, watcher);
  if (!end) co_return std::move(end).error();
  co_return Reply(std::move(*end));
}

Async<Result<Task>> Client::follow(std::string task_id, TaskWatcher* watcher) {
  milliseconds pause = kPollFirst;
  int failures = 0;
  bool can_subscribe = true;
  for (;;) {
    auto task = co_await get(task_id);
    if (task && is_at_rest(task->status.state)) co_return task;
    bool is_final = !task && task.error().code() != ErrorCode::unavailable &&
                    task.error().code() != ErrorCode::timeout;
    if (is_final || (!task && ++failures >= kFailuresMax)) co_return task;
    if (task) failures = 0;
    if (task && can_subscribe && card_ && card_->streaming) {
      Following following(watcher);
      following.task = *task;
      if (watcher) watcher->updated(StreamEvent(*task));
      auto streamed = co_await stream(Verb::subscribe, json::Object{{"id", task_id}}, &following);
      if (following.is_over() && following.task) co_return std::move(*following.task);
      if (!streamed && is_end_of_call(streamed.error())) co_return std::move(streamed).error();
      // If an agent cannot stream this task, it can still be asked about it.
      can_subscribe = streamed || streamed.error().code() == ErrorCode::unavailable;
    }
    co_await deps_.timers.sleep_until(deps_.timers.now() + pause);
    pause = std::min(pause * 2, kPollMax);
  }
}

Async<Result<Task>> Client::get(std::string task_id) {
  ERRAND_CO_TRY(auto result, co_await ask(Verb::get, {{"id", std::move(task_id)}}));
  co_return parse_task(result, "/result");
}

Async<Result<Task>> Client::cancel(std::string task_id) {
  ERRAND_CO_TRY(auto result, co_await ask(Verb::cancel, {{"id", std::move(task_id)}}));
  co_return parse_task(result, "/result");
}

}  // namespace errand::a2a
