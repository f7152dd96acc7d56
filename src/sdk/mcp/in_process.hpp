#pragma once

#include <list>
#include <memory>

#include "async/task_group.hpp"
#include "mcp/client/client.hpp"
#include "sdk/bridge/handlers.hpp"
#include "sdk/mcp/mcp_offer.hpp"

namespace errand::sdk {

// Servers of the program, as MCP clients on the same home reach them. Their handlers run on the
// threads of `handlers`. Lives on one home; must be stopped before it is destroyed, after the
// clients.
class InProcessServers final {
 public:
  InProcessServers(Handlers& handlers, TaskGroup::OnBug on_bug);
  InProcessServers(const InProcessServers&) = delete;
  InProcessServers& operator=(const InProcessServers&) = delete;

  // What a client connects to. This outlives the client.
  mcp::CustomServer address_of(std::shared_ptr<McpOffer> offer);

  Task<void> stop();

 private:
  class Session;
  using SessionPtr = std::shared_ptr<Session>;

  std::unique_ptr<rpc::Connection> connect(std::shared_ptr<McpOffer> offer);
  static Task<void> end(SessionPtr session);

  Handlers& handlers_;
  const TaskGroup::OnBug on_bug_;
  std::list<SessionPtr> sessions_;
  TaskGroup ending_;
};

}  // namespace errand::sdk
