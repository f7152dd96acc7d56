#pragma once

#include <optional>

#include "net/client/http_client.hpp"
#include "tool/builtin/web/search_service.hpp"
#include "tool/tool.hpp"

namespace errand {

// `web_search {query, num_results?}`: asks a search service, whose key comes from the operator, and
// gives title, URL and snippet of each hit. Without a service every call says that no key is set.
class WebSearchTool final : public Tool {
 public:
  static constexpr int kResultsDefault = 5;
  static constexpr int kResultsMax = 20;
  static constexpr seconds kTimeMax{30};
  static constexpr std::size_t kQueryCharsMax = 400;
  static constexpr std::size_t kSnippetBytesMax = 1000;

  // The address of the service is the operator's, and may be a private one. `results_default` is 1
  // to kResultsMax: how many hits a call gets that names no number.
  WebSearchTool(net::ClientOptions options, std::optional<SearchService> service,
                int results_default = kResultsDefault);

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override;

 private:
  Task<Result<std::vector<SearchHit>>> search(std::string query, int count);

  const std::optional<SearchService> service_;
  const int results_default_;
  net::HttpClient client_;
  const ToolDecl decl_;
};

}  // namespace errand
