#include "a2a/server/agent_endpoint.hpp"

#include <utility>

#include "a2a/server/task_feed.hpp"
#include "a2a/server/task_list.hpp"
#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::a2a {
namespace {

template <class T>
using Async = ::errand::Task<T>;

// The names of the protocol's errors, which 1.0 sends beside the code.
std::string_view reason_of(std::int64_t code) {
  switch (code) {
    case code::kTaskNotFound: return "TASK_NOT_FOUND";
    case code::kTaskNotCancelable: return "TASK_NOT_CANCELABLE";
    case code::kPushNotSupported: return "PUSH_NOTIFICATION_NOT_SUPPORTED";
    case code::kUnsupportedOperation: return "UNSUPPORTED_OPERATION";
    case code::kContentTypeNotSupported: return "CONTENT_TYPE_NOT_SUPPORTED";
    case code::kVersionNotSupported: return "VERSION_NOT_SUPPORTED";
    case code::kNoExtendedCard: return "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
    default: return {};
  }
}

rpc::RpcError failure(std::int64_t code, std::string message) {
  rpc::RpcError error{.code = code, .message = std::move(message)};
  std::string_view reason = reason_of(code);
  if (reason.empty()) return error;
  json::Object info{{"@type", "type.googleapis.com/google.rpc.ErrorInfo"},
                    {"reason", reason},
                    {"domain", "a2a-protocol.org"}};
  error.data = json::Value(json::Array{std::move(info)});
  return error;
}

std::int64_t code_of(const Error& error) {
  switch (error.code()) {
    case ErrorCode::invalid_argument: return rpc::code::kInvalidParams;
    case ErrorCode::not_found: return code::kTaskNotFound;
    case ErrorCode::conflict:
      return error.reason() == TaskBackend::kNotCancelable ? code::kTaskNotCancelable
                                                           : code::kUnsupportedOperation;
    case ErrorCode::unsupported:
      if (error.reason() == TaskBackend::kMediaType) return code::kContentTypeNotSupported;
      break;
    default: break;
  }
  return rpc::code::kInternalError;
}

net::Response answer_with(std::optional<rpc::Id> id, rpc::Answer answer) {
  net::Response response;
  response.body = rpc::write(rpc::Response{.id = std::move(id), .answer = std::move(answer)});
  return response;
}

bool is_known_version(std::string_view text) {
  return text.empty() || text == "0.3" || text == "1.0" || text.starts_with("0.3.") ||
         text.starts_with("1.0.");
}

// The version that a request names, in a header or, for clients that cannot set one, in the query.
std::string version_of(const net::Request& request) {
  std::string_view header = request.header("a2a-version");
  return header.empty() ? request.query_param("A2A-Version").value_or("") : std::string(header);
}

// Refuses methods of the protocol that this server does not support.
std::optional<rpc::RpcError> refused_method(std::string_view method) {
  if (method.find("ushNotificationConfig") != std::string_view::npos) {
    return failure(code::kPushNotSupported, "push notifications are not supported by this agent");
  }
  // In 1.0, the error code for a missing extended card is only for agents that announce one.
  if (method == "GetExtendedAgentCard") {
    return failure(code::kUnsupportedOperation, "this agent has no extended card");
  }
  if (method == "agent/getAuthenticatedExtendedCard") {
    return failure(code::kNoExtendedCard, "this agent has no extended card");
  }
  return {};
}

// What a client sends in a message request.
struct Sent {
  Message message;
  bool is_awaited = true;  // the answer waits until the task is at rest
  std::optional<std::size_t> history_max = {};
};

Result<Sent> parse_sent(const json::Object& params) {
  const json::Value* given = params.if_contains("message");
  if (!given) {
    return Error(ErrorCode::invalid_argument, "\"message\" is missing").pointer("/message");
  }
  ERRAND_TRY(auto message, parse_message(*given, "/message"));
  if (message.id.empty() || message.id.size() > kMessageIdCharsMax) {
    return Error(ErrorCode::invalid_argument,
                 cat("expected an id of up to ", kMessageIdCharsMax, " characters"))
        .pointer("/message/messageId");
  }
  if (message.parts.empty()) {
    return Error(ErrorCode::invalid_argument, "the message has no parts").pointer("/message/parts");
  }
  Sent sent{.message = std::move(message)};
  const json::Object* wanted = json::object_at(&params, "configuration");
  if (!wanted) return sent;
  const json::Value* blocking = wanted->if_contains("blocking");
  sent.is_awaited =
      !json::flag_at(wanted, "returnImmediately") && !(blocking && *blocking == false);
  ERRAND_TRY(sent.history_max, parse_history_length(wanted));
  return sent;
}

// One request with everything that its method needs.
struct Call {
  std::shared_ptr<TaskBackend> backend;
  BlockingPool* pool = nullptr;
  rpc::Id id;
  Version version = Version::v10;
  std::shared_ptr<const json::Object> params;

