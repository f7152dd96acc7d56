#pragma once

#include "net/client/http_client.hpp"
#include "store/named_records.hpp"
#include "tool/tool_source.hpp"

namespace errand {

// The tools that workspaces have stored (`mantyx` refs, by id or name). Runs are bound to the
// version that is there when they are made. Lives on the engine's home.
class HttpTools final : public StoredToolSource {
 public:
  static constexpr std::size_t kOfferedMax = 1000;

  // `client` says which addresses may be reached. They outlive this.
  HttpTools(net::HttpClient& client, NamedRecords& tools);

  Task<Result<std::vector<ToolDecl>>> look_up(ToolRef ref, Principal who) override;
  ToolPtr open(const ToolDecl& binding, const ToolRef& ref, const Principal& who) override;
  // The oldest kOfferedMax, each in its latest version.
  Task<Result<std::vector<ToolPtr>>> offered(Principal who) override;
  Task<Result<ToolPtr>> offered_tool(Principal who, std::string name) override;

 private:
  net::HttpClient& client_;
  NamedRecords& tools_;
};

}  // namespace errand
