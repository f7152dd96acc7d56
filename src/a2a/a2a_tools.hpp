#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>

#include "a2a/client.hpp"
#include "async/task_group.hpp"
#include "tool/tool_source.hpp"

namespace errand::a2a {

struct ToolsDeps {
  Executor home;
  net::HttpClient& http;
  Timers& timers;
  TaskGroup::OnBug on_bug;
  // For headers that name secrets or are sealed. Null: there are none.
  SecretSource* secrets = nullptr;
  // As for the client.
  BlockingPool* pool = nullptr;
};

// Agents that runs name by their cards (`a2a` refs): each is a tool that takes a message and gives
// what the agent answers. Runs with the same card, headers and workspace share a client. Lives on
// one home; must be stopped before it is destroyed, after the runs that use it.
class A2aTools final : public RemoteToolSource {
 public:
  // The one used longest ago is given up for a new one.
  static constexpr std::size_t kClientsMax = 256;

  explicit A2aTools(ToolsDeps deps);
  A2aTools(const A2aTools&) = delete;
  A2aTools& operator=(const A2aTools&) = delete;

  ::errand::Task<Result<std::vector<ToolDecl>>> ask(ToolRef ref, Principal who) override;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) override;

  // Agents that are being told that a call was given up have kTellTime to hear of it.
  ::errand::Task<void> stop();

 private:
  struct Known {
    std::string key;
    std::shared_ptr<Client> client;
  };
  using ClientPtr = std::shared_ptr<Client>;
  // The client for an agent, with the secrets of its headers filled in.
  ::errand::Task<Result<ClientPtr>> client_for(RemoteAgent agent, Principal who,
                                               CallSecrets* secrets);
  ClientPtr client_at(const RemoteAgent& agent, const Principal& who);

  const ToolsDeps deps_;
  std::list<Known> clients_;  // the one used last is first
  TaskGroup cancelling_;      // of tasks whose calls were given up
};

// Waits until the agents know that their tasks are given up. After kTellTime, and of later tasks,
// they are not told.
constexpr milliseconds kTellTime = seconds(2);
::errand::Task<void> stop_cancelling(TaskGroup* cancelling, Timers* timers);

// The client for one call, which is made with these secrets (null: there are none). An error is
// what the model is told.
using FindClient = std::function<::errand::Task<Result<std::shared_ptr<Client>>>(CallSecrets*)>;

// A tool that passes messages on to an agent. `cancelling` is where the agent is told that a call
// was given up; it outlives the tool.
ToolPtr make_agent_tool(FindClient find, ToolDecl decl, std::string context_id,
                        TaskGroup& cancelling);
ToolPtr make_agent_tool(std::shared_ptr<Client> client, ToolDecl decl, TaskGroup& cancelling);
// How such a tool looks to a model.
ToolDecl agent_decl(std::string name, std::string description, const AgentCard& card);

}  // namespace errand::a2a
