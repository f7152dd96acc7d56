#pragma once

#include <optional>
#include <string>
#include <vector>

#include "async/blocking_pool.hpp"
#include "base/result.hpp"
#include "net/address_rules.hpp"
#include "tool/builtin/web/search_service.hpp"
#include "tool/builtin/web/web_search_tool.hpp"
#include "tool/tool.hpp"

namespace errand::sdk {

// The part of the web that tools of this process may reach. Proxies and certificates come from the
// environment.
struct WebAccess {
  std::vector<net::AddressPrefix> networks = {};        // besides public addresses
  std::optional<SearchService> search = {};             // that searches ask
  int search_results = WebSearchTool::kResultsDefault;  // of a call that names no number

  // Adds networks such as "10.0.0.0/8". invalid_argument: one is none.
  Result<void> allow(const std::vector<std::string>& texts);
};

// No networks, and the search service whose key is in the environment of this process.
WebAccess web_access_here();

// `pool` outlives the tool.
ToolPtr make_web_fetch(const WebAccess& web, BlockingPool& pool);
ToolPtr make_web_search(const WebAccess& web);

}  // namespace errand::sdk
