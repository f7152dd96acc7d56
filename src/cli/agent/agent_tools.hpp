#pragma once

#include <vector>

#include "async/blocking_pool.hpp"
#include "cli/agent/agent_options.hpp"
#include "sdk/web_access.hpp"
#include "tool/builtin/approval.hpp"
#include "tool/tool.hpp"

namespace errand::cli {

// Threads for tools that block.
inline constexpr std::size_t kToolThreads = 4;
inline constexpr std::size_t kToolQueueMax = 1000;

// What the tools are made with. The references outlive them.
struct ToolSurroundings {
  Approver& approver;
  BlockingPool& pool;
  sdk::WebAccess web = {};  // besides what the flags allow
};

// The tools that the flags lend to a run. Every error names the flag.
Result<std::vector<ToolPtr>> make_tools(const AgentOptions& options,
                                        const ToolSurroundings& around);

}  // namespace errand::cli
