#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "mcp/server/server_features.hpp"

namespace errand::mcp {

// What has changed, for clients that want to know.
enum class ListKind : std::uint8_t { tools, prompts, resources };

// A server for one client: the dispatcher of its requests, in both eras at once. A request that
// names its version in `_meta` is one of the modern era and needs nothing before it; any other
// client must initialize first. Knows no transport: give it to an rpc::Peer as the handler. Over a
// stateless transport, each request has a session of its own.
class ServerSession final : public rpc::Handler {
 public:
  static constexpr std::size_t kPageItems = 500;          // of a list in one answer
  static constexpr std::size_t kSubscriptionsMax = 1000;  // of resources, by one client

  explicit ServerSession(ServerFeatures& features) : features_(features) {}

  Task<rpc::Answer> handle(rpc::Request request, rpc::ServedRequest* served) override;
  void notice(rpc::Notification notification) override;

  // Notifies the client if it has asked for that. `peer` is the peer that has this as its handler.
  void announce_change(rpc::Peer& peer, ListKind kind);
  void announce_update(rpc::Peer& peer, const std::string& uri);

  bool is_initialized() const { return client_.has_value(); }

 private:
  struct Context {
    Era era = Era::legacy;
    ClientCapabilities client;
    std::optional<LogLevel> log_level;
    rpc::ServedRequest* served = nullptr;
  };
  using Method = Task<Result<json::Object>> (ServerSession::*)(json::Object, Context);
  struct Entry {
    enum class In : std::uint8_t { both, legacy, modern };

    Method method;
    In eras = In::both;
    bool ServerOffer::* offered = nullptr;  // null: always there
    enum class Result : std::uint8_t { plain, cacheable };
    Result result = Result::plain;
  };
  static const std::map<std::string_view, Entry>& methods();

  Task<rpc::Answer> dispatch(rpc::Request request, Context context);
  std::variant<Context, rpc::RpcError> context_of(const rpc::Request& request,
                                                  rpc::ServedRequest* served) const;

  Task<Result<json::Object>> initialize(json::Object params, Context context);
  Task<Result<json::Object>> discover(json::Object params, Context context);
  Task<Result<json::Object>> ping(json::Object params, Context context);
  Task<Result<json::Object>> set_level(json::Object params, Context context);
  Task<Result<json::Object>> listen(json::Object params, Context context);
  Task<Result<json::Object>> list_tools(json::Object params, Context context);
  Task<Result<json::Object>> call_tool(json::Object params, Context context);
  Task<Result<json::Object>> list_prompts(json::Object params, Context context);
  Task<Result<json::Object>> get_prompt(json::Object params, Context context);
  Task<Result<json::Object>> list_resources(json::Object params, Context context);
  Task<Result<json::Object>> list_templates(json::Object params, Context context);
  Task<Result<json::Object>> read_resource(json::Object params, Context context);
  Task<Result<json::Object>> subscribe(json::Object params, Context context);
  Task<Result<json::Object>> unsubscribe(json::Object params, Context context);
  Task<Result<json::Object>> complete(json::Object params, Context context);

  struct Listener {
    std::set<ListKind> lists;
    std::set<std::string> uris;
  };
  class Listening;

  ServerFeatures& features_;
  std::optional<ClientCapabilities> client_;  // of the legacy era, once it has initialized
  std::optional<LogLevel> log_level_;
  std::set<std::string> subscriptions_;    // of the legacy era
  std::map<rpc::Id, Listener> listeners_;  // of the modern era
};

}  // namespace errand::mcp
