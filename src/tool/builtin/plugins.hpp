#pragma once

#include <vector>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "net/client/http_client.hpp"
#include "tool/tool.hpp"

namespace errand {

// The tools that every run can have by name (`mantyx_plugin` refs, bare or as "@errand/NAME"):
// calculator, current_time and web_fetch. `web` says which addresses may be reached; `clock` and
// `pool` outlive the tools.
std::vector<ToolPtr> make_plugins(const Clock& clock, net::ClientOptions web, BlockingPool& pool);

}  // namespace errand
