#pragma once

#include <string>

#include "async/blocking_pool.hpp"
#include "base/clock.hpp"
#include "net/client/http_client.hpp"
#include "tool/tool.hpp"

namespace errand {

struct WebFetchLimits {
  milliseconds time = seconds(30);                 // for all of a fetch, with its redirects
  std::size_t body_bytes = std::size_t{5} << 20U;  // of one answer, unpacked; the rest is left out
};

// `web_fetch {url, maxChars?, start?}`: reads a page of the web as Markdown, or other text as it
// is. Every address is checked after its name has been looked up, on every redirect too; see
// net::AddressRules. Sends neither cookies nor keys. Pages are parsed on the pool.
class WebFetchTool final : public Tool {
 public:
  static constexpr std::int64_t kCharsMax = 50'000;  // of a result; `start` reads on
  static constexpr int kRedirectsMax = 5;

  // `options` must say which addresses may be reached.
  WebFetchTool(net::ClientOptions options, BlockingPool& pool, WebFetchLimits limits = {});

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override;

 private:
  // An answer that is no redirect.
  struct Fetched {
    net::Url url;
    std::string shown_url;
    int status = 0;
    std::string content_type;
    std::string body;
    bool is_cut = false;
  };

  Task<Result<Fetched>> fetch(std::string url);
  Task<Result<Fetched>> read_body(Fetched fetched, std::unique_ptr<net::ClientStream> stream) const;

  const WebFetchLimits limits_;
  net::HttpClient client_;
  BlockingPool& pool_;
  const ToolDecl decl_;
};

}  // namespace errand
