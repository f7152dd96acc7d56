#include "mcp/client/session.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"

namespace errand::mcp {
namespace {

constexpr milliseconds kSubscribePause = seconds(5);
constexpr int kFailedSubscriptionsMax = 10;  // in a row

// Whether a server that fails like this may speak the legacy era's handshake.
bool may_be_legacy(const Error& error) {
  switch (error.code()) {
    case ErrorCode::timeout:
    case ErrorCode::unsupported:
    case ErrorCode::outcome_unknown:
    case ErrorCode::too_large: return true;
    default: return false;
  }
}

// Whether a server that refuses our version names one for which `is_wanted` holds.
template <class F>
bool offers_version(const rpc::RpcError& error, F is_wanted) {
  if (error.code != code::kUnsupportedVersion) return false;
  const json::Object* data = error.data ? error.data->if_object() : nullptr;
  const json::Array* versions = json::array_at(data, "supported");
  if (!versions) return false;
  return std::any_of(versions->begin(), versions->end(), [&](const json::Value& one) {
    return one.is_string() && is_wanted(json::view(one.as_string()));
  });
}

bool is_modern_version(std::string_view version) {
  return version == kModernVersion;
}

}  // namespace

Session::Session(ClientDeps deps, SessionOptions options,
                 std::unique_ptr<rpc::Connection> connection, HttpConnection* http)
    : deps_(std::move(deps)),
      options_(std::move(options)),
      connection_(std::move(connection)),
      http_(http),
      peer_(deps_.home, *connection_, *this, deps_.on_bug, {.pool = deps_.schemas.pool}),
      tasks_(deps_.home, deps_.on_bug) {
  peer_.start();
}

Task<void> Session::stop() {
  co_await tasks_.stop(CancelReason::shutdown);
  co_await peer_.stop();
}

Task<Result<Dialect>> Session::handshake(std::optional<Dialect> known) {
  if (!known || *known == Dialect::modern) {
    auto found = co_await discover();
    if (!found && (known || !may_be_legacy(found.error()))) co_return std::move(found).error();
    if (found && *found == Found::modern) {
      if (info_.announces_tool_changes) tasks_.spawn("mcp.subscribe", subscribe());
      co_return Dialect::modern;
    }
    // A program that ends over a question must be started again before the next one.
    if (peer_.end()) co_return *peer_.end();
  }
  auto ready = co_await initialize();
  if (!ready) co_return std::move(ready).error();
  is_told_of_changes_ = info_.announces_tool_changes;
  co_return Dialect::legacy;
}

Task<Result<Session::Found>> Session::discover() {
  info_.era = Era::modern;
  if (http_) http_->speak(Era::modern, std::string(kModernVersion));
  const rpc::CallOptions options{.silence_max = options_.limits.detect_time};
  auto answer = co_await call("server/discover", {}, options);
  const auto* error = answer ? std::get_if<rpc::RpcError>(&*answer) : nullptr;
  // A server may once refuse a version that it speaks.
  if (error && offers_version(*error, is_modern_version)) {
    answer = co_await call("server/discover", {}, options);
    error = answer ? std::get_if<rpc::RpcError>(&*answer) : nullptr;
  }
  if (!answer) co_return std::move(answer).error();
  if (error) {
    bool is_modern = is_modern_code(error->code) && !offers_version(*error, is_legacy_version);
    if (is_modern) co_return to_error(*error);
    co_return Found::other;
  }
  auto info = parse_discover_result(std::get<json::Value>(*answer));
  if (!info) co_return Found::other;
  info_ = std::move(*info);
  co_return Found::modern;
}

Task<Result<void>> Session::initialize() {
  info_.era = Era::legacy;
  if (http_) http_->speak(Era::legacy, {});
  rpc::CallOptions options{.silence_max = options_.limits.answer_time,
                           .on_abandon = rpc::CallOptions::OnAbandon::say_nothing};
  auto answer = co_await peer_.call("initialize", initialize_params(options_.client, offered()),
                                    std::move(options));
  if (!answer) co_return std::move(answer).error();
  if (const auto* error = std::get_if<rpc::RpcError>(&*answer)) co_return to_error(*error);
  ERRAND_CO_TRY(info_, parse_initialize_result(std::get<json::Value>(*answer)));
  if (http_) http_->speak(Era::legacy, info_.protocol_version);
  if (info_.protocol_version == kBatchVersion) peer_.set_batches(rpc::Batches::accepted);
  ERRAND_CO_CHECK(peer_.notify("notifications/initialized", {}));
  co_await connection_->flush();
  if (http_) http_->listen([this] { options_.on_tools_changed(); });
  co_return Result<void>();
}

Task<Result<rpc::Answer>> Session::call(std::string method, json::Object params,
                                        rpc::CallOptions options) {
  if (info_.era == Era::modern) {
    json::Object meta = modern_meta(options_.client, offered());
    if (const json::Object* own = json::object_at(&params, "_meta")) {
      for (const auto& member : *own) meta[member.key()] = member.value();
    }
    params["_meta"] = std::move(meta);
    // Over HTTP, a call is cancelled by closing its stream.
    if (http_) options.on_abandon = rpc::CallOptions::OnAbandon::say_nothing;
  }
  return peer_.call(std::move(method), std::move(params), std::move(options));
}

// Keeps a request open on which the server reports changes. A proxy may cut every stream after a
// while, so only a server that never accepts the subscription is left alone.
Task<void> Session::subscribe() {
  for (failed_subscriptions_ = 0; failed_subscriptions_ < kFailedSubscriptionsMax && !is_over();
       ++failed_subscriptions_) {
    is_told_of_changes_ = true;
    json::Object params{{"notifications", json::Object{{"toolsListChanged", true}}}};
    auto answer = co_await call("subscriptions/listen", std::move(params),
                                {.silence_max = rpc::CallOptions::kNone});
    is_told_of_changes_ = false;
    bool is_refused = answer && std::holds_alternative<rpc::RpcError>(*answer);
    if (is_refused) co_return;
    options_.on_tools_changed();  // there may have been changes meanwhile
    co_await deps_.timers.sleep_until(deps_.timers.now() + kSubscribePause);
  }
}

bool Session::is_told_of_changes() const {
  bool has_stream = !http_ || info_.era == Era::modern || http_->is_listening();
  return is_told_of_changes_ && has_stream;
}

ClientCapabilities Session::offered() const {
  return options_.features ? options_.features->offered() : ClientCapabilities{};
}

Session::Asked::Asked(Session& session, ClientFeatures* features, std::string caller)
    : session_(session), features_(features), caller_(std::move(caller)) {
  if (features_) session_.asked_.push_back(this);
}

Session::Asked::~Asked() {
  if (features_) session_.asked_.remove(this);
}

// Over HTTP, a question comes in the answer to its call. On a single stream for everything, nothing
// says which call it belongs to.
Result<ClientFeatures*> Session::asked_features(const rpc::ServedRequest& served) const {
  if (asked_.empty()) return options_.features;
  for (const Asked* one : asked_) {
    if (one->features_ == served.owner()) return one->features_;
  }
  const Asked& first = *asked_.front();
  bool is_clear = std::all_of(asked_.begin(), asked_.end(),
                              [&](const Asked* one) { return one->caller_ == first.caller_; });
  if (is_clear) return first.features_;
  return Error(ErrorCode::unavailable,
               "several runs use this server at once, and the request does not say which call it "
               "belongs to");
}

Task<rpc::Answer> Session::handle(rpc::Request request, rpc::ServedRequest* served) {
  bool is_of_call =
      request.method == "sampling/createMessage" || request.method == "elicitation/create";
  auto features = is_of_call ? asked_features(*served) : Result<ClientFeatures*>(options_.features);
  if (!features) {
    co_return rpc::RpcError{.code = rpc::code::kInternalError,
                            .message = features.error().message()};
  }
  rpc::Peer::Pause pause(peer_, *features);
  rpc::Answer answer =
      co_await answer_request(*features, std::move(request.method), std::move(request.params));
  co_return answer;
}

void Session::notice(rpc::Notification notification) {
  if (notification.method == "notifications/tools/list_changed") options_.on_tools_changed();
  if (notification.method == "notifications/subscriptions/acknowledged") failed_subscriptions_ = 0;
}

}  // namespace errand::mcp
