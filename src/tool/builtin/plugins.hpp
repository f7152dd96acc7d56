#pragma once

#include <optional>
#include <vector>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "net/client/http_client.hpp"
#include "tool/builtin/web/search_service.hpp"
#include "tool/tool.hpp"

namespace errand {

// What the plugins are made with. The references outlive them.
struct PluginSurroundings {
  const Clock& clock;
  BlockingPool& pool;
  net::ClientOptions web;           // says which addresses web_fetch may reach
  net::ClientOptions service = {};  // how the search service is reached
  std::optional<SearchService> search = {};
};

// The tools that every run can have by name (`mantyx_plugin` refs, bare or as "@errand/NAME"):
// calculator, current_time, web_fetch and web_search.
std::vector<ToolPtr> make_plugins(PluginSurroundings around);

}  // namespace errand
