#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mcp/inbox.hpp"
#include "mcp/server/http_reply.hpp"
#include "mcp/server/server_session.hpp"
#include "rpc/peer.hpp"

namespace errand::mcp {

// One client over HTTP: its dispatcher, and which HTTP request each message goes out with. In the
// legacy era a client has one for as long as its session lasts; in the modern era each request has
// its own. Must be stopped before it is destroyed.
class HttpSession final : public rpc::Connection {
 public:
  // Messages that belong to no request and wait for the client's GET; beyond, the oldest is lost.
  static constexpr std::size_t kUnsentMax = 256;

  // `readers` as for HttpReply.
  HttpSession(const Executor& home, std::shared_ptr<ServerFeatures> features,
              TaskGroup::OnBug on_bug, ReaderBudget* readers);

  // Takes the messages of one POST. Its requests have ids that are not in use. Gives what the
  // requests are answered with; nothing without any.
  std::shared_ptr<HttpReply> post(std::vector<rpc::Incoming> messages);
  // The stream of what belongs to no request; nullptr: there is one already.
  std::shared_ptr<HttpReply> open_stream();
  bool has_request(const rpc::Id& id) const { return replies_.contains(id); }
  bool is_busy() const { return !replies_.empty() || has_stream(); }

  void announce_change(ListKind kind) { dispatcher_.announce_change(peer_, kind); }
  void announce_update(const std::string& uri) { dispatcher_.announce_update(peer_, uri); }

  Task<void> stop();

  // For the peer.
  Result<void> send(rpc::Outgoing message) override;
  void dropped(const rpc::Id& id) override;
  Task<Result<std::optional<rpc::Received>>> receive() override { return inbox_.take(); }
  void close() override;
  Task<void> join() override { co_return; }

 private:
  bool has_stream() const { return stream_ && !stream_->is_abandoned() && !stream_->is_over(); }

  const Executor home_;
  ReaderBudget* const readers_;
  const std::shared_ptr<ServerFeatures> features_;
  ServerSession dispatcher_;
  Inbox inbox_;
  std::map<rpc::Id, std::shared_ptr<HttpReply>> replies_;  // of requests without their answers
  std::shared_ptr<HttpReply> stream_;
  std::deque<rpc::Outgoing> unsent_;
  rpc::Peer peer_;
};

}  // namespace errand::mcp
