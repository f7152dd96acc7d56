#include "sdk/internal/agent_servers.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "a2a/agent_outcome.hpp"
#include "base/text.hpp"
#include "host/environment.hpp"
#include "mcp/client/client_tools.hpp"
#include "mcp/codec.hpp"
#include "mcp/tool_result.hpp"
#include "run/tools/tool_stub.hpp"
#include "sdk/internal/tell_stderr.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kServerNameCharsMax = 24;

// Letters, digits and underscores: what every server of runs takes as the name of a tool.
std::string safe_name(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<signed char>(c) > 0;
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

}  // namespace

mcp::ServerAddress mcp_address(const std::string& flag,
                               const std::vector<std::string>& environment) {
  if (flag.starts_with("http://") || flag.starts_with("https://")) {
    return mcp::HttpServer{.url = flag};
  }
  // The shell splits the words and makes way for the program.
  return mcp::StdioServer{.command = {"/bin/sh", "-c", cat("exec ", flag)},
                          .environment = environment};
}

AgentServers::AgentServers(Executor home, Timers& timers)
    : home_(std::move(home)),
      timers_(timers),
      http_(host::client_options_here()),
      cancelling_(home_, report_bug),
      learning_(home_, report_bug) {}

Task<void> AgentServers::learn(Server* server) {
  auto info = co_await server->client->connect();
  if (!info) {
    server->failure = std::move(info).error();
    co_return;
  }
  server->info = std::move(*info);
  auto list = co_await server->client->tools();
  if (!list) {
    server->failure = std::move(list).error();
    co_return;
  }
  server->list = std::move(*list);
}

Task<void> AgentServers::fetch(Agent* agent) {
  auto card = co_await agent->client->card();
  agent->card = std::move(card);
}

Task<void> AgentServers::connect(std::vector<std::string> mcp, std::vector<std::string> a2a) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable; ++variable) environment.emplace_back(*variable);
  for (std::string& flag : mcp) {
    auto server = std::make_unique<Server>();
    server->client = std::make_shared<mcp::Client>(
        mcp::ClientDeps{.home = home_, .http = http_, .timers = timers_, .on_bug = report_bug},
        mcp::ClientOptions{.server = mcp_address(flag, environment)});
    server->flag = std::move(flag);
    learning_.spawn("mcp.learn", learn(server.get()));
    servers_.push_back(std::move(server));
  }
  for (std::string& flag : a2a) {
    auto agent = std::make_unique<Agent>();
    agent->client = std::make_shared<a2a::Client>(a2a::ClientDeps{.http = http_, .timers = timers_},
                                                  a2a::AgentAddress{.card_url = flag});
    agent->flag = std::move(flag);
    learning_.spawn("a2a.fetch", fetch(agent.get()));
    agents_.push_back(std::move(agent));
  }
  co_await learning_.join();
  for (const auto& server : servers_) {
    if (server->failure) {
      add_failure(Flag::mcp, server->flag, *server->failure);
    } else {
      add_tools(*server, name_for(*server));
    }
  }
  for (const auto& agent : agents_) {
    if (*agent->card) {
      add_agent(*agent);
    } else {
      add_failure(Flag::a2a, agent->flag, agent->card->error());
    }
  }
}

void AgentServers::add_failure(Flag kind, const std::string& flag, const Error& error) {
  failures_.push_back(
      Error(error.code(), cat(kind == Flag::mcp ? "--mcp " : "--a2a ", flag, ": ", error.message()))
          .hint(error.hint()));
  std::string name = safe_name(flag).substr(0, kServerNameCharsMax);
  ToolRef ref = McpServer{.name = name, .url = flag, .headers = {}, .tool_filter = {}};
  if (kind == Flag::a2a) {
    ref = RemoteAgent{
        .name = name, .description = {}, .card_url = flag, .headers = {}, .context_id = {}};
  }
  for (ToolDecl& stub : stubs_of(ref, "it does not answer")) {
    stub.name = unused_name(stub.name);
    stub.site = ToolSite::host;
    tools_.push_back(std::make_shared<UnavailableTool>(std::move(stub)));
  }
}

void AgentServers::add_agent(const Agent& agent) {
  const a2a::AgentCard& card = **agent.card;
  std::string name = safe_name(card.name);
  name = unused_name(name.empty() ? "agent" : name.substr(0, kToolNameCharsMax));
  ToolDecl decl = a2a::agent_decl(name, a2a::describe(card), card);
  refs_.emplace_back(LocalAgent{.name = name,
                                .description = decl.description,
                                .card = share_schema(json::Object(card.source)),
                                .continues_tasks = true});
  decl.origin.upstream = card.name;
  tools_.push_back(a2a::make_agent_tool(agent.client, std::move(decl), cancelling_));
}

std::string AgentServers::name_for(const Server& server) const {
  std::string base = safe_name(server.info.server.name);
  if (base.empty()) base = "mcp";
  base.resize(std::min(base.size(), kServerNameCharsMax));
  std::string name = base;
  auto is_taken = [this](const std::string& wanted) {
    return std::any_of(refs_.begin(), refs_.end(), [&wanted](const ToolRef& ref) {
      const auto* known = std::get_if<LocalMcpServer>(&ref);
      return known && known->name == wanted;
    });
  };
  for (int n = 2; is_taken(name); ++n) name = cat(base, n);
  return name;
}

// Two names may be the same once they are made safe.
std::string AgentServers::unused_name(const std::string& wanted) const {
  std::string name = wanted;
  auto is_taken = [this, &name] {
    return std::any_of(tools_.begin(), tools_.end(),
                       [&name](const ToolPtr& one) { return one->decl().name == name; });
  };
  for (int n = 2; is_taken(); ++n) {
    std::string suffix = cat("_", n);
    name = cat(std::string_view(wanted).substr(0, kToolNameCharsMax - suffix.size()), suffix);
  }
  return name;
}

// A ref holds a limited number of tools; a server with more becomes several.
void AgentServers::add_tools(const Server& server, std::string name) {
  std::vector<std::string> names = mcp::vendor_names(name, server.list->tools);
  json::Object info{{"name", server.info.server.name}, {"version", server.info.server.version}};
  ObjectPtr shared_info = share_schema(std::move(info));
  LocalMcpServer ref{.name = name, .info = shared_info, .tools = {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    mcp::Tool tool = server.list->tools[i];
    ToolDecl decl = mcp::decl_of(tool, unused_name(safe_name(names[i])));
    tool.name = decl.name;
    tool.input_schema = *decl.input_schema;
    ref.tools.push_back(share_schema(mcp::to_json(tool)));
    tools_.push_back(mcp::make_tool(server.client, std::move(decl)));
    if (ref.tools.size() < kMcpLocalToolsMax && i + 1 < names.size()) continue;
    refs_.emplace_back(std::exchange(
        ref, LocalMcpServer{
                 .name = cat(name, "_", refs_.size() + 2), .info = shared_info, .tools = {}}));
  }
}

Task<void> AgentServers::stop() {
  co_await learning_.stop(CancelReason::shutdown);
  co_await cancelling_.join();
  for (const auto& server : servers_) co_await server->client->stop();
}

}  // namespace errand::sdk
