#include "sdk/local_servers.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "a2a/agent_outcome.hpp"
#include "async/wakeup.hpp"
#include "base/text.hpp"
#include "host/environment.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "mcp/client/client_tools.hpp"
#include "mcp/client/offered_features.hpp"
#include "mcp/codec.hpp"
#include "mcp/server_codec.hpp"
#include "mcp/tool_result.hpp"
#include "run/tools/http_words.hpp"
#include "run/tools/tool_stub.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kServerNameCharsMax = 24;

// Keeps letters, digits and underscores, which every server of runs takes in the name of a tool.
std::string safe_name(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_plain) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  while (out.ends_with('_')) out.pop_back();
  return out;
}

// Stands in for the tools of a server that does not answer.
class UnavailableTool final : public Tool {
 public:
  explicit UnavailableTool(ToolDecl decl) : decl_(std::move(decl)) {}

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall /*call*/, ToolContext /*context*/) override {
    co_return failed_outcome(decl_.description);
  }

 private:
  const ToolDecl decl_;
};

std::vector<std::string> variables_here() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable; ++variable) out.emplace_back(*variable);
  return out;
}

using AgentClientPtr = std::shared_ptr<a2a::Client>;
Task<Result<AgentClientPtr>> given(AgentClientPtr client) {
  co_return client;
}

}  // namespace

mcp::ServerAddress mcp_address(const std::string& url_or_command) {
  if (is_http_url(url_or_command)) return mcp::HttpServer{.url = url_or_command};
  // The shell splits the command into words and is replaced by the program.
  return mcp::StdioServer{.command = {"/bin/sh", "-c", cat("exec ", url_or_command)},
                          .environment = variables_here()};
}

// ---- One round of learning ----------------------------------------------------------------------

struct LocalServers::Server {
  McpPlace place;
  std::shared_ptr<mcp::Client> client;
  std::optional<Error> failure = {};
  mcp::ServerInfo info = {};
  mcp::ToolListPtr list = nullptr;
};

struct LocalServers::Agent {
  AgentPlace place;
  AgentClientPtr client;
  std::optional<Result<a2a::AgentCard>> card = {};
};

// Shared by the tasks and their waiter, which may leave before all servers have answered.
struct LocalServers::Learning {
  explicit Learning(const Executor& home) : bell(home) {}

  void one_is_done() {
    --waiting;
    bell.notify();
  }

  std::list<Server> servers;
  std::list<Agent> agents;
  std::size_t waiting = 0;
  Wakeup bell;
};

// Names that no other tool or server of the run has.
class LocalServers::Names final {
 public:
  explicit Names(std::set<std::string> tools) : tools_(std::move(tools)) {}

  std::string for_server(const McpPlace& place, const mcp::ServerInfo& info) {
    std::string base = safe_name(place.name.empty() ? info.server.name : place.name);
    if (base.empty()) base = "mcp";
    base.resize(std::min(base.size(), kServerNameCharsMax));
    std::string name = base;
    for (int n = 2; !servers_.insert(name).second; ++n) name = cat(base, n);
    return name;
  }

  // Two names may become equal when they are made safe.
  std::string for_tool(const std::string& wanted) {
    std::string name = wanted;
    for (int n = 2; !tools_.insert(name).second; ++n) {
      std::string suffix = cat("_", n);
      name = cat(std::string_view(wanted).substr(0, kToolNameCharsMax - suffix.size()), suffix);
    }
    return name;
  }

 private:
  std::set<std::string> servers_;
  std::set<std::string> tools_;
};

namespace {

Error with_place(const Error& error, const std::string& flag, const std::string& where) {
  return Error(error.code(), cat(flag, flag.empty() ? "" : " ", where, ": ", error.message()))
      .hint(error.hint());
}

std::vector<ToolDecl> stubs_for(const ToolRef& ref) {
  std::vector<ToolDecl> stubs = stubs_of(ref, "it does not answer");
  for (ToolDecl& stub : stubs) stub.site = ToolSite::host;
  return stubs;
}

std::string name_of_stub(const std::string& name, const std::string& where) {
  return safe_name(name.empty() ? where : name).substr(0, kServerNameCharsMax);
}

// Members that the run's server sends along with every call, up to a size.
json::Object bounded(const json::Object& told) {
  json::Object kept;
  std::size_t bytes = 0;
  for (const auto& member : told) {
    bytes += json::write(json::Object{{member.key(), member.value()}}).size();
    if (bytes > kEchoBytesMax) break;
    kept[member.key()] = member.value();
  }
  return kept;
}

bool is_wanted(const McpPlace& place, const std::string& tool) {
  return !place.tool_filter || std::find(place.tool_filter->begin(), place.tool_filter->end(),
                                         tool) != place.tool_filter->end();
}

}  // namespace

