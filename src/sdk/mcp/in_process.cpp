#include "sdk/mcp/in_process.hpp"

#include <utility>

#include "async/completion.hpp"
#include "rpc/memory_connection.hpp"
#include "sdk/mcp/toolkit_features.hpp"

namespace errand::sdk {

// The server's side of one connection.
class InProcessServers::Session final : public std::enable_shared_from_this<Session> {
 public:
  Session(Handlers& handlers, std::shared_ptr<McpOffer> offer,
          std::unique_ptr<rpc::Connection> connection, TaskGroup::OnBug on_bug)
      : home_(handlers.home()),
        offer_(std::move(offer)),
        features_(offer_, handlers),
        dispatcher_(features_),
        connection_(std::move(connection)),
        peer_(home_, *connection_, dispatcher_, std::move(on_bug)) {}

  void start() {
    peer_.start();
    listening_ = offer_->listen([home = home_, self = weak_from_this()](const auto& change) {
      post_from_outside(home, [self, change] {
        if (auto session = self.lock()) session->tell(change);
      });
    });
  }
  bool is_over() const { return peer_.end().has_value(); }
  Task<void> stop() {
    listening_.reset();
    return peer_.stop();
  }

 private:
  void tell(const McpOffer::Change& change) {
    if (const auto* list = std::get_if<mcp::ListKind>(&change)) {
      dispatcher_.announce_change(peer_, *list);
    } else {
      dispatcher_.announce_update(peer_, std::get<std::string>(change));
    }
  }

  const Executor home_;
  const std::shared_ptr<McpOffer> offer_;
  ToolkitFeatures features_;
  mcp::ServerSession dispatcher_;
  const std::unique_ptr<rpc::Connection> connection_;
  rpc::Peer peer_;
  std::shared_ptr<void> listening_;  // listens to changes of the offer
};

InProcessServers::InProcessServers(Handlers& handlers, TaskGroup::OnBug on_bug)
    : handlers_(handlers), on_bug_(std::move(on_bug)), ending_(handlers.home(), on_bug_) {}

mcp::CustomServer InProcessServers::address_of(std::shared_ptr<McpOffer> offer) {
  return {.connect = [this, offer = std::move(offer)] {
    return Result<std::unique_ptr<rpc::Connection>>(connect(offer));
  }};
}

std::unique_ptr<rpc::Connection> InProcessServers::connect(std::shared_ptr<McpOffer> offer) {
  for (auto one = sessions_.begin(); one != sessions_.end();) {
    auto next = std::next(one);
    if ((*one)->is_over()) {
      ending_.spawn("mcp.end", end(std::move(*one)));
      sessions_.erase(one);
    }
    one = next;
  }
  auto [ours, theirs] = rpc::make_connection_pair(handlers_.home());
  auto session = std::make_shared<Session>(handlers_, std::move(offer), std::move(ours), on_bug_);
  session->start();
  sessions_.push_back(std::move(session));
  return std::move(theirs);
}

Task<void> InProcessServers::end(SessionPtr session) {
  co_await session->stop();
}

Task<void> InProcessServers::stop() {
  for (SessionPtr& one : std::exchange(sessions_, {})) {
    ending_.spawn("mcp.end", end(std::move(one)));
  }
  co_await ending_.join();
}

}  // namespace errand::sdk
