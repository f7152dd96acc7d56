#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "mcp/client/client_features.hpp"
#include "mcp/client/http_connection.hpp"
#include "mcp/limits.hpp"
#include "rpc/peer.hpp"

namespace errand::mcp {

// How a server has turned out to speak.
enum class Dialect : std::uint8_t { modern, legacy, legacy_sse };

struct SessionOptions {
  Implementation client;
  ClientFeatures* features = nullptr;  // null: nothing is offered to the server
  ClientLimits limits = {};
  std::function<void()> on_tools_changed = [] {};
};

// One connection to a server, from the handshake to its end. Lives on one home. Must be stopped
// before it is destroyed.
class Session final : public rpc::Handler {
 public:
  // `http` is the connection if it is one of Streamable HTTP, else null.
  Session(ClientDeps deps, SessionOptions options, std::unique_ptr<rpc::Connection> connection,
          HttpConnection* http);

  // Finds out the era of the server, unless it is known, and makes the server ready for calls.
  // Fails with the error of the last attempt.
  Task<Result<Dialect>> handshake(std::optional<Dialect> known);

  // After the handshake. As rpc::Peer::call.
  Task<Result<rpc::Answer>> call(std::string method, json::Object params, rpc::CallOptions options);

  const ServerInfo& info() const { return info_; }
  bool is_over() const { return peer_.end().has_value(); }
  // Whether the server tells of changes to its tools, and has a way to do so now.
  bool is_told_of_changes() const;
  HttpConnection* http() { return http_; }

  Task<void> stop();

  // A call that is under way, for what the server asks meanwhile. `features` and the session
  // outlive this; null: the call has none of its own.
  class Asked final {
   public:
    Asked(Session& session, ClientFeatures* features, std::string caller);
    ~Asked();
    Asked(const Asked&) = delete;
    Asked& operator=(const Asked&) = delete;

   private:
    friend Session;
    Session& session_;
    ClientFeatures* const features_;
    const std::string caller_;
  };

  Task<rpc::Answer> handle(rpc::Request request, rpc::ServedRequest* served) override;
  void notice(rpc::Notification notification) override;

 private:
  enum class Found : std::uint8_t { modern, other };

  Task<Result<Found>> discover();
  Task<Result<void>> initialize();
  Task<void> subscribe();
  ClientCapabilities offered() const;
  // The call that the server asks about. unavailable: there are several, and nothing says which.
  Result<ClientFeatures*> asked_features(const rpc::ServedRequest& served) const;

  const ClientDeps deps_;
  const SessionOptions options_;
  std::unique_ptr<rpc::Connection> connection_;
  HttpConnection* http_;
  ServerInfo info_;
  bool is_told_of_changes_ = false;
  int failed_subscriptions_ = 0;   // in a row, without the server's acknowledgement
  std::list<const Asked*> asked_;  // the calls under way that have features of their own
  rpc::Peer peer_;
  TaskGroup tasks_;
};

}  // namespace errand::mcp
