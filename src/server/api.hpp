#pragma once

#include <string>
#include <vector>

#include "async/task.hpp"
#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/key_ring.hpp"
#include "net/server/router.hpp"
#include "run/log/mail.hpp"
#include "run/principal.hpp"
#include "server/openapi/route_info.hpp"

namespace errand::server {

struct ApiOptions {
  std::string public_url = {};  // of streamUrl; empty: the one that the client has used
  MissingResult missing_result = MissingResult::refuse;
};

// The agent-runs protocol over the engine's verbs. Lives on the engine's home.
//
// Files: api.cpp (dispatch, credentials), *_rows.cpp (the table of routes), run_routes.cpp,
// history_routes.cpp (forks and journals), session_routes.cpp, tool_call_routes.cpp,
// model_routes.cpp, key_routes.cpp.
class Api final {
 public:
  Api(engine::Engine& engine, engine::KeyRing& keys, ApiOptions options);

  void add_routes(net::Router& router);

  // Who asks. unauthorized: no key, or an unknown one. not_found: the path names another workspace
  // than the key's.
  Result<Principal> authenticate(Access access, const net::Request& request) const;

 private:
  using Answer = Task<Result<net::Response>>;
  using Verb = Answer (Api::*)(Principal, net::Request);
  using OpenVerb = Task<net::Response> (Api::*)(net::Request);

  // A row of the table of routes, with its handler.
  struct Row {
    RouteInfo info;
    Verb verb = nullptr;
    OpenVerb open_verb = nullptr;  // of a route that needs no credential
  };
  static std::vector<Row> all_rows();
  static std::vector<Row> run_rows();
  static std::vector<Row> history_rows();
  static std::vector<Row> tool_call_rows();
  static std::vector<Row> session_rows();
  static std::vector<Row> server_rows();

  Task<net::Response> dispatch(const Row* row, net::Request request);
  // The key that the caller presents; empty without one.
  static std::string_view credential(const net::Request& request);

  // Absolute, unless the request does not say how it came here.
  std::string stream_url(const net::Request& request, const Principal& who, const RunId& run) const;

  Task<net::Response> health(net::Request request);
  Task<net::Response> readiness(net::Request request);
  Task<net::Response> openapi(net::Request request);

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

  engine::Engine& engine_;
  engine::KeyRing& keys_;
  ApiOptions options_;
  const std::vector<Row> rows_;
  std::string openapi_;  // the document, once somebody has asked for it
};

}  // namespace errand::server
