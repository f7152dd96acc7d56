#pragma once

#include "engine/engine.hpp"
#include "tool/tool_source.hpp"

namespace errand::engine {

// The stored agents of workspaces as tools of runs (`agent` refs). A run is bound to the version of
// the agent that is there when the run is made. Each call is a run of its own
// (Engine::begin_child); its answer is the result. Lives on the engine's home.
class AgentTools final : public StoredToolSource {
 public:
  // `engine` outlives this.
  explicit AgentTools(Engine& engine) : engine_(engine) {}

  // forbidden: the caller must not run the agent.
  Task<Result<std::vector<ToolDecl>>> look_up(ToolRef ref, Principal who) override;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) override;

 private:
  Engine& engine_;
};

}  // namespace errand::engine
