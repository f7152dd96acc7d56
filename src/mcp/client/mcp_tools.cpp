#include "mcp/client/mcp_tools.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "mcp/client/client_tools.hpp"
#include "mcp/client/offered_features.hpp"
#include "mcp/tool_result.hpp"
#include "tool/blot_decls.hpp"
#include "tool/no_tools.hpp"

namespace errand::mcp {
namespace {

constexpr milliseconds kDownTime = seconds(10);

McpServer configured_ref(const std::string& name) {
  return {.name = name, .url = cat(kConfiguredServer, name), .headers = {}, .tool_filter = {}};
}

// The name under which the configuration has the server.
std::string name_of(const McpServer& server) {
  return server.url.substr(kConfiguredServer.size());
}

using NetHeaders = std::vector<net::Header>;

std::string key_of(const McpServer& server, const ServerAddress& address, const Principal& who,
                   Caller caller) {
  std::string key =
      cat(who.workspace.view(), caller == Caller::run ? "\nrun\n" : "\n\n", server.url);
  const auto* http = std::get_if<HttpServer>(&address);
  for (const net::Header& header : http ? http->headers : NetHeaders()) {
    append(key, "\n", header.name, ":", header.value);
  }
  return key;
}

Task<Result<NetHeaders>> filled(NetHeaders headers, CallSecrets* secrets) {
  Headers pairs;
  for (net::Header& header : headers) {
    pairs.emplace_back(std::move(header.name), std::move(header.value));
  }
  ERRAND_CO_TRY(pairs, co_await secrets->fill(std::move(pairs)));
  NetHeaders out;
  for (auto& [name, value] : pairs) out.push_back({std::move(name), std::move(value)});
  co_return out;
}

// Headers of the configuration hold their keys in plain text, perhaps behind a scheme.
void remember(const NetHeaders& headers, CallSecrets* secrets) {
  for (const net::Header& header : headers) {
    if (!may_be_secret(header.name, header.value)) continue;
    secrets->remember(header.value);
    secrets->remember(header.value.substr(header.value.rfind(' ') + 1));
  }
}

}  // namespace

McpTools::McpTools(ClientDeps deps, Configured configured, SecretSource* secrets)
    : deps_(deps),
      configured_(std::move(configured)),
      secrets_(secrets),
      ending_(deps.home, deps.on_bug),
      asking_(deps.home, deps.on_bug) {
  for (Caller caller : {Caller::run, Caller::other}) {
    const bool is_run = caller == Caller::run;
    const ClientCapabilities calls{.sampling = is_run, .elicitation = is_run};
    features_[{"", caller}] = std::make_unique<OfferedFeatures>(std::vector<Root>(), calls);
    for (const auto& [name, server] : configured_.servers) {
      features_[{name, caller}] = std::make_unique<OfferedFeatures>(server.roots, calls);
    }
  }
}

ClientFeatures* McpTools::features_for(const McpServer& server, Caller caller) const {
  return features_.at({server.is_configured() ? name_of(server) : "", caller}).get();
}

Result<ServerAddress> McpTools::address_of(const McpServer& server) const {
  if (server.is_configured()) {
    auto found = configured_.servers.find(name_of(server));
    if (found != configured_.servers.end()) return found->second.address;
    return Error(ErrorCode::not_found,
                 cat("the configuration has no MCP server called \"", name_of(server), "\""));
  }
  HttpServer http{.url = server.url};
  for (const auto& [name, value] : server.headers) http.headers.push_back({name, value});
  return ServerAddress(std::move(http));
}

Task<Result<McpTools::ClientPtr>> McpTools::client_for(McpServer server, Principal who,
                                                       CallSecrets* secrets, Caller caller) {
  ERRAND_CO_TRY(auto address, address_of(server));
  if (auto* http = std::get_if<HttpServer>(&address); http && secrets) {
    ERRAND_CO_TRY(http->headers, co_await filled(http->headers, secrets));
    if (server.is_configured()) remember(http->headers, secrets);
  }
  if (server.is_configured() && secrets) {
    for (const std::string& value : configured_.servers.at(name_of(server)).secrets) {
      secrets->remember(value);
    }
  }
  co_return client_at(std::move(address), server, who, caller);
}

// Closes the idle client that was used longest ago. Returns false if all clients are in use.
bool McpTools::make_room() {
  if (clients_.size() < kClientsMax) return true;
  auto idle = std::find_if(clients_.rbegin(), clients_.rend(),
                           [](const Known& one) { return one.client.use_count() == 1; });
  if (idle == clients_.rend()) return false;
  ending_.spawn("mcp.end", end(std::move(idle->client)));
  clients_.erase(std::next(idle).base());
  return true;
}

Result<McpTools::ClientPtr> McpTools::client_at(ServerAddress address, const McpServer& server,
                                                const Principal& who, Caller caller) {
  std::string key = key_of(server, address, who, caller);
  auto known = std::find_if(clients_.begin(), clients_.end(),
                            [&key](const Known& one) { return one.key == key; });
  if (known != clients_.end()) {
    clients_.splice(clients_.begin(), clients_, known);
    return clients_.front().client;
  }
  if (!make_room()) {
    return Error(ErrorCode::rate_limited,
                 cat(kClientsMax, " MCP servers are in use at once; try again later"));
  }
  ClientDeps deps{.home = deps_.home,
                  .http = server.is_configured() ? configured_.http : deps_.http,
                  .timers = deps_.timers,
                  .on_bug = deps_.on_bug,
                  .schemas = deps_.schemas};
  ClientOptions options{.server = std::move(address), .features = features_for(server, caller)};
  if (server.is_configured() && caller == Caller::other) {
    options.on_tools_changed = [this, workspace = who.workspace] {
      if (tell_changed_) tell_changed_(workspace);
    };
  }
  clients_.push_front(
      {.key = std::move(key), .client = std::make_shared<Client>(deps, std::move(options))});
  return clients_.front().client;
}

Task<void> McpTools::end(ClientPtr client) {
  co_await client->stop();
}

Task<Result<std::vector<ToolDecl>>> McpTools::ask(ToolRef ref, Principal who) {
  const auto* server = std::get_if<McpServer>(&ref);
  if (!server) co_return std::vector<ToolDecl>();
  auto tools = co_await tools_of(*server, std::move(who), Caller::run);
  co_return tools;
}

Task<Result<std::vector<ToolDecl>>> McpTools::tools_of(McpServer server, Principal who,
                                                       Caller caller) {
  CallSecrets secrets(secrets_, who.workspace);
  ERRAND_CO_TRY(auto client, co_await client_for(server, who, &secrets, caller));
  auto asked = co_await client->tools();
  if (!asked) {
    co_return Error(asked.error().code(), secrets.blot_out(asked.error().message()));
  }
  const auto& list = *asked;
  std::vector<std::string> names = vendor_names(server.name, list->tools);
  std::vector<ToolDecl> decls;
  for (std::size_t i = 0; i < list->tools.size(); ++i) {
    const Tool& tool = list->tools[i];
    const auto& filter = server.tool_filter;
    bool is_wanted =
        !filter || std::find(filter->begin(), filter->end(), tool.name) != filter->end();
    if (!is_wanted) continue;
    ToolDecl& decl = decls.emplace_back(list->decls[i]);
    decl.name = names[i];
    if (server.timeout) decl.annotations.timeout = server.timeout;
  }
  const bool is_any_wanted = !decls.empty();
  blot_out(decls, secrets);
  if (is_any_wanted && decls.empty()) {
    co_return Error(ErrorCode::not_found, "its tools repeat the secrets that it was sent")
        .reason(kNoTools);
  }
  if (decls.empty()) {
    co_return Error(ErrorCode::not_found, list->tools.empty()
                                              ? "it has no tools"
                                              : "the run's toolFilter names none of its tools")
        .reason(kNoTools);
  }
  co_return decls;
}

ToolPtr McpTools::open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) {
  const auto* server = std::get_if<McpServer>(&ref);
  if (!server) return nullptr;
  // Whoever gives a ref a timeout knows whether the server reports progress, so the timeout is
  // taken as it is.
  FindClient find = [this, server = *server, who](CallSecrets* secrets, Caller caller) {
    return client_for(server, who, secrets, caller);
  };
  return make_tool(std::move(find), binding, server->timeout.value_or(kCallSilenceMax));
}

