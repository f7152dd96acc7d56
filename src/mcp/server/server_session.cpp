#include "mcp/server/server_session.hpp"

#include <algorithm>
#include <utility>

#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "mcp/server_codec.hpp"

namespace errand::mcp {
namespace {

std::string_view list_name(ListKind kind) {
  switch (kind) {
    case ListKind::tools: return "tools";
    case ListKind::prompts: return "prompts";
    case ListKind::resources: break;
  }
  return "resources";
}

// The part of a list from the cursor on. The cursor is the number of its first item.
template <class T>
Result<json::Object> page_of(std::string_view member, const std::vector<T>& items,
                             const json::Object& params) {
  std::size_t first = 0;
  if (const json::Value* cursor = params.if_contains("cursor")) {
    auto number = cursor->is_string() ? parse_integer<std::size_t>(json::view(cursor->as_string()))
                                      : std::nullopt;
    if (!number || *number > items.size()) {
      return Error(ErrorCode::invalid_argument, "not a cursor of this list").pointer("/cursor");
    }
    first = *number;
  }
  std::size_t last = std::min(first + ServerSession::kPageItems, items.size());
  json::Array page;
  for (std::size_t i = first; i < last; ++i) page.push_back(to_json(items[i]));
  json::Object out{{member, std::move(page)}};
  if (last < items.size()) out["nextCursor"] = std::to_string(last);
  return out;
}

template <class T>
Result<json::Object> page_of(std::string_view member, const Result<std::vector<T>>& items,
                             const json::Object& params) {
  if (!items) return items.error();
  return page_of(member, *items, params);
}

json::Array version_list() {
  json::Array out;
  for (const std::string& one : supported_versions()) out.emplace_back(one);
  return out;
}

// A client is asked only for input that it has offered to give.
Result<json::Object> ask_for_input(const InputRequired& wanted, Era era,
                                   const ClientCapabilities& client) {
  if (era != Era::modern) {
    return Error(ErrorCode::internal, "the server asks for input in a way that this client lacks");
  }
  std::set<std::string> missing;
  for (const auto& [key, request] : wanted.requests) {
    if (request.method == "sampling/createMessage" && !client.sampling) missing.insert("sampling");
    if (request.method == "elicitation/create" && !client.elicitation) {
      missing.insert("elicitation");
    }
    if (request.method == "roots/list" && !client.roots) missing.insert("roots");
  }
  if (missing.empty()) return to_json(wanted);
  return Error(ErrorCode::unsupported, "the client lacks what this request needs")
      .reason("missing_capability")
      .candidates({missing.begin(), missing.end()});
}

// An object that is a member of params nobody needs any more.
json::Object taken_object(json::Object& from, std::string_view key) {
  json::Value* value = from.if_contains(key);
  return value && value->is_object() ? std::move(value->get_object()) : json::Object();
}

rpc::RpcError unknown_method(std::string_view method) {
  return {.code = rpc::code::kMethodNotFound,
          .message = cat("there is no method ", utf8_prefix(method, 100))};
}

}  // namespace

const std::map<std::string_view, ServerSession::Entry>& ServerSession::methods() {
  using In = Entry::In;
  constexpr auto kCacheable = Entry::Result::cacheable;
  using S = ServerSession;
  using O = ServerOffer;
  static const std::map<std::string_view, Entry> kMethods = {
      {"initialize", {.method = &S::initialize, .eras = In::legacy}},
      {"ping", {.method = &S::ping, .eras = In::legacy}},
      {"logging/setLevel", {.method = &S::set_level, .eras = In::legacy, .offered = &O::logging}},
      {"server/discover", {.method = &S::discover, .eras = In::modern, .result = kCacheable}},
      {"subscriptions/listen", {.method = &S::listen, .eras = In::modern}},
      {"tools/list", {.method = &S::list_tools, .offered = &O::tools, .result = kCacheable}},
      {"tools/call", {.method = &S::call_tool, .offered = &O::tools}},
      {"prompts/list", {.method = &S::list_prompts, .offered = &O::prompts, .result = kCacheable}},
      {"prompts/get", {.method = &S::get_prompt, .offered = &O::prompts}},
      {"resources/list",
       {.method = &S::list_resources, .offered = &O::resources, .result = kCacheable}},
      {"resources/templates/list",
       {.method = &S::list_templates, .offered = &O::resources, .result = kCacheable}},
      {"resources/read",
       {.method = &S::read_resource, .offered = &O::resources, .result = kCacheable}},
      {"resources/subscribe",
       {.method = &S::subscribe, .eras = In::legacy, .offered = &O::resource_changes}},
      {"resources/unsubscribe",
       {.method = &S::unsubscribe, .eras = In::legacy, .offered = &O::resource_changes}},
      {"completion/complete", {.method = &S::complete, .offered = &O::completions}},
  };
  return kMethods;
}

Task<rpc::Answer> ServerSession::handle(rpc::Request request, rpc::ServedRequest* served) {
  auto context = context_of(request, served);
  if (auto* refused = std::get_if<rpc::RpcError>(&context)) co_return std::move(*refused);
  auto answer = co_await dispatch(std::move(request), std::get<Context>(context));
  co_return answer;
}

// Tells the eras apart, and checks what each of them demands of a request.
std::variant<ServerSession::Context, rpc::RpcError> ServerSession::context_of(
    const rpc::Request& request, rpc::ServedRequest* served) const {
  auto version = modern_version_of(request.params);
  if (!version) {
    bool needs_handshake = request.method != "initialize" && request.method != "ping";
    if (needs_handshake && !client_) {
      return rpc::RpcError{.code = rpc::code::kInvalidRequest,
                           .message = "the client must initialize first"};
    }
    return Context{.era = Era::legacy,
                   .client = client_.value_or(ClientCapabilities{}),
                   .log_level = log_level_.value_or(LogLevel::info),
                   .served = served};
  }
  if (*version != kModernVersion) {
    json::Object data{{"supported", version_list()}, {"requested", *version}};
    return rpc::RpcError{.code = code::kUnsupportedVersion,
                         .message = "this version of MCP is not supported",
                         .data = json::Value(std::move(data))};
  }
  auto meta = parse_request_meta(request.params);
  if (!meta) return to_rpc_error(meta.error());
  return Context{
      .era = Era::modern, .client = meta->client, .log_level = meta->log_level, .served = served};
}

Task<rpc::Answer> ServerSession::dispatch(rpc::Request request, Context context) {
  auto found = methods().find(request.method);
  if (found == methods().end()) co_return unknown_method(request.method);
  const Entry& entry = found->second;
  const ServerOffer offer = features_.offer();
  Entry::In other = context.era == Era::modern ? Entry::In::legacy : Entry::In::modern;
  if (entry.eras == other || (entry.offered && !(offer.*entry.offered))) {
    co_return unknown_method(request.method);
  }
  std::string uri(json::text_at(&request.params, "uri"));
  auto result = co_await (this->*entry.method)(std::move(request.params), context);
  if (!result) {
    rpc::RpcError error = to_rpc_error(result.error());
    bool is_missing = result.error().code() == ErrorCode::not_found && !uri.empty();
    if (is_missing) error.data = json::Value(json::Object{{"uri", uri}});
    co_return error;
  }
  if (context.era == Era::modern) {
    if (entry.result == Entry::Result::cacheable) make_cacheable(*result);
    complete_result(*result, offer.server);
  }
  co_return rpc::Answer(json::Value(std::move(*result)));
}

void ServerSession::notice(rpc::Notification /*notification*/) {
  // Neither the end of the handshake nor a change of the client's roots needs any work.
}

Task<Result<json::Object>> ServerSession::initialize(json::Object params, Context /*context*/) {
  std::string_view wanted = json::text_at(&params, "protocolVersion");
  if (wanted.empty()) {
    co_return Error(ErrorCode::invalid_argument, "expected a version").pointer("/protocolVersion");
  }
  client_ = parse_client_capabilities(json::object_at(&params, "capabilities"));
  const ServerOffer offer = features_.offer();
  json::Object out{{"protocolVersion", is_legacy_version(wanted) ? wanted : kLegacyVersion},
                   {"capabilities", capabilities_of(offer, Era::legacy)},
                   {"serverInfo", to_json(offer.server)}};
  if (!offer.instructions.empty()) out["instructions"] = offer.instructions;
  co_return out;
}

Task<Result<json::Object>> ServerSession::discover(json::Object /*params*/, Context /*context*/) {
  const ServerOffer offer = features_.offer();
  json::Object out{{"supportedVersions", version_list()},
                   {"capabilities", capabilities_of(offer, Era::modern)}};
  if (!offer.instructions.empty()) out["instructions"] = offer.instructions;
  co_return out;
}

Task<Result<json::Object>> ServerSession::ping(json::Object /*params*/, Context /*context*/) {
  co_return json::Object();
}

Task<Result<json::Object>> ServerSession::set_level(json::Object params, Context /*context*/) {
  auto level = parse_log_level(json::text_at(&params, "level"));
  if (!level)
    co_return Error(ErrorCode::invalid_argument, "expected a log level").pointer("/level");
  log_level_ = *level;
  co_return json::Object();
}

Task<Result<json::Object>> ServerSession::list_tools(json::Object params, Context /*context*/) {
  auto tools = co_await features_.tools();
  co_return page_of("tools", tools, params);
}

Task<Result<json::Object>> ServerSession::call_tool(json::Object params, Context context) {
  ServeToolParams call{.name = std::string(json::text_at(&params, "name"))};
  if (call.name.empty()) {
    co_return Error(ErrorCode::invalid_argument, "expected the name of a tool").pointer("/name");
  }
  call.arguments = taken_object(params, "arguments");
  call.meta = taken_object(params, "_meta");
  call.input_responses = taken_object(params, "inputResponses");
  if (params.contains("requestState")) {
    call.request_state = std::string(json::text_at(&params, "requestState"));
  }
  ServedCall served(*context.served, context.era, context.client, context.log_level);
  auto outcome = co_await features_.call_tool(std::move(call), &served);
  if (!outcome) co_return std::move(outcome).error();
  if (const auto* wanted = std::get_if<InputRequired>(&*outcome)) {
    co_return ask_for_input(*wanted, context.era, context.client);
  }
  co_return to_json(std::get<CallToolResult>(*outcome), context.era);
}

Task<Result<json::Object>> ServerSession::list_prompts(json::Object params, Context /*context*/) {
  auto prompts = co_await features_.prompts();
  co_return page_of("prompts", prompts, params);
}

Task<Result<json::Object>> ServerSession::get_prompt(json::Object params, Context context) {
  ERRAND_CO_TRY(auto wanted, parse_get_prompt(params));
  ServedCall served(*context.served, context.era, context.client, context.log_level);
  auto prompt = co_await features_.get_prompt(std::move(wanted), &served);
  if (!prompt) co_return std::move(prompt).error();
  if (const auto* input = std::get_if<InputRequired>(&*prompt)) {
    co_return ask_for_input(*input, context.era, context.client);
  }
  co_return to_json(std::get<GetPromptResult>(*prompt));
}

Task<Result<json::Object>> ServerSession::list_resources(json::Object params, Context /*context*/) {
  auto resources = co_await features_.resources();
  co_return page_of("resources", resources, params);
}

Task<Result<json::Object>> ServerSession::list_templates(json::Object params, Context /*context*/) {
  auto templates = co_await features_.resource_templates();
  co_return page_of("resourceTemplates", templates, params);
}

Task<Result<json::Object>> ServerSession::read_resource(json::Object params, Context context) {
  ERRAND_CO_TRY(std::string uri, parse_uri(params));
  ServedCall served(*context.served, context.era, context.client, context.log_level);
  auto contents = co_await features_.read_resource(std::move(uri), &served);
  if (!contents) co_return std::move(contents).error();
  co_return contents_of(*contents);
}

Task<Result<json::Object>> ServerSession::subscribe(json::Object params, Context /*context*/) {
  ERRAND_CO_TRY(std::string uri, parse_uri(params));
  if (subscriptions_.size() >= kSubscriptionsMax) {
    co_return Error(ErrorCode::too_large, "too many resources are subscribed to");
  }
  subscriptions_.insert(std::move(uri));
  co_return json::Object();
}

Task<Result<json::Object>> ServerSession::unsubscribe(json::Object params, Context /*context*/) {
  ERRAND_CO_TRY(std::string uri, parse_uri(params));
  subscriptions_.erase(uri);
  co_return json::Object();
}

Task<Result<json::Object>> ServerSession::complete(json::Object params, Context context) {
  ERRAND_CO_TRY(auto wanted, parse_complete(params));
  ServedCall served(*context.served, context.era, context.client, context.log_level);
  auto completion = co_await features_.complete(std::move(wanted), &served);
  if (!completion) co_return std::move(completion).error();
  co_return to_json(*completion);
}

// A request of the modern era that stays open and reports changes.
class ServerSession::Listening final {
 public:
  Listening(ServerSession& session, rpc::Id id, Listener listener)
      : session_(session), id_(std::move(id)) {
    session_.listeners_[id_] = std::move(listener);
  }
  ~Listening() { session_.listeners_.erase(id_); }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  ServerSession& session_;
  const rpc::Id id_;
};

Task<Result<json::Object>> ServerSession::listen(json::Object params, Context context) {
  const ServerOffer offer = features_.offer();
  const json::Object* wanted = json::object_at(&params, "notifications");
  Listener listener;
  json::Object honoured;
  const std::tuple<ListKind, std::string_view, bool> lists[] = {
      {ListKind::tools, "toolsListChanged", offer.tools},
      {ListKind::prompts, "promptsListChanged", offer.prompts},
      {ListKind::resources, "resourcesListChanged", offer.resource_changes}};
  for (const auto& [kind, member, is_offered] : lists) {
    if (!is_offered || !json::flag_at(wanted, member)) continue;
    listener.lists.insert(kind);
    honoured[member] = true;
  }
  const json::Array* uris = json::array_at(wanted, "resourceSubscriptions");
  if (uris && offer.resource_changes) {
    for (const json::Value& one : *uris) {
      if (!one.is_string() || listener.uris.size() >= kSubscriptionsMax) continue;
      listener.uris.emplace(json::view(one.as_string()));
    }
    honoured["resourceSubscriptions"] = json::Array(listener.uris.begin(), listener.uris.end());
  }
  json::Object meta{{subscription_key(), rpc::to_json(context.served->id())}};
  context.served->notify("notifications/subscriptions/acknowledged",
                         {{"notifications", std::move(honoured)}, {"_meta", meta}});
  Listening listening(*this, context.served->id(), std::move(listener));
  Wakeup over(co_await asio::this_coro::executor);
  Interrupt::Scope waiting(&context.served->interrupt(), [&over] { over.notify(); });
  while (!context.served->interrupt().is_raised()) co_await over.wait();
  co_return json::Object{{"_meta", std::move(meta)}};
}

void ServerSession::announce_change(rpc::Peer& peer, ListKind kind) {
  std::string method = cat("notifications/", list_name(kind), "/list_changed");
  // If the connection takes no more, it is over, and the client reads the list again after it
  // reconnects.
  if (client_) (void)peer.notify(method, {});
  for (const auto& [id, listener] : listeners_) {
    if (!listener.lists.contains(kind)) continue;
    json::Object meta{{subscription_key(), rpc::to_json(id)}};
    (void)peer.notify(method, {{"_meta", std::move(meta)}}, id);
  }
}

void ServerSession::announce_update(rpc::Peer& peer, const std::string& uri) {
  constexpr std::string_view kUpdated = "notifications/resources/updated";
  if (client_ && subscriptions_.contains(uri)) {
    (void)peer.notify(std::string(kUpdated), {{"uri", uri}});
  }
  for (const auto& [id, listener] : listeners_) {
    if (!listener.uris.contains(uri)) continue;
    json::Object meta{{subscription_key(), rpc::to_json(id)}};
    (void)peer.notify(std::string(kUpdated), {{"uri", uri}, {"_meta", std::move(meta)}}, id);
  }
}

}  // namespace errand::mcp