  std::string task_id() const { return std::string(json::text_at(params.get(), "id")); }
};
using Reply = std::variant<json::Object, net::Response>;

// A message may hold files, so it is parsed on the pool.
Async<Result<Sent>> read_sent(BlockingPool* pool, std::shared_ptr<const json::Object> params) {
  auto read = [params] { return parse_sent(*params); };
  if (!pool) co_return read();
  auto sent = co_await pool->run(read);
  co_return sent;
}

Async<Result<Reply>> send(Call call) {
  ERRAND_CO_TRY(auto sent, co_await read_sent(call.pool, call.params));
  ERRAND_CO_TRY(auto taken, co_await call.backend->take(std::move(sent.message)));
  if (const auto* answer = std::get_if<Message>(&taken)) {
    co_return Reply(send_result(*answer, call.version));
  }
  const std::string& id = std::get<std::string>(taken);
  if (sent.is_awaited) ERRAND_CO_CHECK(co_await call.backend->wait(id));
  ERRAND_CO_TRY(auto task, co_await call.backend->get(id));
  if (sent.history_max) cut_history(task, *sent.history_max);
  co_return Reply(send_result(std::move(task), call.version));
}

Async<Result<Reply>> open_stream(Call call, std::string id, TaskFeed::Ends ends) {
  ERRAND_CO_TRY(auto opened, co_await call.backend->open(std::move(id)));
  auto feed = std::make_unique<TaskFeed>(std::move(opened.source), call.id, call.version, ends,
                                         StreamEvent(std::move(opened.task)));
  co_return Reply(stream_response(std::move(feed)));
}

Async<Result<Reply>> stream(Call call) {
  ERRAND_CO_TRY(auto sent, co_await read_sent(call.pool, call.params));
  ERRAND_CO_TRY(auto taken, co_await call.backend->take(std::move(sent.message)));
  if (auto* answer = std::get_if<Message>(&taken)) {
    auto feed = std::make_unique<TaskFeed>(nullptr, call.id, call.version, TaskFeed::Ends::at_rest,
                                           StreamEvent(std::move(*answer)));
    co_return Reply(stream_response(std::move(feed)));
  }
  auto reply =
      co_await open_stream(call, std::move(std::get<std::string>(taken)), TaskFeed::Ends::at_rest);
  co_return reply;
}

// A task that waits for its client is followed until it is over, because another client may answer
// it. A client of 0.3 takes a status in which a task waits for the end of the stream, so its stream
// ends there.
Async<Result<Reply>> subscribe(Call call) {
  ERRAND_CO_TRY(auto task, co_await call.backend->get(call.task_id()));
  if (is_terminal(task.status.state)) {
    co_return Error(ErrorCode::conflict, "the task is over; get the task instead of subscribing");
  }
  const auto ends = call.version == Version::v03 ? TaskFeed::Ends::at_rest : TaskFeed::Ends::over;
  auto reply = co_await open_stream(call, std::move(task.id), ends);
  co_return reply;
}

Async<Result<Reply>> get(Call call) {
  ERRAND_CO_TRY(auto length, parse_history_length(call.params.get()));
  ERRAND_CO_TRY(auto task, co_await call.backend->get(call.task_id()));
  if (length) cut_history(task, *length);
  co_return Reply(to_json(task, call.version));
}

// The size of a task's files as they are sent.
std::size_t file_bytes(const Task& task) {
  std::size_t bytes = 0;
  auto add = [&bytes](const std::vector<Part>& parts) {
    for (const Part& part : parts) {
      if (const auto* file = std::get_if<FilePart>(&part)) bytes += file->base64.size();
    }
  };
  for (const Artifact& artifact : task.artifacts) add(artifact.parts);
  for (const Message& message : task.history) add(message.parts);
  return bytes;
}

Async<Result<Reply>> list(Call call) {
  ERRAND_CO_TRY(auto params, parse_list_params(*call.params));
  ERRAND_CO_TRY(auto all, co_await call.backend->list(params.context_id));
  ERRAND_CO_TRY(auto page, page_of(std::move(all), params));
  json::Array tasks;
  std::size_t bytes = 0;
  for (Task& task : page.tasks) {
    // The page ends early, because these files would make it too large.
    if (bytes >= kListBytesMax) {
      page.next = token_after(page.tasks[tasks.size() - 1]);
      break;
    }
    if (params.has_artifacts || params.history_max > 0) {
      auto whole = co_await call.backend->get(task.id);
      // A task that was removed meanwhile stays in the list without its artifacts.
      if (whole && params.has_artifacts) task.artifacts = std::move(whole->artifacts);
      if (whole) task.history = std::move(whole->history);
      cut_history(task, params.history_max);
      bytes += file_bytes(task);
    }
    tasks.push_back(to_json(task, call.version));
  }
  co_return Reply(json::Object{{"tasks", std::move(tasks)},
                               {"nextPageToken", page.next},
                               {"pageSize", params.page_size},
                               {"totalSize", page.total}});
}

Async<Result<Reply>> cancel(Call call) {
  const std::string id = call.task_id();
  ERRAND_CO_CHECK(co_await call.backend->cancel(id));
  ERRAND_CO_TRY(auto task, co_await call.backend->get(id));
  co_return Reply(to_json(task, call.version));
}

Async<Result<Reply>> dispatch(Verb verb, Call call) {
  switch (verb) {
    case Verb::send: return send(std::move(call));
    case Verb::stream: return stream(std::move(call));
    case Verb::get: return get(std::move(call));
    case Verb::list: return list(std::move(call));
    case Verb::cancel: return cancel(std::move(call));
    case Verb::subscribe: break;
  }
  return subscribe(std::move(call));
}

// Why a request cannot be dispatched.
std::optional<rpc::RpcError> refusal_of(const net::Request& http, const rpc::Request& asked) {
  if (!is_known_version(version_of(http))) {
    return failure(code::kVersionNotSupported, "this agent speaks the versions 0.3 and 1.0");
  }
  if (auto refused = refused_method(asked.method)) return refused;
  if (find_method(asked.method)) return {};
  return failure(rpc::code::kMethodNotFound,
                 cat("there is no method ", utf8_prefix(asked.method, 100)));
}

}  // namespace