// ---- LocalServers -------------------------------------------------------------------------------

LocalServers::LocalServers(Executor home, Timers& timers, Teller tell, RunsAt runs)
    : home_(std::move(home)),
      timers_(timers),
      runs_(runs),
      on_bug_(bugs_to(std::move(tell))),
      http_(host::client_options_here()),
      cancelling_(home_, on_bug_),
      ending_(home_, on_bug_),
      learning_(home_, on_bug_) {}

// A client, and what it offers to its server.
struct LocalServers::Connection {
  Connection(mcp::ClientDeps deps, const McpPlace& place, RunsAt runs)
      : features(place.roots,
                 {.sampling = runs == RunsAt::engine, .elicitation = runs != RunsAt::nowhere}),
        client(std::move(deps), {.server = place.address, .features = &features}) {}

  mcp::OfferedFeatures features;
  mcp::Client client;
};

std::shared_ptr<mcp::Client> LocalServers::client_for(const McpPlace& place) {
  const std::string& key = place.key.empty() ? place.where : place.key;
  auto known = std::find_if(clients_.begin(), clients_.end(),
                            [&key](const Known& one) { return one.key == key; });
  if (known != clients_.end()) {
    clients_.splice(clients_.begin(), clients_, known);
    return known->client;
  }
  auto made = std::make_shared<Connection>(
      mcp::ClientDeps{.home = home_, .http = http_, .timers = timers_, .on_bug = on_bug_}, place,
      runs_);
  std::shared_ptr<mcp::Client> client(made, &made->client);
  clients_.push_front({.key = key, .client = client});
  give_up_idle();
  return client;
}

// Tools hold their client, so a client that nothing else holds is idle.
void LocalServers::give_up_idle() {
  std::size_t idle = 0;
  for (auto one = clients_.begin(); one != clients_.end();) {
    const bool is_idle = one->client.use_count() == 1;
    if (!is_idle || ++idle <= kIdleMax) {
      ++one;
      continue;
    }
    ending_.spawn("mcp.give_up", stop_client(std::move(one->client)));
    one = clients_.erase(one);
  }
}

Task<void> LocalServers::stop_client(std::shared_ptr<mcp::Client> client) {
  co_await client->stop();
}

Task<void> LocalServers::learn_server(std::shared_ptr<Learning> all, Server* server) {
  auto info = co_await server->client->connect();
  if (info) {
    server->info = std::move(*info);
    auto list = co_await server->client->tools();
    if (list) {
      server->list = std::move(*list);
    } else {
      server->failure = std::move(list).error();
    }
  } else {
    server->failure = std::move(info).error();
  }
  all->one_is_done();
}

Task<void> LocalServers::fetch_card(std::shared_ptr<Learning> all, Agent* agent) {
  auto card = co_await agent->client->card();
  agent->card = std::move(card);
  all->one_is_done();
}

Task<ServerTools> LocalServers::learn(std::vector<McpPlace> servers, std::vector<AgentPlace> agents,
                                      std::set<std::string> taken) {
  auto all = std::make_shared<Learning>(home_);
  all->waiting = servers.size() + agents.size();
  for (McpPlace& place : servers) {
    auto client = client_for(place);
    all->servers.push_back({.place = std::move(place), .client = std::move(client)});
    learning_.spawn("mcp.learn", learn_server(all, &all->servers.back()));
  }
  for (AgentPlace& place : agents) {
    auto client = std::make_shared<a2a::Client>(a2a::ClientDeps{.http = http_, .timers = timers_},
                                                place.address);
    all->agents.push_back({.place = std::move(place), .client = std::move(client)});
    learning_.spawn("a2a.fetch", fetch_card(all, &all->agents.back()));
  }
  co_await wait_for_all(all);
  ServerTools out;
  Names names(std::move(taken));
  for (const Server& server : all->servers) add_tools(server, names, out);
  for (const Agent& agent : all->agents) add_agent(agent, names, out);
  co_return out;
}

