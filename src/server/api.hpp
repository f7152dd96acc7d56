#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "engine/access/key_ring.hpp"
#include "engine/access/oauth.hpp"
#include "engine/access/workspaces.hpp"
#include "engine/engine.hpp"
#include "net/server/http_server.hpp"
#include "net/server/router.hpp"
#include "run/log/mail.hpp"
#include "run/principal.hpp"
#include "server/guest_route.hpp"
#include "server/metrics.hpp"
#include "server/openapi/route_info.hpp"
#include "server/rate_limiter.hpp"
#include "server/stream/open_streams.hpp"

namespace errand::server {

class RoomDoor;
struct NamedKind;

struct ApiOptions {
  std::string public_url = {};  // of streamUrl; empty: as the client addressed it
  MissingResult missing_result = MissingResult::refuse;
  std::optional<std::uint32_t> requests_per_minute = {};  // of each key
  // Clients on this machine may read /metrics without a key; not behind a proxy, from which every
  // request comes.
  bool trusts_loopback = false;
  std::function<net::HttpServer::Counts()> http_counts = {};  // none: they are left out
  std::function<SpanTally()> span_counts = {};                // none: spans go nowhere
  std::function<ConnectedTally()> connected = {};             // none: there is only the API
  RoomDoor* rooms = nullptr;            // outlives the API; null: there are no rooms
  std::string data = {};                // the data directory, for /metrics; empty: there is none
  std::string database = {};            // the file of the store, for /metrics; empty: there is none
  std::vector<LimitValue> limits = {};  // for /metrics, beside requestsPerMinute
  const LoopWatch* loop = nullptr;      // for /metrics; outlives the API
};

// The agent-runs protocol over the engine's verbs. Lives on the engine's home.
//
// Files: api.cpp (dispatch, credentials), *_rows.cpp (the table of routes), run_routes.cpp,
// history_routes.cpp (forks and journals), session_routes.cpp, tool_call_routes.cpp,
// model_routes.cpp, key_routes.cpp (keys and workspaces), oauth_routes.cpp, secret_routes.cpp,
// named_record_routes.cpp (agent_routes.cpp, tool_routes.cpp), room_routes.cpp.
class Api final {
 public:
  Api(engine::Engine& engine, engine::KeyRing& keys, ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  // Reads what credentials need besides keys; call once before requests come.
  Task<Result<void>> load() { return oauth_.load(keys_.workspaces()); }
  // Before add_routes. The handlers outlive the API.
  void add_guests(std::vector<GuestRoute> guests);
  // Called with the workspace whose agents or tools a request has changed. There is one listener.
  void on_tools_changed(std::function<void(const WorkspaceSlug&)> listener) {
    on_tools_changed_ = std::move(listener);
  }
  void add_routes(net::Router& router);

  // How clients reach this server; empty if the request does not tell.
  std::string base_url(const net::Request& request) const;
  // Terms for the body of a request that needs no credential.
  static net::BodyTerms open_terms();

 private:
  using Answer = Task<Result<net::Response>>;
  using Verb = Answer (Api::*)(Principal, net::Request);
  using OpenVerb = Task<net::Response> (Api::*)(net::Request);

  // A row of the table of routes, with its handler.
  struct Row {
    RouteInfo info;
    Verb verb = nullptr;
    OpenVerb open_verb = nullptr;  // of a route that needs no credential
    std::function<Task<net::Response>(Principal, net::Request)> guest = {};
  };
  static std::vector<Row> all_rows();
  static std::vector<Row> run_rows();
  static std::vector<Row> history_rows();
  static std::vector<Row> tool_call_rows();
  static std::vector<Row> session_rows();
  static std::vector<Row> secret_rows();
  static std::vector<Row> agent_rows();
  static std::vector<Row> tool_rows();
  static std::vector<Row> tool_test_rows();
  static std::vector<Row> room_rows();
  static std::vector<Row> room_key_rows();
  static std::vector<Row> room_door_rows();
  static std::vector<Row> workspace_rows();
  static std::vector<Row> oauth_rows();
  static std::vector<Row> token_rows();
  static std::vector<Row> server_rows();

  Task<net::Response> dispatch(const Row* row, net::Request request);
  Task<net::Response> admit(const Row* row, net::Request request);
  // Whether the request may send its body, as net::Admission.
  Result<net::BodyTerms> terms_of_body(const Row& row, const net::Request& head);
  Result<Principal> identify(const net::Request& request);
  // not_found: the path names another workspace than the key's.
  Result<Principal> authenticate(Access access, const net::Request& request);
  // The same for a route, with the scope that it takes.
  Result<Principal> authorize(const RouteInfo& route, const net::Request& request);
  // The answer to a request that is refused because of who asks; it is counted.
  net::Response refuse(const Error& error);
  net::Response refuse_client();  // of OAuth
  // Counts the request; what to answer if the key has made too many. Sets the headers that tell how
  // many are left.
  std::optional<net::Response> refuse_excess(const Principal& who,
                                             std::vector<net::Header>& headers);
  Task<net::Response> answer(const Row* row, Principal who, net::Request request);
  // Who presents this key or access token; nothing if it is not good, or not any more.
  std::optional<Principal> find(std::string_view secret);
  // How long it is good yet; absent: it does not expire.
  std::optional<milliseconds> time_left(std::string_view secret, const KeyId& key) const;
  // What never expires is made by those alone whose credential does not expire, either. forbidden.
  Result<void> check_lasting(const Principal& who, const net::Request& request,
                             std::string_view what) const;
  // Ends what the credential has opened.
  void cut(const KeyId& key);
  // The key that the caller presents; empty without one.
  static std::string_view credential(const net::Request& request);

  // Absolute, unless the request does not say how it came here.
  std::string stream_url(const net::Request& request, const Principal& who, const RunId& run) const;

  Task<net::Response> health(net::Request request);
  Task<net::Response> readiness(net::Request request);
  Task<net::Response> openapi(net::Request request);
  Task<net::Response> metrics(net::Request request);

  Answer create_run(Principal who, net::Request request);
  Answer list_runs(Principal who, net::Request request);
  Answer get_run(Principal who, net::Request request);
  Answer stream_run(Principal who, net::Request request);
  Answer list_events(Principal who, net::Request request);
  Answer post_tool_result(Principal who, net::Request request);
  Answer cancel_run(Principal who, net::Request request);
  Answer fork_run(Principal who, net::Request request);
  Answer list_journal(Principal who, net::Request request);
  Answer give_feedback(Principal who, net::Request request);
  Answer get_feedback(Principal who, net::Request request);
  Answer remove_run(Principal who, net::Request request);
  Answer list_tool_calls(Principal who, net::Request request);
  Answer claim_tool_call(Principal who, net::Request request);
  Answer extend_tool_call(Principal who, net::Request request);
  Answer report_progress(Principal who, net::Request request);
  Answer create_session(Principal who, net::Request request);
  Answer list_sessions(Principal who, net::Request request);
  Answer get_session(Principal who, net::Request request);
  Answer end_session(Principal who, net::Request request);
  Answer send_message(Principal who, net::Request request);
  Answer list_session_events(Principal who, net::Request request);
  Answer list_models(Principal who, net::Request request);

  Answer create_key(Principal who, net::Request request);
  Answer list_keys(Principal who, net::Request request);
  Answer revoke_key(Principal who, net::Request request);
  Answer create_workspace(Principal who, net::Request request);
  Answer list_workspaces(Principal who, net::Request request);
  Answer create_oauth_client(Principal who, net::Request request);
  Answer list_oauth_clients(Principal who, net::Request request);
  Answer remove_oauth_client(Principal who, net::Request request);
  Task<net::Response> give_tokens(net::Request request);
  Task<net::Response> take_back_token(net::Request request);
  Answer tell_identity(Principal who, net::Request request);
  // The scopes that routes name, in order.
  std::vector<std::string> known_scopes() const;

  Answer create_secret(Principal who, net::Request request);
  Answer list_secrets(Principal who, net::Request request);
  Answer get_secret(Principal who, net::Request request);
  Answer put_secret(Principal who, net::Request request);
  Answer delete_secret(Principal who, net::Request request);

  // A verb of routes/named_record_routes.hpp, for agents or for stored tools.
  using NamedVerb = Answer(const NamedKind*, engine::Engine*, Principal, net::Request);
  template <NamedVerb* verb, const NamedKind& kind>
  Answer named(Principal who, net::Request request) {
    return verb(&kind, &engine_, std::move(who), std::move(request));
  }

  Answer create_room(Principal who, net::Request request);
  Answer list_rooms(Principal who, net::Request request);
  Answer get_room(Principal who, net::Request request);
  Answer delete_room(Principal who, net::Request request);
  Answer create_room_token(Principal who, net::Request request);
  Answer create_room_key(Principal who, net::Request request);
  Answer list_room_keys(Principal who, net::Request request);
  Answer delete_room_key(Principal who, net::Request request);
  Task<net::Response> join_room(net::Request request);
  Task<net::Response> connect_room(net::Request request);
  Answer room_connection(net::Request request);
  Task<net::Response> get_room_file(net::Request request);

  Answer list_offered_tools(Principal who, net::Request request);
  Answer test_tool(Principal who, net::Request request);

  engine::Engine& engine_;
  engine::KeyRing& keys_;
  engine::Workspaces workspaces_;
  engine::OAuth oauth_;
  ApiOptions options_;
  OpenStreams streams_;
  std::optional<RateLimiter> limiter_;
  RequestCounts requests_;
  std::function<void(const WorkspaceSlug&)> on_tools_changed_ = [](const WorkspaceSlug&) {};
  std::vector<Row> rows_;  // complete once the routes are added
  std::string openapi_;    // the document, once it was asked for
  const WallTime started_at_;
};

}  // namespace errand::server
