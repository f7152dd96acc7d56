#pragma once

#include "mcp/server/server_features.hpp"
#include "run/content.hpp"
#include "tool/tool.hpp"

// Tools of this program as a server offers them.
namespace errand::mcp {

Tool offered_tool(const ToolDecl& decl);

Content offered_content(const errand::Content& content);
CallToolResult call_result(ToolOutcome outcome);

// Passes progress on to the client, which takes only progress that rises.
class ReportedProgress final : public ProgressSink {
 public:
  explicit ReportedProgress(ServedCall& call) : call_(call) {}

  void report(ProgressReport report) override;

 private:
  ServedCall& call_;
  double last_ = 0;
};

}  // namespace errand::mcp
