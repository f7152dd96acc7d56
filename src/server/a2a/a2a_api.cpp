#include "server/a2a/a2a_api.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "net/url.hpp"
#include "server/a2a/card_json.hpp"
#include "server/a2a/run_task.hpp"
#include "server/a2a/task_feed.hpp"
#include "server/error_body.hpp"
#include "server/request_body.hpp"

namespace errand::server {
namespace {

constexpr std::size_t kMessageIdCharsMax = 200;
constexpr std::int64_t kListDefault = 50;  // tasks on a page
// The metadata by which the runs of an agent's tasks are found.
constexpr std::string_view kAgentLabel = "a2a_agent";

// Names of the protocol's errors, which 1.0 tells beside the code.
std::string_view reason_of(std::int64_t code) {
  switch (code) {
    case a2a::code::kTaskNotFound: return "TASK_NOT_FOUND";
    case a2a::code::kTaskNotCancelable: return "TASK_NOT_CANCELABLE";
    case a2a::code::kPushNotSupported: return "PUSH_NOTIFICATION_NOT_SUPPORTED";
    case a2a::code::kUnsupportedOperation: return "UNSUPPORTED_OPERATION";
    case a2a::code::kContentTypeNotSupported: return "CONTENT_TYPE_NOT_SUPPORTED";
    case a2a::code::kVersionNotSupported: return "VERSION_NOT_SUPPORTED";
    case a2a::code::kNoExtendedCard: return "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
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

rpc::RpcError to_rpc_error(const Error& error) {
  std::int64_t code = rpc::code::kInternalError;
  if (error.code() == ErrorCode::invalid_argument) code = rpc::code::kInvalidParams;
  if (error.code() == ErrorCode::not_found) code = a2a::code::kTaskNotFound;
  if (error.code() == ErrorCode::conflict) code = a2a::code::kUnsupportedOperation;
  return failure(code, error.describe());
}

net::Response answer_with(std::optional<rpc::Id> id, rpc::Answer answer) {
  return json_response(200,
                       rpc::write(rpc::Response{.id = std::move(id), .answer = std::move(answer)}));
}

bool is_known_version(std::string_view text) {
  return text.empty() || text == "0.3" || text == "1.0" || text.starts_with("0.3.") ||
         text.starts_with("1.0.");
}

// Verbs of the protocol that this server does not have.
std::optional<rpc::RpcError> refused_method(std::string_view method) {
  if (method.find("ushNotificationConfig") != std::string_view::npos) {
    return failure(a2a::code::kPushNotSupported, "this agent sends no push notifications");
  }
  if (method == "GetExtendedAgentCard" || method == "agent/getAuthenticatedExtendedCard") {
    return failure(a2a::code::kNoExtendedCard, "this agent has no extended card");
  }
  return {};
}

// Whether a client wants the answer before the task is over.
bool wants_answer_now(const json::Object& params) {
  const json::Object* wanted = json::object_at(&params, "configuration");
  if (!wanted) return false;
  if (json::flag_at(wanted, "returnImmediately")) return true;
  const json::Value* blocking = wanted->if_contains("blocking");
  return blocking && *blocking == false;
}

// How much of a task's past an answer shows.
void cut_history(a2a::Task& task, const json::Object* from) {
  auto length = json::integer_at(from, "historyLength");
  if (!length || *length >= static_cast<std::int64_t>(task.history.size())) return;
  auto kept = static_cast<std::ptrdiff_t>(std::max<std::int64_t>(*length, 0));
  task.history.erase(task.history.begin(), task.history.end() - kept);
}

// Whether the run is of the status that the caller asks for.
bool is_wanted(const json::Object& params, const RunRow& row) {
  std::string_view status = json::text_at(&params, "status");
  return status.empty() || a2a::parse_state(status) == state_of(row.status);
}

Idempotency once(std::string_view what, const OfferedAgent& agent, const std::string& message_id,
                 std::string fingerprint) {
  return {.key = cat("a2a:", what, ":", agent.id, ":", message_id),
          .fingerprint = std::move(fingerprint)};
}

// A message, as far as this server wants to know.
struct Said {
  std::string id;
  std::string context_id;
  std::string task_id;
  Spec spec;                // unless it is about a task
  std::string fingerprint;  // of all that was sent along
};

Result<Said> read_said(const json::Object& params) {
  const json::Value* given = params.if_contains("message");
  if (!given) {
    return Error(ErrorCode::invalid_argument, "\"message\" is missing").pointer("/message");
  }
  ERRAND_TRY(auto message, a2a::parse_message(*given, "/message"));
  if (message.id.empty() || message.id.size() > kMessageIdCharsMax) {
    return Error(ErrorCode::invalid_argument,
                 cat("expected an id of up to ", kMessageIdCharsMax, " characters"))
        .pointer("/message/messageId");
  }
  if (message.parts.empty()) {
    return Error(ErrorCode::invalid_argument, "the message has no parts").pointer("/message/parts");
  }
  Said said{.id = message.id, .context_id = message.context_id, .task_id = message.task_id};
  if (!said.task_id.empty()) return said;
  ERRAND_TRY(said.spec, spec_of(message));
  said.fingerprint = crypto::to_hex(crypto::sha256(json::write(params)));
  return said;
}

}  // namespace

A2aApi::A2aApi(Deps deps) : deps_(std::move(deps)) {}

std::vector<GuestRoute> A2aApi::routes() {
  auto show = [this](Principal who, net::Request request) {
    return show_card(std::move(who), std::move(request));
  };
  auto call = [this](Principal who, net::Request request) {
    return handle(std::move(who), std::move(request));
  };
  RouteInfo card{.method = net::Method::get,
                 .path = "/api/a2a/{workspace}/agents/{agentId}/.well-known/agent-card.json",
                 .id = "getAgentCard",
                 .tag = "A2A",
                 .scope = "a2a:discovery",
                 .summary = "Shows the A2A card of a stored agent.",
                 .about = "The card has the members of versions 0.3 and 1.0 of the protocol.",
                 .answers = {{200, "The card.", "AgentCard"}},
                 .errors = {"forbidden"},
                 .access = Access::own_path};
  RouteInfo old_card = card;
  old_card.path = "/api/a2a/{workspace}/agents/{agentId}/.well-known/agent.json";
  old_card.is_described = false;
  RouteInfo message{
      .method = net::Method::post,
      .path = "/api/a2a/{workspace}/agents/{agentId}",
      .id = "sendA2aMessage",
      .tag = "A2A",
      .scope = "a2a:invoke",
      .summary = "Takes a JSON-RPC message of the Agent2Agent protocol.",
      .about =
          "A2A clients use this endpoint: a task is a run, and a context is a "
          "session. An error of the protocol has status 200.",
      .request = "A2aMessage",
      .answers = {{200, "The answer, as JSON or as a stream of events.", "A2aAnswer"}},
      .errors = {"forbidden"},
      .access = Access::own_path};
  return {{card, show}, {old_card, show}, {message, call}};
}

Task<net::Response> A2aApi::show_card(Principal who, net::Request request) {
  auto agent = co_await find_agent(&deps_.engine.records().agents, who, request.params.at(1));
  if (!agent) co_return render_error(agent.error());
  std::string url = cat(deps_.base_url(request), "/api/a2a/", who.workspace.view(), "/agents/",
                        percent_encode(agent->name));
  net::Response response = json_response(200, json::write(card_json(*agent, url)));
  response.headers.push_back({"Cache-Control", "private, max-age=60"});
  response.headers.push_back({"ETag", cat("\"", agent->version, "\"")});
  co_return response;
}

Task<net::Response> A2aApi::handle(Principal who, net::Request request) {
  auto agent = co_await find_agent(&deps_.engine.records().agents, who, request.params.at(1));
  if (!agent) co_return render_error(agent.error());
  auto read = co_await read_aside(&request.body, deps_.engine.pool(), [](std::string_view text) {
    return rpc::read_messages(text, rpc::Batches::refused);
  });
  if (!read) co_return render_error(read.error());
  std::vector<rpc::Incoming> messages = std::move(*read);
  if (const auto* malformed = std::get_if<rpc::Malformed>(&messages.front())) {
    co_return answer_with(malformed->id, malformed->error);
  }
  auto* asked = std::get_if<rpc::Request>(&messages.front());
  if (!asked) {
    co_return answer_with({}, failure(rpc::code::kInvalidRequest, "expected a request"));
  }
  rpc::Id id = asked->id;
  if (!is_known_version(request.header("a2a-version"))) {
    co_return answer_with(
        id, failure(a2a::code::kVersionNotSupported, "this agent speaks the versions 0.3 and 1.0"));
  }
  if (auto refused = refused_method(asked->method)) co_return answer_with(id, std::move(*refused));
  auto method = a2a::find_method(asked->method);
  if (!method) {
    co_return answer_with(id, failure(rpc::code::kMethodNotFound,
                                      cat("there is no method ", utf8_prefix(asked->method, 100))));
  }
  auto params = std::make_shared<const json::Object>(std::move(asked->params));
  Answer answer = co_await dispatch(method->verb, {.who = who,
                                                   .agent = std::move(*agent),
                                                   .id = id,
                                                   .version = method->version,
                                                   .params = std::move(params)});
  if (auto* response = std::get_if<net::Response>(&answer)) co_return std::move(*response);
  if (auto* error = std::get_if<rpc::RpcError>(&answer)) {
    co_return answer_with(id, std::move(*error));
  }
  co_return answer_with(id, json::Value(std::move(std::get<json::Object>(answer))));
}

Task<A2aApi::Answer> A2aApi::dispatch(a2a::Verb verb, Call call) {
  switch (verb) {
    case a2a::Verb::send: return send(std::move(call));
    case a2a::Verb::stream: return stream(std::move(call));
    case a2a::Verb::get: return get(std::move(call));
    case a2a::Verb::list: return list(std::move(call));
    case a2a::Verb::cancel: return cancel(std::move(call));
    case a2a::Verb::subscribe: break;
  }
  return subscribe(std::move(call));
}

Task<Result<SessionId>> A2aApi::context_of(const Call* call, std::string context_id,
                                           Idempotency idempotency) {
  if (!context_id.empty()) {
    Error unknown = Error(ErrorCode::invalid_argument, "this agent has no such context")
                        .pointer("/message/contextId");
    auto session = SessionId::parse(context_id);
    if (!session) co_return unknown;
    auto view = co_await deps_.engine.get_session(call->who, *session);
    if (!view && view.error().code() != ErrorCode::not_found) co_return std::move(view).error();
    if (!view || view->params.spec.agent_id != call->agent.id) co_return unknown;
    co_return *session;
  }
  engine::SessionParams params;
  params.spec.agent_id = call->agent.id;
  params.spec.metadata.emplace_back(kAgentLabel, call->agent.id);
  auto made =
      co_await deps_.engine.create_session(call->who, std::move(params), std::move(idempotency));
  co_return made;
}

Task<Result<RunId>> A2aApi::start(const Call* call) {
  // A message may hold files: it is read beside the home.
  auto read = [params = call->params] { return read_said(*params); };
  BlockingPool* pool = deps_.engine.pool();
  Result<Said> message = Error(ErrorCode::internal, "not read");
  if (pool) {
    message = co_await pool->run(read);
  } else {
    message = read();
  }
  ERRAND_CO_TRY(auto said, std::move(message));
  if (!said.task_id.empty()) {
    ERRAND_CO_TRY(auto known, co_await find_run(call, said.task_id));
    co_return Error(ErrorCode::conflict,
                    is_terminal(known.row.status)
                        ? "the task is over; send the message with its contextId alone"
                        : "the task does not wait for input");
  }
  ERRAND_CO_TRY(auto session,
                co_await context_of(call, said.context_id,
                                    once("context", call->agent, said.id, said.fingerprint)));
  auto run = co_await deps_.engine.send(call->who, session, {.said = std::move(said.spec)},
                                        once("message", call->agent, said.id, said.fingerprint));
  co_return run;
}

// Returns when the run has ended, however that is.
Task<Result<void>> A2aApi::wait_for_end(Principal who, RunId run) {
  ERRAND_CO_TRY(auto subscription, co_await deps_.engine.subscribe(who, run, 0));
  for (;;) {
    auto batch = co_await subscription->next(SteadyTime::max());
    using State = engine::Subscription::Batch::State;
    if (batch.state == State::ended) co_return Result<void>();
    if (batch.state == State::broken) {
      co_return Error(ErrorCode::unavailable,
                      "the server is shutting down; ask for the task later");
    }
  }
}

Task<A2aApi::Answer> A2aApi::send(Call call) {
  auto run = co_await start(&call);
  if (!run) co_return to_rpc_error(run.error());
  if (!wants_answer_now(*call.params)) {
    auto ended = co_await wait_for_end(call.who, *run);
    if (!ended) co_return to_rpc_error(ended.error());
  }
  auto view = co_await deps_.engine.get(call.who, *run);
  if (!view) co_return to_rpc_error(view.error());
  a2a::Task task = task_of(*view);
  cut_history(task, json::object_at(call.params.get(), "configuration"));
  co_return a2a::send_result(std::move(task), call.version);
}

Task<A2aApi::Answer> A2aApi::open_stream(const Call* call, RunId run) {
  auto view = co_await deps_.engine.get(call->who, run);
  if (!view) co_return to_rpc_error(view.error());
  // What the stream will tell is not told in advance.
  a2a::Task task = task_of(*view);
  task.artifacts.clear();
  task.metadata.clear();
  task.status.message.reset();
  if (a2a::is_terminal(task.status.state)) task.status.state = a2a::TaskState::working;
  auto subscription = co_await deps_.engine.subscribe(call->who, run, 0);
  if (!subscription) co_return to_rpc_error(subscription.error());
  net::Response response;
  response.content_type = "text/event-stream";
  response.headers.push_back({"Cache-Control", "no-cache"});
  response.headers.push_back({"X-Accel-Buffering", "no"});
  response.events =
      std::make_unique<TaskFeed>(std::move(*subscription), call->id, call->version, task);
  co_return Answer(std::move(response));
}

Task<A2aApi::Answer> A2aApi::stream(Call call) {
  auto run = co_await start(&call);
  if (!run) co_return to_rpc_error(run.error());
  auto answer = co_await open_stream(&call, *run);
  co_return answer;
}

Task<Result<engine::RunView>> A2aApi::find_run(const Call* call, std::string_view id) {
  const Error unknown(ErrorCode::not_found, "there is no such task");
  auto run = RunId::parse(id);
  if (!run) co_return unknown;
  ERRAND_CO_TRY(auto view, co_await deps_.engine.get(call->who, *run));
  if (view.state->created().spec.agent_id != call->agent.id) co_return unknown;
  co_return view;
}

Task<A2aApi::Answer> A2aApi::get(Call call) {
  auto view = co_await find_run(&call, json::text_at(call.params.get(), "id"));
  if (!view) co_return to_rpc_error(view.error());
  a2a::Task task = task_of(*view);
  cut_history(task, call.params.get());
  co_return a2a::to_json(task, call.version);
}

Task<Result<A2aApi::TaskPage>> A2aApi::page_of(const Call* call, RunFilter filter,
                                               std::size_t limit) {
  RunFilter all = filter;
  all.before.reset();
  TaskPage page;
  ERRAND_CO_TRY(page.total, co_await count(call, std::move(all)));
  bool is_end = false;
  for (std::size_t scanned = 0; !is_end && scanned < kListScanMax; scanned += filter.limit) {
    ERRAND_CO_TRY(auto runs, co_await deps_.engine.list(filter));
    for (const RunRow& row : runs) {
      if (page.runs.size() == limit && is_wanted(*call->params, row)) {
        page.next = page.runs.back().id.str();
        co_return page;
      }
      filter.before = row.id;
      if (is_wanted(*call->params, row)) page.runs.push_back(row);
    }
    is_end = runs.size() < filter.limit;
  }
  if (!is_end && filter.before) page.next = filter.before->str();
  co_return page;
}

Task<Result<std::size_t>> A2aApi::count(const Call* call, RunFilter filter) {
  std::size_t total = 0;
  for (std::size_t scanned = 0; scanned < kListScanMax; scanned += filter.limit) {
    ERRAND_CO_TRY(auto runs, co_await deps_.engine.list(filter));
    for (const RunRow& row : runs) total += is_wanted(*call->params, row) ? 1 : 0;
    if (runs.size() < filter.limit) break;
    filter.before = runs.back().id;
  }
  co_return total;
}

Task<A2aApi::Answer> A2aApi::list(Call call) {
  auto size = json::integer_at(call.params.get(), "pageSize").value_or(kListDefault);
  auto limit = static_cast<std::size_t>(std::clamp<std::int64_t>(size, 1, kListMax));
  RunFilter filter{.workspace = call.who.workspace,
                   .metadata = {{std::string(kAgentLabel), call.agent.id}},
                   .limit = kListMax};
  if (std::string_view token = json::text_at(call.params.get(), "pageToken"); !token.empty()) {
    filter.before = RunId::parse(token);
    if (!filter.before) {
      co_return failure(rpc::code::kInvalidParams, "/pageToken: this agent did not give it");
    }
  }
  if (std::string_view context = json::text_at(call.params.get(), "contextId"); !context.empty()) {
    filter.session = SessionId::parse(context);
    if (!filter.session) co_return failure(rpc::code::kInvalidParams, "/contextId: unknown");
  }
  auto page = co_await page_of(&call, std::move(filter), limit);
  if (!page) co_return to_rpc_error(page.error());
  json::Array tasks;
  for (const RunRow& row : page->runs) {
    a2a::Task task = task_of(row);
    if (json::flag_at(call.params.get(), "includeArtifacts")) {
      auto view = co_await deps_.engine.get(call.who, row.id);
      if (view) task.artifacts = task_of(*view).artifacts;
    }
    tasks.push_back(a2a::to_json(task, call.version));
  }
  co_return json::Object{{"tasks", std::move(tasks)},
                         {"nextPageToken", page->next},
                         {"pageSize", limit},
                         {"totalSize", page->total}};
}

Task<A2aApi::Answer> A2aApi::cancel(Call call) {
  auto view = co_await find_run(&call, json::text_at(call.params.get(), "id"));
  if (!view) co_return to_rpc_error(view.error());
  if (is_terminal(view->row.status)) {
    co_return failure(a2a::code::kTaskNotCancelable, "the task is over");
  }
  RunId run = view->row.id;
  auto cancelled = co_await deps_.engine.cancel(call.who, run);
  if (!cancelled) co_return to_rpc_error(cancelled.error());
  auto ended = co_await wait_for_end(call.who, run);
  if (!ended) co_return to_rpc_error(ended.error());
  auto after = co_await deps_.engine.get(call.who, run);
  if (!after) co_return to_rpc_error(after.error());
  co_return a2a::to_json(task_of(*after), call.version);
}

Task<A2aApi::Answer> A2aApi::subscribe(Call call) {
  auto view = co_await find_run(&call, json::text_at(call.params.get(), "id"));
  if (!view) co_return to_rpc_error(view.error());
  if (is_terminal(view->row.status)) {
    co_return failure(a2a::code::kUnsupportedOperation, "the task is over; ask for it instead");
  }
  auto answer = co_await open_stream(&call, view->row.id);
  co_return answer;
}

}  // namespace errand::server
