#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/flows/test_run.hpp"

namespace errand::engine::testing {

// Does what a test wants.
class WantedTool final : public Tool {
 public:
  using Act = std::function<Task<ToolOutcome>(ToolCall, ToolContext)>;
  WantedTool(ToolDecl decl, Act act) : decl_(std::move(decl)), act_(std::move(act)) {}
  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override {
    return act_(std::move(call), context);
  }

 private:
  const ToolDecl decl_;
  const Act act_;
};

inline ToolDecl decl_of(std::string name, ToolAnnotations annotations = {.read_only = true}) {
  return {.name = std::move(name), .description = "As a test wants.", .annotations = annotations};
}

struct HostToolsTest : RunTest {
  // Adds a tool to the world and to the run.
  void add(World& world, ToolDecl decl, WantedTool::Act act) {
    std::string name = decl.name;
    world.tools.tools[name] = std::make_shared<WantedTool>(std::move(decl), std::move(act));
    refs_.emplace_back(HostTool{name});
    client.spec = spec_with_tools(refs_);
  }
  void add_client_tool(std::string name) {
    refs_.push_back(client_tool(std::move(name)));
    client.spec = spec_with_tools(refs_);
  }

  // Events of the run that have this in them.
  std::vector<std::string> lines_with(std::string_view part) const {
    std::vector<std::string> lines;
    for (const std::string& line : client.seen) {
      if (line.find(part) != std::string::npos) lines.push_back(line);
    }
    return lines;
  }

 private:
  std::vector<ToolRef> refs_;
};

}  // namespace errand::engine::testing
