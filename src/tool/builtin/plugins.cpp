#include "tool/builtin/plugins.hpp"

#include <memory>
#include <utility>

#include "tool/builtin/calculator_tool.hpp"
#include "tool/builtin/current_time_tool.hpp"
#include "tool/builtin/web/web_fetch_tool.hpp"
#include "tool/builtin/web/web_search_tool.hpp"

namespace errand {

std::vector<ToolPtr> make_plugins(PluginSurroundings around) {
  return {std::make_shared<CalculatorTool>(), std::make_shared<CurrentTimeTool>(around.clock),
          std::make_shared<WebFetchTool>(std::move(around.web), around.pool),
          std::make_shared<WebSearchTool>(std::move(around.service), std::move(around.search))};
}

}  // namespace errand
