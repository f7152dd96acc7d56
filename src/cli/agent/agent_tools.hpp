#pragma once

#include <optional>
#include <vector>

#include "async/blocking_pool.hpp"
#include "cli/agent/agent_options.hpp"
#include "net/address_rules.hpp"
#include "tool/builtin/approval.hpp"
#include "tool/builtin/web/search_service.hpp"
#include "tool/tool.hpp"

namespace errand::cli {

// Threads for tools that block.
inline constexpr std::size_t kToolThreads = 4;
inline constexpr std::size_t kToolQueueMax = 1000;

// What the tools are made with. The references outlive them.
struct ToolSurroundings {
  Approver& approver;
  BlockingPool& pool;
  std::vector<net::AddressPrefix> networks;  // that the configuration allows, besides the flags
  std::optional<SearchService> search = {};  // for --web-search
};

// The tools that the flags lend to a run. Every error names the flag.
Result<std::vector<ToolPtr>> make_tools(const AgentOptions& options,
                                        const ToolSurroundings& around);

}  // namespace errand::cli
