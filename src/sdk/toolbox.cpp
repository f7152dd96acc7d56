#include "sdk/toolbox.hpp"

#include <string>
#include <utility>

namespace errand::sdk {

ToolSetPtr share_with_text(std::vector<ToolRef> refs) {
  std::string text;
  write(text, ToolSet{.refs = refs});
  return share_tools(std::move(refs), std::move(text));
}

ToolSetPtr lend_as_client(const std::vector<ToolPtr>& tools) {
  std::vector<ToolRef> refs;
  for (const ToolPtr& tool : tools) {
    const ToolDecl& decl = tool->decl();
    refs.emplace_back(LocalTool{.name = decl.name,
                                .description = decl.description,
                                .parameters = decl.input_schema,
                                .output_schema = decl.output_schema,
                                .annotations = decl.annotations});
  }
  return share_with_text(std::move(refs));
}

ToolSetPtr lend_as_host(const std::vector<ToolPtr>& tools) {
  std::vector<ToolRef> refs;
  for (const ToolPtr& tool : tools) refs.emplace_back(HostTool{.name = tool->decl().name});
  return share_with_text(std::move(refs));
}

}  // namespace errand::sdk