// The answers of the configured servers. The caller may leave before all servers have answered.
struct McpTools::Asked {
  std::map<std::string, std::vector<ToolDecl>> tools;
  std::set<std::string> unanswered;
  Wakeup* over = nullptr;
};

Task<void> McpTools::ask_one(std::string name, Principal who, std::shared_ptr<Asked> asked) {
  auto tools = co_await tools_of(configured_ref(name), who, Caller::other);
  bool is_down = !tools && tools.error().reason() != kNoTools;
  if (is_down) {
    down_[{who.workspace, name}] = {.until = deps_.timers.now() + kDownTime,
                                    .why = tools.error().message()};
  }
  asked->unanswered.erase(name);
  if (!is_down) asked->tools[name] = tools ? std::move(*tools) : std::vector<ToolDecl>();
  if (asked->over) asked->over->notify();
}

Task<void> McpTools::ask_configured(std::vector<std::string> names, Principal who,
                                    std::shared_ptr<Asked> asked) {
  asked->unanswered = {names.begin(), names.end()};
  for (const std::string& name : names) asking_.spawn("mcp.offer", ask_one(name, who, asked));
  const SteadyTime deadline = deps_.timers.now() + kOfferedWait;
  {
    WakeupAt over(deps_.home, asked->over);
    TimerGuard timer(deps_.timers, deadline, [asked] { asked->over->notify(); });
    while (!asked->unanswered.empty() && deps_.timers.now() < deadline) co_await over.wait();
  }
  for (const std::string& name : asked->unanswered) {
    down_[{who.workspace, name}] = {.until = deadline + kDownTime, .why = "no answer in time"};
  }
}

