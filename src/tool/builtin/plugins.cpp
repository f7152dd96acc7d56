#include "tool/builtin/plugins.hpp"

#include <memory>
#include <utility>

#include "tool/builtin/calculator_tool.hpp"
#include "tool/builtin/current_time_tool.hpp"
#include "tool/builtin/web_fetch_tool.hpp"

namespace errand {

std::vector<ToolPtr> make_plugins(const Clock& clock, net::ClientOptions web, BlockingPool& pool) {
  return {std::make_shared<CalculatorTool>(), std::make_shared<CurrentTimeTool>(clock),
          std::make_shared<WebFetchTool>(std::move(web), pool)};
}

}  // namespace errand
