#include "sdk/toolbox.hpp"

#include <string>
#include <utility>

namespace errand::sdk {

namespace {

ToolSetPtr declare(const std::vector<std::unique_ptr<Tool>>& tools) {
  std::vector<ToolRef> refs;
  for (const std::unique_ptr<Tool>& tool : tools) {
    const ToolDecl& decl = tool->decl();
    refs.emplace_back(LocalTool{.name = decl.name,
                                .description = decl.description,
                                .parameters = decl.input_schema,
                                .read_only = decl.annotations.read_only,
                                .long_running = decl.annotations.long_running});
  }
  std::string text;  // with it, runs that have the same tools share them
  write(text, ToolSet{.refs = refs});
  return share_tools(std::move(refs), std::move(text));
}

}  // namespace

Toolbox::Toolbox(std::vector<std::unique_ptr<Tool>> tools)
    : tools_(std::move(tools)), declared_(declare(tools_)) {}

Tool* Toolbox::find(std::string_view name) {
  for (const std::unique_ptr<Tool>& tool : tools_) {
    if (tool->decl().name == name) return tool.get();
  }
  return nullptr;
}

}  // namespace errand::sdk