// A server that was found down a moment ago is not asked again by every caller.
Task<Result<std::vector<ToolOffer>>> McpTools::offers(Principal who) {
  std::erase_if(down_,
                [now = deps_.timers.now()](const auto& one) { return one.second.until <= now; });
  std::vector<std::string> names;
  for (const auto& [name, address] : configured_.servers) {
    if (!down_.contains({who.workspace, name})) names.push_back(name);
  }
  auto asked = std::make_shared<Asked>();
  co_await ask_configured(std::move(names), who, asked);
  std::vector<ToolOffer> out;
  for (const auto& [name, server] : configured_.servers) {
    ToolOffer& offer = out.emplace_back();
    offer.server = name;
    if (auto found = asked->tools.find(name); found != asked->tools.end()) {
      for (const ToolDecl& decl : found->second) {
        offer.tools.push_back(open(decl, configured_ref(name), who));
      }
    } else if (auto down = down_.find({who.workspace, name}); down != down_.end()) {
      offer.why_not = down->second.why;
    }
  }
  co_return out;
}

Task<Result<std::vector<ToolPtr>>> McpTools::offered(Principal who) {
  ERRAND_CO_TRY(auto all, co_await offers(std::move(who)));
  std::vector<ToolPtr> tools;
  for (ToolOffer& offer : all) {
    std::move(offer.tools.begin(), offer.tools.end(), std::back_inserter(tools));
  }
  co_return tools;
}

Task<void> McpTools::stop() {
  co_await asking_.stop(CancelReason::shutdown);
  for (Known& known : std::exchange(clients_, {})) {
    ending_.spawn("mcp.end", end(std::move(known.client)));
  }
  co_await ending_.join();
}

}  // namespace errand::mcp
