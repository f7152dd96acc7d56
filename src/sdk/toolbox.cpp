#include "sdk/toolbox.hpp"

#include <utility>

namespace errand::sdk {

Toolbox::Toolbox(std::vector<std::unique_ptr<Tool>> tools) : tools_(std::move(tools)) {}

Tool* Toolbox::find(std::string_view name) {
  for (const std::unique_ptr<Tool>& tool : tools_) {
    if (tool->decl().name == name) return tool.get();
  }
  return nullptr;
}

json::Array Toolbox::declarations() const {
  json::Array out;
  for (const std::unique_ptr<Tool>& tool : tools_) {
    const ToolDecl& decl = tool->decl();
    json::Object one{{"kind", "local"},
                     {"name", decl.name},
                     {"description", decl.description},
                     {"parameters", *decl.input_schema}};
    if (decl.annotations.read_only) one["readOnly"] = true;
    if (decl.annotations.long_running) one["longRunning"] = true;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace errand::sdk
