#pragma once

#include <memory>
#include <vector>

#include "async/task.hpp"
#include "run/tools/tool_ref.hpp"
#include "sdk/http/api_request.hpp"
#include "sdk/run_api.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// Tools as a run refers to them.
struct LentTools {
  std::vector<ToolRef> refs = {};
  std::shared_ptr<void> lease = nullptr;  // held while the run may call them
};

// Who calls the tools of a run.
enum class CalledBy { client, engine };

// Where the runs of a runner are driven: by a server, or in this process. Lives on the runner's
// home.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual RunApi& api() = 0;
  // For what only servers have. Null: runs are driven in this process.
  virtual ApiSender* server() { return nullptr; }
  virtual CalledBy called_by() const = 0;
  // `servers` describes the tools of MCP servers and agents; see ServerTools.
  virtual LentTools lend(const std::vector<ToolPtr>& tools,
                         const std::vector<ToolRef>& servers) = 0;
  virtual Task<void> stop() = 0;
};

}  // namespace errand::sdk
