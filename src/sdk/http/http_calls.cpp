// The calls of a server that wait for a client.
#include <utility>

#include "base/text.hpp"
#include "json/write.hpp"
#include "sdk/http/http_answers.hpp"
#include "sdk/http/http_api.hpp"

namespace errand::sdk {
namespace {

std::string call_path(const ToolUseId& call, std::string_view verb) {
  return cat("/tool-calls/", percent_encode(call.view()), "/", verb);
}

}  // namespace

Task<Result<std::vector<OpenCall>>> HttpApi::pending_calls(CallQuery query) {
  ApiRequest request{.path = "/tool-calls",
                     .query = {{"status", "pending"},
                               {"limit", std::to_string(query.limit)},
                               {"wait", std::to_string(query.wait.count())}},
                     .timeout = kAnswerMax + query.wait};
  if (!query.name.empty()) request.query.emplace_back("name", query.name);
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return parse_open_calls(answer);
}

Task<Result<Claim>> HttpApi::claim(ToolUseId call, milliseconds ttl, std::string key) {
  std::string body;
  json::ObjectWriter(body).field("ttlMs", ttl.count()).end();
  ERRAND_CO_TRY(auto answer,
                co_await post(call_path(call, "claim"), std::move(body), std::move(key)));
  co_return parse_claim(answer);
}

Task<Result<void>> HttpApi::extend(ToolUseId call, std::string claim, milliseconds ttl) {
  std::string body;
  json::ObjectWriter(body).field("claimId", claim).field("ttlMs", ttl.count()).end();
  ERRAND_CO_CHECK(co_await post(call_path(call, "extend"), std::move(body)));
  co_return Result<void>();
}

Task<Result<void>> HttpApi::report_progress(ToolUseId call, ProgressReport report) {
  std::string body;
  json::ObjectWriter out(body);
  if (!report.message.empty() || !report.progress) out.field("message", report.message);
  if (report.progress) out.field("progress", json::Value(*report.progress));
  if (report.total) out.field("total", json::Value(*report.total));
  out.end();
  ERRAND_CO_CHECK(co_await post(call_path(call, "progress"), std::move(body)));
  co_return Result<void>();
}

}  // namespace errand::sdk
