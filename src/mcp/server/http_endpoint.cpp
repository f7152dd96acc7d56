#include "mcp/server/http_endpoint.hpp"

#include <algorithm>
#include <utility>

#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "crypto/random.hpp"
#include "mcp/server/http_checks.hpp"
#include "mcp/server_codec.hpp"
#include "net/url.hpp"

namespace errand::mcp {
namespace {

constexpr std::size_t kSessionIdBytes = 16;

SteadyTime now() {
  return std::chrono::steady_clock::now();
}

net::Response stream_of(std::shared_ptr<HttpReply> reply, std::function<void()> on_left) {
  net::Response response;
  response.content_type = "text/event-stream";
  response.headers.push_back({"Cache-Control", "no-cache"});
  response.headers.push_back({"X-Accel-Buffering", "no"});
  response.events = std::make_unique<HttpReplyFeed>(std::move(reply), std::move(on_left));
  return response;
}

net::Response stopping_response() {
  return refusal(503, rpc::code::kOverloaded, "the server is shutting down");
}

// The answer to a request whose body was not parsed: it takes too much work, or too many others are
// being parsed.
net::Response unread_response(const Error& why) {
  if (why.reason() != "too_complex") {
    return refusal(503, rpc::code::kOverloaded, why.message());
  }
  rpc::RpcError error{.code = rpc::code::kInvalidRequest, .message = why.message()};
  error.data = limit_data(why);
  return error_response(400, {}, std::move(error));
}

}  // namespace

HttpEndpoint::HttpEndpoint(Executor home, net::HostRules hosts, TaskGroup::OnBug on_bug,
                           BlockingPool* pool, ReaderBudget* readers)
    : home_(std::move(home)),
      hosts_(std::move(hosts)),
      on_bug_(std::move(on_bug)),
      pool_(pool),
      readers_(readers),
      ending_(home_, on_bug_) {}

Task<net::Response> HttpEndpoint::handle(net::Request request, HttpCaller caller) {
  if (!hosts_.allows_host(request.header("host"))) {
    co_return refusal(403, rpc::code::kInvalidRequest, "this server does not go by that name");
  }
  if (!hosts_.allows_origin(request.header("origin"))) {
    co_return refusal(403, rpc::code::kInvalidRequest, "requests of this origin are not accepted");
  }
  if (is_stopping_) co_return stopping_response();
  switch (request.method) {
    case net::Method::post: break;
    case net::Method::get: co_return open_stream(request, caller);
    default: co_return end_session(request, caller);
  }
  auto response = co_await post(std::move(request), std::move(caller));
  co_return response;
}

Task<net::Response> HttpEndpoint::post(net::Request request, HttpCaller caller) {
  if (auto refused = check_types(request)) co_return std::move(*refused);
  auto messages = co_await read_aside(&request.body, pool_, [](std::string_view text) {
    return rpc::read_messages(text, rpc::Batches::accepted);
  });
  if (!messages) co_return unread_response(messages.error());
  if (is_stopping_) co_return stopping_response();
  Posted posted{.messages = std::move(*messages)};
  for (const rpc::Incoming& message : posted.messages) {
    if (const auto* malformed = std::get_if<rpc::Malformed>(&message)) {
      co_return error_response(400, malformed->id, malformed->error);
    }
    const auto* asked = std::get_if<rpc::Request>(&message);
    if (asked && !posted.first) posted.first = asked;
  }
  if (is_modern(request, posted.first)) {
    auto response = co_await post_modern(std::move(request), std::move(posted), std::move(caller));
    co_return response;
  }
  auto response = co_await post_legacy(std::move(request), std::move(posted), std::move(caller));
  co_return response;
}

Task<net::Response> HttpEndpoint::post_modern(net::Request request, Posted posted,
                                              HttpCaller caller) {
  // Over HTTP, notifications of this era mean nothing: a client cancels a request by leaving.
  if (!posted.first) co_return accepted();
  if (posted.messages.size() > 1) {
    co_return refusal(400, rpc::code::kInvalidRequest, "this version of MCP has no batches");
  }
  rpc::Id id = posted.first->id;
  if (auto wrong = check_modern(request, *posted.first)) {
    co_return error_response(400, id, std::move(*wrong));
  }
  if (requests_.size() >= kRequestsMax) {
    co_return error_response(
        503, id, {.code = rpc::code::kOverloaded, .message = "too many requests are unanswered"});
  }
  auto session =
      std::make_shared<HttpSession>(home_, std::move(caller.features), on_bug_, readers_);
  requests_.emplace(session, std::move(caller.group));
  std::shared_ptr<HttpReply> reply = session->post(std::move(posted.messages));
  co_await reply->wait_until(now() + kPatience);
  if (reply->is_single()) {
    end_request(session);
    co_return json_response(modern_status(reply->error_code()), reply->take_single());
  }
  co_return stream_of(reply, [this, session] { end_request(session); });
}

Task<net::Response> HttpEndpoint::post_legacy(net::Request request, Posted posted,
                                              HttpCaller caller) {
  bool begins = posted.first && posted.first->method == "initialize";
  if (begins) {
    auto response = co_await begin_session(std::move(posted), std::move(caller));
    co_return response;
  }
  if (auto refused = check_legacy(request)) co_return std::move(*refused);
  Known* known = find(request.header("mcp-session-id"), caller);
  if (!known) co_return refusal(404, rpc::code::kInvalidRequest, "there is no such session");
  SessionPtr session = known->session;
  for (const rpc::Incoming& message : posted.messages) {
    const auto* asked = std::get_if<rpc::Request>(&message);
    if (asked && session->has_request(asked->id)) {
      co_return error_response(
          400, asked->id,
          {.code = rpc::code::kInvalidRequest, .message = "a request with this id is unanswered"});
    }
  }
  std::shared_ptr<HttpReply> reply = session->post(std::move(posted.messages));
  if (!reply) co_return accepted();
  co_await reply->wait_until(now() + kPatience);
  if (reply->is_single()) co_return json_response(200, reply->take_single());
  co_return stream_of(reply, [session] {});
}

Task<net::Response> HttpEndpoint::begin_session(Posted posted, HttpCaller caller) {
  if (posted.messages.size() > 1) {
    co_return refusal(400, rpc::code::kInvalidRequest, "initialize stands alone");
  }
  if (!make_room()) {
    co_return refusal(503, rpc::code::kOverloaded, "too many sessions are in use");
  }
  auto session =
      std::make_shared<HttpSession>(home_, std::move(caller.features), on_bug_, readers_);
  std::string id = crypto::random_hex(kSessionIdBytes);
  sessions_.push_front({.id = id,
                        .owner = std::move(caller.owner),
                        .group = std::move(caller.group),
                        .session = session,
                        .used = now()});
  std::shared_ptr<HttpReply> reply = session->post(std::move(posted.messages));
  co_await reply->wait_until(SteadyTime::max());
  net::Response response = json_response(200, reply->is_single() ? reply->take_single() : "");
  if (reply->error_code() || !reply->is_single()) {
    auto made = std::find_if(sessions_.begin(), sessions_.end(),
                             [&session](const Known& one) { return one.session == session; });
    if (made != sessions_.end()) sessions_.erase(made);
    end(session);
    co_return response;
  }
  response.headers.push_back({"MCP-Session-Id", std::move(id)});
  co_return response;
}

net::Response HttpEndpoint::open_stream(const net::Request& request, const HttpCaller& caller) {
  if (request.header("mcp-session-id").empty()) {
    return refusal(405, rpc::code::kInvalidRequest, "only a session has a stream");
  }
  if (request.header("accept").find("text/event-stream") == std::string_view::npos) {
    return refusal(406, rpc::code::kInvalidRequest, "the client must accept text/event-stream");
  }
  Known* known = find(request.header("mcp-session-id"), caller);
  if (!known) return refusal(404, rpc::code::kInvalidRequest, "there is no such session");
  SessionPtr session = known->session;
  std::shared_ptr<HttpReply> reply = session->open_stream();
  if (!reply) return refusal(409, rpc::code::kInvalidRequest, "the session has a stream already");
  return stream_of(std::move(reply), [session] {});
}

net::Response HttpEndpoint::end_session(const net::Request& request, const HttpCaller& caller) {
  std::string_view id = request.header("mcp-session-id");
  if (id.empty()) return refusal(405, rpc::code::kInvalidRequest, "only a session can be ended");
  if (!find(id, caller)) {
    return refusal(404, rpc::code::kInvalidRequest, "there is no such session");
  }
  SessionPtr session = std::move(sessions_.front().session);
  sessions_.pop_front();
  end(std::move(session));
  net::Response response;
  response.status = 204;
  response.content_type.clear();
  return response;
}

// Moves the session that is found to the front.
HttpEndpoint::Known* HttpEndpoint::find(std::string_view id, const HttpCaller& caller) {
  auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const Known& one) {
    return one.id == id && one.owner == caller.owner;
  });
  if (found == sessions_.end()) return nullptr;
  sessions_.splice(sessions_.begin(), sessions_, found);
  found->used = now();
  return &*found;
}

