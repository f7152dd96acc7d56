#include "tool/http/http_tools.hpp"

#include <memory>
#include <utility>

#include "async/breath.hpp"
#include "base/text.hpp"
#include "json/parse.hpp"
#include "tool/http/http_tool.hpp"

namespace errand {
namespace {

// The declaration of the tool's latest version. internal: the record is damaged.
Result<ToolDecl> decl_of_record(const NamedRecord& record) {
  ERRAND_TRY(auto body, json::parse(record.body));
  auto tool = parse_http_tool(body, record.name);
  if (!tool) {
    return Error(ErrorCode::internal, cat("the record of the tool \"", record.name,
                                          "\" is damaged: ", tool.error().describe()));
  }
  ToolDecl decl = decl_of(*tool);
  decl.origin.version = std::to_string(record.version);
  decl.origin.upstream = record.id;
  return decl;
}

}  // namespace

HttpTools::HttpTools(net::HttpClient& client, NamedRecords& tools)
    : client_(client), tools_(tools) {}

Task<Result<std::vector<ToolDecl>>> HttpTools::look_up(ToolRef ref, Principal who) {
  const auto* stored = std::get_if<WorkspaceTool>(&ref);
  if (!stored) co_return std::vector<ToolDecl>();
  auto record = co_await tools_.find(who.workspace, stored->id);
  if (!record && record.error().code() == ErrorCode::not_found) {
    co_return Error(ErrorCode::invalid_argument, record.error().message())
        .pointer("/id")
        .hint("'errand tools list' shows them");
  }
  if (!record) co_return std::move(record).error();
  ERRAND_CO_TRY(auto decl, decl_of_record(*record));
  co_return std::vector<ToolDecl>{std::move(decl)};
}

Task<Result<std::vector<ToolPtr>>> HttpTools::offered(Principal who) {
  ERRAND_CO_TRY(auto page, co_await tools_.list(who.workspace, "", kOfferedMax));
  std::vector<ToolPtr> out;
  Breath breath(kBytesInABreath);
  for (const NamedRecord& record : page.records) {
    if (breath.is_due(record.body.size())) co_await let_others_run();
    // A damaged record must not hide other tools; a call of the damaged tool fails with the reason.
    auto decl = decl_of_record(record);
    if (decl) out.push_back(std::make_shared<HttpTool>(client_, tools_, who, std::move(*decl)));
  }
  co_return out;
}

Task<Result<ToolPtr>> HttpTools::offered_tool(Principal who, std::string name) {
  auto record = co_await tools_.find(who.workspace, name);
  bool is_missing = !record && record.error().code() == ErrorCode::not_found;
  if (!record && !is_missing) co_return std::move(record).error();
  // The record may have been found by its id instead of its name.
  if (is_missing || record->name != name) co_return ToolPtr();
  auto decl = decl_of_record(*record);
  if (!decl) co_return ToolPtr();
  co_return std::make_shared<HttpTool>(client_, tools_, std::move(who), std::move(*decl));
}

ToolPtr HttpTools::open(const ToolDecl& binding, const ToolRef&, const Principal& who) {
  return std::make_shared<HttpTool>(client_, tools_, who, binding);
}

}  // namespace errand
