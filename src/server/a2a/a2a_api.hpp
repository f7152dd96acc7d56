#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "a2a/codec.hpp"
#include "engine/engine.hpp"
#include "rpc/message.hpp"
#include "server/a2a/agent_directory.hpp"
#include "server/guest_route.hpp"

namespace errand::server {

// The agents of a server for A2A clients of both versions: a card and a JSON-RPC endpoint for each,
// at /api/a2a/{slug}/agents/{agent}. A task is a run, and a context is a session. Lives on
// the engine's home.
class A2aApi final {
 public:
  static constexpr std::size_t kListMax = 100;       // tasks on a page
  static constexpr std::size_t kListScanMax = 1000;  // runs that are looked at for one answer

  // Outlive the object.
  struct Deps {
    engine::Engine& engine;
    // How clients reach this server.
    std::function<std::string(const net::Request&)> base_url;
  };

  explicit A2aApi(Deps deps);

  // The routes, whose handlers this has to outlive.
  std::vector<GuestRoute> routes();

 private:
  // Who asks whom, and how to answer.
  struct Call {
    Principal who;
    OfferedAgent agent;
    rpc::Id id;
    a2a::Version version = a2a::Version::v10;
    std::shared_ptr<const json::Object> params;
  };
  using Answer = std::variant<json::Object, rpc::RpcError, net::Response>;

  Task<net::Response> show_card(Principal who, net::Request request);
  Task<net::Response> handle(Principal who, net::Request request);
  Task<Answer> dispatch(a2a::Verb verb, Call call);
  Task<Answer> send(Call call);
  Task<Answer> stream(Call call);
  Task<Answer> get(Call call);
  Task<Answer> list(Call call);
  Task<Answer> cancel(Call call);
  Task<Answer> subscribe(Call call);

  // The run that a message starts.
  Task<Result<RunId>> start(const Call* call);
  Task<Result<SessionId>> context_of(const Call* call, std::string context_id,
                                     Idempotency idempotency);
  // not_found: no such run, or one of another agent.
  Task<Result<engine::RunView>> find_run(const Call* call, std::string_view id);
  struct TaskPage {
    std::vector<RunRow> runs;
    std::size_t total = 0;  // on all pages, as far as kListScanMax reaches from the newest on
    std::string next;       // where the next page begins; empty: there is none
  };
  Task<Result<TaskPage>> page_of(const Call* call, RunFilter filter, std::size_t limit);
  Task<Result<std::size_t>> count(const Call* call, RunFilter filter);
  Task<Result<void>> wait_for_end(Principal who, RunId run);
  Task<Answer> open_stream(const Call* call, RunId run);

  const Deps deps_;
};

}  // namespace errand::server