// Ends sessions that were not used for long, and one more if there are too many.
bool HttpEndpoint::make_room() {
  SteadyTime oldest = now() - kIdleMax;
  std::size_t wanted = sessions_.size() >= kSessionsMax ? sessions_.size() - kSessionsMax + 1 : 0;
  for (auto one = sessions_.end(); one != sessions_.begin();) {
    --one;
    bool is_old = one->used < oldest;
    if (!is_old && wanted == 0) break;
    if (one->session->is_busy()) continue;
    end(std::move(one->session));
    one = sessions_.erase(one);
    if (wanted > 0) --wanted;
  }
  return wanted == 0;
}

void HttpEndpoint::end(SessionPtr session) {
  ending_.spawn("mcp.end", stop_session(std::move(session)));
}

void HttpEndpoint::end_request(const SessionPtr& session) {
  if (requests_.erase(session) > 0) end(session);
}

Task<void> HttpEndpoint::stop_session(SessionPtr session) {
  co_await session->stop();
}

void HttpEndpoint::announce_change(ListKind kind, std::string_view group) {
  for (Known& one : sessions_) {
    if (one.group == group) one.session->announce_change(kind);
  }
  for (const auto& [session, its_group] : requests_) {
    if (its_group == group) session->announce_change(kind);
  }
}

void HttpEndpoint::announce_update(const std::string& uri) {
  for (Known& one : sessions_) one.session->announce_update(uri);
  for (const auto& [session, group] : requests_) session->announce_update(uri);
}

Task<void> HttpEndpoint::stop() {
  is_stopping_ = true;
  for (Known& one : std::exchange(sessions_, {})) end(std::move(one.session));
  for (const auto& [session, group] : std::exchange(requests_, {})) end(session);
  co_await ending_.join();
}

}  // namespace errand::mcp