// A server that answers too late has no tools for this run. It continues to connect for the next
// run.
Task<void> LocalServers::wait_for_all(std::shared_ptr<Learning> all) {
  const SteadyTime deadline = timers_.now() + kLearnMax;
  {
    TimerGuard timer(timers_, deadline, [all] { all->bell.notify(); });
    while (all->waiting > 0 && timers_.now() < deadline) co_await all->bell.wait();
  }
  const Error late(ErrorCode::timeout, cat("no answer within ", kLearnMax.count(), " seconds"));
  for (Server& server : all->servers) {
    if (!server.list && !server.failure) server.failure = late;
  }
  for (Agent& agent : all->agents) {
    if (!agent.card) agent.card = late;
  }
}

// A ref holds a limited number of tools, so a server with more tools gets several refs.
void LocalServers::add_tools(const Server& server, Names& names, ServerTools& out) const {
  const McpPlace& place = server.place;
  if (server.failure) {
    out.failures.push_back(with_place(*server.failure, place.flag, place.where));
    McpServer ref{.name = name_of_stub(place.name, place.where),
                  .url = place.where,
                  .headers = {},
                  .tool_filter = {}};
    for (ToolDecl& stub : stubs_for(ref)) {
      stub.name = names.for_tool(stub.name);
      out.tools.push_back(std::make_shared<UnavailableTool>(std::move(stub)));
    }
    return;
  }
  const std::string name = names.for_server(place, server.info);
  std::vector<std::string> told = mcp::vendor_names(name, server.list->tools);
  ObjectPtr info = share_schema(bounded(mcp::to_json(server.info.server)));
  LocalMcpServer ref{.name = name, .info = info, .tools = {}};
  auto add_ref = [&] {
    if (ref.tools.empty()) return;
    std::string next = cat(name, "_", out.refs.size() + 2);
    out.refs.emplace_back(
        std::exchange(ref, LocalMcpServer{.name = std::move(next), .info = info, .tools = {}}));
  };
  for (std::size_t i = 0; i < told.size(); ++i) {
    mcp::Tool tool = server.list->tools[i];
    if (!is_wanted(place, tool.name)) continue;
    ToolDecl decl = server.list->decls[i];
    decl.name = names.for_tool(safe_name(told[i]));
    tool.name = decl.name;
    tool.input_schema = *decl.input_schema;
    json::Object shipped = mcp::to_json(tool);
    if (const json::Object* notes = json::object_at(&shipped, "annotations")) {
      shipped["annotations"] = bounded(*notes);
    }
    ref.tools.push_back(share_schema(std::move(shipped)));
    out.tools.push_back(mcp::make_tool(server.client, std::move(decl)));
    if (ref.tools.size() == kMcpLocalToolsMax) add_ref();
  }
  add_ref();
}

void LocalServers::add_agent(const Agent& agent, Names& names, ServerTools& out) {
  const AgentPlace& place = agent.place;
  const std::string& where = place.address.card_url;
  if (!*agent.card) {
    out.failures.push_back(with_place(agent.card->error(), place.flag, where));
    RemoteAgent ref{.name = name_of_stub(place.name, where),
                    .description = {},
                    .card_url = where,
                    .headers = {},
                    .context_id = {}};
    for (ToolDecl& stub : stubs_for(ref)) {
      stub.name = names.for_tool(stub.name);
      out.tools.push_back(std::make_shared<UnavailableTool>(std::move(stub)));
    }
    return;
  }
  const a2a::AgentCard& card = **agent.card;
  std::string name = safe_name(place.name.empty() ? card.name : place.name);
  name = names.for_tool(name.empty() ? "agent" : name.substr(0, kToolNameCharsMax));
  ToolDecl decl =
      a2a::agent_decl(name, place.description ? *place.description : a2a::describe(card), card);
  out.refs.emplace_back(LocalAgent{.name = name,
                                   .description = decl.description,
                                   .card = share_schema(json::Object(card.source)),
                                   .continues_tasks = true});
  decl.origin.upstream = card.name;
  out.tools.push_back(
      a2a::make_agent_tool([client = agent.client](CallSecrets*) { return given(client); },
                           std::move(decl), place.context_id, cancelling_));
}

Task<void> LocalServers::stop() {
  co_await learning_.stop(CancelReason::shutdown);
  co_await a2a::stop_cancelling(&cancelling_, &timers_);
  co_await ending_.join();
  for (const Known& one : clients_) co_await one.client->stop();
}

}  // namespace errand::sdk
