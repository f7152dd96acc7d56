#include "sdk/web_access.hpp"

#include <memory>
#include <utility>

#include "host/environment.hpp"
#include "tool/builtin/web/web_fetch_tool.hpp"

namespace errand::sdk {

Result<void> WebAccess::allow(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    ERRAND_TRY(auto network, net::AddressPrefix::parse(text));
    networks.push_back(std::move(network));
  }
  return {};
}

WebAccess web_access_here() {
  return {.search = search_service_in(host::environment_here())};
}

ToolPtr make_web_fetch(const WebAccess& web, BlockingPool& pool) {
  net::ClientOptions client = host::client_options_here();
  client.addresses = net::AddressRules(web.networks);
  return std::make_shared<WebFetchTool>(std::move(client), pool);
}

ToolPtr make_web_search(const WebAccess& web) {
  return std::make_shared<WebSearchTool>(host::client_options_here(), web.search,
                                         web.search_results);
}

}  // namespace errand::sdk
