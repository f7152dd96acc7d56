#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <errand/mcp.hpp>

#include "base/result.hpp"
#include "mcp/server/server_session.hpp"
#include "sdk/bridge/handlers.hpp"
#include "sdk/mcp/request_state.hpp"
#include "sdk/mcp/uri_template.hpp"
#include "sdk/teller.hpp"

namespace errand::sdk {

// What a server of the program offers to the clients of every transport, and the listeners to its
// changes. Safe to use from any thread.
class McpOffer final {
 public:
  using ToolkitPtr = std::shared_ptr<const v1::Toolkit>;
  struct Template {
    v1::mcp::ResourceTemplate resource;
    UriTemplate uris;
  };
  // Immutable; what is replaced is replaced as a whole.
  struct Parts {
    std::vector<ToolkitPtr> toolkits;
    std::map<std::string, ToolkitPtr, std::less<>> owners;  // of the tools, by their names
    std::vector<v1::mcp::Prompt> prompts;
    std::vector<v1::mcp::Resource> resources;
    std::vector<Template> templates;
  };
  using PartsPtr = std::shared_ptr<const Parts>;

  // A list, or the resource of this URI.
  using Change = std::variant<mcp::ListKind, std::string>;
  using Listener = std::function<void(const Change&)>;

  // conflict, invalid_argument: see v1::mcp::Server.
  static Result<std::shared_ptr<McpOffer>> make(v1::mcp::ServerOptions options);
  static const std::shared_ptr<McpOffer>& of(const v1::mcp::Server& server) {
    return server.offer_;
  }

  const std::string& name() const { return about_.server.name; }
  std::size_t threads_max() const { return threads_max_; }
  const std::shared_ptr<const HandlerServices>& services() const { return services_; }
  const Teller& teller() const { return tell_; }
  const RequestStates& states() const { return states_; }
  // Held by calls of tools that are not parallel-safe.
  std::mutex& one_at_a_time() { return one_at_a_time_; }

  PartsPtr parts() const;
  mcp::ServerOffer offer() const;

  Result<void> set_toolkits(std::vector<v1::Toolkit> toolkits);
  Result<void> set_prompts(std::vector<v1::mcp::Prompt> prompts);
  Result<void> set_resources(std::vector<v1::mcp::Resource> resources,
                             std::vector<v1::mcp::ResourceTemplate> templates);
  void announce(const Change& change);

  // `listener` is called from any thread, and neither waits nor calls back, as long as the caller
  // holds what this returns. Afterwards it is not called any more.
  [[nodiscard]] std::shared_ptr<void> listen(Listener listener);

 private:
  McpOffer(mcp::ServerOffer about, const v1::HandlerOptions& handlers, std::string state_key);
  void replace(const std::function<void(Parts&)>& change, mcp::ListKind kind);

  const mcp::ServerOffer about_;
  const std::size_t threads_max_;
  const std::shared_ptr<const HandlerServices> services_;
  const Teller tell_;
  const RequestStates states_;
  std::mutex one_at_a_time_;

  mutable std::mutex mutex_;
  PartsPtr parts_ = std::make_shared<const Parts>();
  struct Listeners {
    std::mutex mutex;
    std::map<std::size_t, Listener> all;
    std::size_t last = 0;
  };
  const std::shared_ptr<Listeners> listeners_ = std::make_shared<Listeners>();
};

}  // namespace errand::sdk
