#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "async/task_group.hpp"
#include "mcp/server/http_session.hpp"
#include "net/http.hpp"
#include "net/server/host_rules.hpp"

namespace errand::mcp {

// Who asks, and what there is for them.
struct HttpCaller {
  std::string owner;  // a session belongs to the owner who began it; others do not find it
  std::string group;  // sessions of one group get the same notices of changes
  std::shared_ptr<ServerFeatures> features;
};

// A server over Streamable HTTP, in both eras at once. A quick answer without notices is a JSON
// body; any other answer is an event stream. Whoever leaves a stream of the modern era cancels the
// request. Streams cannot be resumed. Lives on one home; must be stopped once the HTTP server
// before it has been.
class HttpEndpoint final {
 public:
  static constexpr milliseconds kPatience = seconds(1);  // then the answer becomes a stream
  // Of the legacy era. A new one takes the place of the one that was idle longest; if none is idle,
  // it is refused.
  static constexpr std::size_t kSessionsMax = 1000;
  static constexpr milliseconds kIdleMax = std::chrono::hours(1);
  static constexpr std::size_t kRequestsMax = 1000;  // of the modern era at once; beyond: 503

  // Long bodies are read on `pool`; without one (nullptr) at home. What waits for readers counts in
  // `readers`, if there are any. Both outlive the endpoint.
  HttpEndpoint(Executor home, net::HostRules hosts, TaskGroup::OnBug on_bug,
               BlockingPool* pool = nullptr, ReaderBudget* readers = nullptr);

  // A request with the method POST, GET or DELETE.
  Task<net::Response> handle(net::Request request, HttpCaller caller);

  // Tells every client of the group that wants to know.
  void announce_change(ListKind kind, std::string_view group);
  // Tells every client that wants to know.
  void announce_update(const std::string& uri);

  struct Counts {
    std::size_t sessions = 0;  // of the legacy era
    std::size_t requests = 0;  // of the modern era, under way
  };
  Counts counts() const { return {.sessions = sessions_.size(), .requests = requests_.size()}; }

  Task<void> stop();

 private:
  using SessionPtr = std::shared_ptr<HttpSession>;
  struct Known {
    std::string id;
    std::string owner;
    std::string group;
    SessionPtr session;
    SteadyTime used{};
  };
  struct Posted {
    std::vector<rpc::Incoming> messages;
    const rpc::Request* first = nullptr;  // request, if there is any
  };

  Task<net::Response> post(net::Request request, HttpCaller caller);
  Task<net::Response> post_modern(net::Request request, Posted posted, HttpCaller caller);
  Task<net::Response> post_legacy(net::Request request, Posted posted, HttpCaller caller);
  Task<net::Response> begin_session(Posted posted, HttpCaller caller);
  net::Response open_stream(const net::Request& request, const HttpCaller& caller);
  net::Response end_session(const net::Request& request, const HttpCaller& caller);

  Known* find(std::string_view id, const HttpCaller& caller);
  bool make_room();
  void end(SessionPtr session);
  void end_request(const SessionPtr& session);
  static Task<void> stop_session(SessionPtr session);

  const Executor home_;
  const net::HostRules hosts_;
  const TaskGroup::OnBug on_bug_;
  BlockingPool* const pool_;
  ReaderBudget* const readers_;
  std::list<Known> sessions_;                   // of the legacy era; the one used last is first
  std::map<SessionPtr, std::string> requests_;  // of the modern era, with their groups
  bool is_stopping_ = false;
  TaskGroup ending_;  // last: tasks use everything above
};

}  // namespace errand::mcp
