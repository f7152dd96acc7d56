#include "sdk/toolbox.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace errand::sdk {
namespace {

// A slow handler fails at its own timeout, and the model gets that failure. The server's timeout is
// for a client that is gone, so it is longer by the time that the failure needs to arrive.
constexpr milliseconds kAnswerGrace{10'000};

ToolAnnotations with_grace(ToolAnnotations annotations) {
  if (annotations.timeout) {
    annotations.timeout = std::min(*annotations.timeout + kAnswerGrace, kToolTimeoutMax);
  }
  return annotations;
}

}  // namespace

ToolSetPtr share_with_text(std::vector<ToolRef> refs) {
  std::string text;
  write(text, ToolSet{.refs = refs});
  return share_tools(std::move(refs), std::move(text));
}

ToolSetPtr lend_as_client(const std::vector<ToolPtr>& tools, const std::vector<ToolRef>& servers) {
  std::vector<ToolRef> refs;
  for (const ToolPtr& tool : tools) {
    const ToolDecl& decl = tool->decl();
    const bool is_of_server = !servers.empty() && !decl.origin.upstream.empty();
    if (is_of_server) continue;
    refs.emplace_back(LocalTool{.name = decl.name,
                                .description = decl.description,
                                .parameters = decl.input_schema,
                                .output_schema = decl.output_schema,
                                .annotations = with_grace(decl.annotations)});
  }
  refs.insert(refs.end(), servers.begin(), servers.end());
  return share_with_text(std::move(refs));
}

}  // namespace errand::sdk
