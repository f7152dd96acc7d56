#pragma once

#include <string>

#include "net/client/http_client.hpp"
#include "store/named_records.hpp"
#include "tool/http/http_tool_def.hpp"
#include "tool/tool.hpp"

namespace errand {

// A call's request, ready to be sent.
struct RenderedRequest {
  net::ClientRequest request;
  std::string shown_url;  // without secrets
};
// `tool`, `call` and `secrets` outlive the task. invalid_argument: the arguments do not fill the
// request. Else see CallSecrets::find.
Task<Result<RenderedRequest>> render_request(const HttpToolDef* tool, const ToolCall* call,
                                             CallSecrets* secrets);

// A stored HTTP tool in the version that a run is bound to. Its definition is read with each call,
// so that a tool that was deleted is not called any more.
//
// Every address is checked after its name has been looked up, on every redirect, too; see
// net::AddressRules. Redirects of GET and HEAD are followed; to another host, they go without the
// headers of the tool. A request that may have effects is sent once. The header Idempotency-Key is
// the toolUseId, the same on every attempt.
class HttpTool final : public Tool {
 public:
  static constexpr int kRedirectsMax = 5;
  static constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20U;  // the rest is left out

  // `client` and `tools` outlive this.
  HttpTool(net::HttpClient& client, NamedRecords& tools, Principal who, ToolDecl binding);

  const ToolDecl& decl() const override { return decl_; }
  Task<ToolOutcome> invoke(ToolCall call, ToolContext context) override;

 private:
  struct Answer {
    int status = 0;
    std::string content_type;
    std::string body;
    bool is_cut = false;
  };

  Task<Result<HttpToolDef>> definition() const;
  Task<Result<Answer>> send(RenderedRequest rendered, SteadyTime deadline);
  static Task<Result<Answer>> read_answer(std::unique_ptr<net::ClientStream> stream);
  static ToolOutcome to_outcome(const HttpToolDef& tool, Answer answer, const CallSecrets& secrets);

  net::HttpClient& client_;
  NamedRecords& tools_;
  const Principal who_;
  const ToolDecl decl_;
};

}  // namespace errand
