#pragma once

#include <memory>
#include <vector>

#include "async/blocking_pool.hpp"
#include "cli/agent_options.hpp"
#include "tool/builtin/approval.hpp"
#include "tool/tool.hpp"

namespace errand::cli {

// Threads for tools that block.
inline constexpr std::size_t kToolThreads = 4;
inline constexpr std::size_t kToolQueueMax = 1000;

// The tools that the flags lend to a run. `approver` and `pool` outlive them. Every error names the
// flag.
Result<std::vector<std::unique_ptr<Tool>>> make_tools(const AgentOptions& options,
                                                      Approver& approver, BlockingPool& pool);

}  // namespace errand::cli
