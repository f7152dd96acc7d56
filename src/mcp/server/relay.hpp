#pragma once

#include "mcp/client/client.hpp"
#include "mcp/server/server_session.hpp"

namespace errand::mcp {

// Makes a server that is reached by one transport available to a client of another. The client
// shakes hands here, in its own era; every other request goes to the server, with its progress and
// its cancellation. The server may be restarted meanwhile. Lives on the client's home.
class Relay final : public rpc::Handler {
 public:
  // `client` outlives the relay. `offer` is what the server has.
  Relay(Client& client, ServerOffer offer)
      : client_(client), features_(std::move(offer)), session_(features_) {}

  Task<rpc::Answer> handle(rpc::Request request, rpc::ServedRequest* served) override;
  // Notifies the client if it has asked for that. `peer` is the peer that has this as its handler.
  void announce_change(rpc::Peer& peer, ListKind kind) { session_.announce_change(peer, kind); }

 private:
  class Offer final : public ServerFeatures {
   public:
    explicit Offer(ServerOffer offer) : offer_(std::move(offer)) {}
    ServerOffer offer() const override { return offer_; }

   private:
    const ServerOffer offer_;
  };

  Client& client_;
  Offer features_;
  ServerSession session_;
};

}  // namespace errand::mcp