Async<Result<net::Response>> answer_post(std::shared_ptr<TaskBackend> backend, net::Request request,
                                         BlockingPool* pool) {
  ERRAND_CO_TRY(auto messages, co_await read_aside(&request.body, pool, [](std::string_view text) {
                  return rpc::read_messages(text, rpc::Batches::refused);
                }));
  if (const auto* malformed = std::get_if<rpc::Malformed>(&messages.front())) {
    co_return answer_with(malformed->id, malformed->error);
  }
  auto* asked = std::get_if<rpc::Request>(&messages.front());
  if (!asked) co_return answer_with({}, failure(rpc::code::kInvalidRequest, "expected a request"));
  rpc::Id id = asked->id;
  if (auto refused = refusal_of(request, *asked)) co_return answer_with(id, std::move(*refused));
  const Method method = *find_method(asked->method);
  auto params = std::make_shared<const json::Object>(std::move(asked->params));
  auto reply = co_await dispatch(method.verb, {.backend = std::move(backend),
                                               .pool = pool,
                                               .id = id,
                                               .version = method.version,
                                               .params = std::move(params)});
  if (!reply) co_return answer_with(id, failure(code_of(reply.error()), reply.error().describe()));
  if (auto* response = std::get_if<net::Response>(&*reply)) co_return std::move(*response);
  co_return answer_with(id, json::Value(std::move(std::get<json::Object>(*reply))));
}

}  // namespace errand::a2a
