#include "server/mcp/workspace_features.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "crypto/random.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "mcp/server/served_tool.hpp"
#include "run/content.hpp"
#include "store/segment_events.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kLogHead = "errand://runs/";
constexpr std::string_view kLogTail = "/events";
constexpr std::string_view kLogType = "application/x-ndjson";

mcp::CallOutcome failure(std::string text) {
  return mcp::CallToolResult{.content = {mcp::TextContent{std::move(text)}}, .is_error = true};
}

std::optional<RunId> run_of(std::string_view uri) {
  bool fits = uri.size() > kLogHead.size() + kLogTail.size() && uri.starts_with(kLogHead) &&
              uri.ends_with(kLogTail);
  if (!fits) return {};
  return RunId::parse(uri.substr(kLogHead.size(), uri.size() - kLogHead.size() - kLogTail.size()));
}

Error no_resource(std::string_view uri) {
  return {ErrorCode::not_found, cat("there is no resource ", utf8_prefix(uri, 200))};
}

}  // namespace

mcp::ServerOffer workspace_offer() {
  return {.server = {.name = "errand", .version = std::string(version()), .title = "Errand"},
          .instructions = "The tools and agents of an Errand workspace, and the logs of its runs.",
          .tools = true,
          .resources = true};
}

Task<Result<std::vector<AgentAsTool>>> WorkspaceFeatures::agents() const {
  if (!who_.has_scope("runs:write")) co_return std::vector<AgentAsTool>();
  auto found = co_await agents_as_tools(&deps_.engine.records().agents, who_, kAgentsMax);
  co_return found;
}

Task<Result<std::vector<mcp::Tool>>> WorkspaceFeatures::tools() {
  std::vector<mcp::Tool> tools;
  std::set<std::string> names;
  if (engine::may_use_tools(who_)) {
    ERRAND_CO_TRY(auto offered, co_await deps_.tools.offered(who_));
    for (const ToolPtr& tool : offered) {
      names.insert(tool->decl().name);
      tools.push_back(mcp::offered_tool(tool->decl()));
    }
  }
  ERRAND_CO_TRY(auto runnable, co_await agents());
  for (const AgentAsTool& agent : runnable) {
    if (names.insert(agent.decl.name).second) tools.push_back(mcp::offered_tool(agent.decl));
  }
  co_return tools;
}

Task<Result<std::string>> WorkspaceFeatures::mistake_in(
    std::shared_ptr<const json::Value> arguments, SchemaPtr schema) const {
  auto wrong = co_await engine::check_arguments(deps_.engine.pool(), deps_.schemas,
                                                std::move(schema), std::move(arguments));
  if (!wrong && wrong.error().reason() == "too_complex") co_return std::move(wrong).error();
  if (!wrong) co_return wrong.error().describe();
  if (wrong->empty()) co_return std::string();
  co_return cat("The arguments do not fit the tool:\n", json::describe(*wrong));
}

Task<Result<mcp::CallOutcome>> WorkspaceFeatures::call_tool(mcp::ServeToolParams params,
                                                            mcp::ServedCall* call) {
  // A task that is cancelled leaves the check, and the pool may still be using the arguments.
  auto arguments = std::make_shared<json::Value>(std::move(params.arguments));
  if (engine::may_use_tools(who_)) {
    ERRAND_CO_TRY(auto tool, co_await deps_.tools.offered_tool(who_, params.name));
    if (tool) {
      ERRAND_CO_TRY(auto wrong, co_await mistake_in(arguments, tool->decl().input_schema));
      if (!wrong.empty()) co_return failure(std::move(wrong));
      auto outcome = co_await this->call(tool, std::move(arguments->get_object()), call);
      co_return outcome;
    }
  }
  ERRAND_CO_TRY(auto runnable, co_await agents());
  auto agent = std::find_if(runnable.begin(), runnable.end(), [&params](const AgentAsTool& one) {
    return one.decl.name == params.name;
  });
  if (agent == runnable.end()) {
    co_return Error(ErrorCode::not_found,
                    cat("there is no tool ", utf8_prefix(params.name, kToolNameCharsMax)));
  }
  ERRAND_CO_TRY(auto wrong, co_await mistake_in(arguments, agent->decl.input_schema));
  if (!wrong.empty()) co_return failure(std::move(wrong));
  std::string message(json::text_at(&arguments->get_object(), "message"));
  auto outcome = co_await call_agent({.engine = deps_.engine, .cancelling = deps_.cancelling}, who_,
                                     agent->id, std::move(message), call);
  co_return outcome;
}

// The ids of calls have to differ, but need not be unpredictable: one draw serves many calls.
ToolUseId WorkspaceFeatures::next_call_id() {
  constexpr std::size_t kRandomBytes = 12;
  constexpr std::uint64_t kCallsADraw = 1'000'000;
  const std::uint64_t number = calls_++ % kCallsADraw;
  if (number == 0) call_ids_ = cat("tu_", crypto::random_hex(kRandomBytes));
  return *ToolUseId::parse(cat(call_ids_, number));
}

Task<Result<mcp::CallOutcome>> WorkspaceFeatures::call(ToolPtr tool, json::Object arguments,
                                                       mcp::ServedCall* call) {
  mcp::ReportedProgress progress(*call);
  ToolCall made{
      .run = *RunId::parse("run_none"), .id = next_call_id(), .arguments = std::move(arguments)};
  milliseconds timeout = tool->decl().annotations.timeout.value_or(kHostToolTimeout);
  ToolContext context{
      .who = who_, .deadline = std::chrono::steady_clock::now() + timeout, .progress = &progress};
  ToolOutcome outcome =
      co_await deps_.caller.call(std::move(tool), std::move(made), context, &call->interrupt());
  co_return mcp::CallOutcome(mcp::call_result(std::move(outcome)));
}

Task<Result<std::vector<mcp::Resource>>> WorkspaceFeatures::resources() {
  if (!who_.has_scope("runs:read")) co_return std::vector<mcp::Resource>();
  ERRAND_CO_TRY(auto runs,
                co_await deps_.engine.list({.workspace = who_.workspace, .limit = kListedRunsMax}));
  std::vector<mcp::Resource> out;
  for (const RunRow& run : runs) {
    out.push_back({.uri = cat(kLogHead, run.id.view(), kLogTail),
                   .name = run.name.empty() ? run.id.str() : run.name,
                   .description = cat("Log of a run that is ", to_string(run.status)),
                   .mime_type = std::string(kLogType)});
  }
  co_return out;
}

Task<Result<std::vector<mcp::ResourceTemplate>>> WorkspaceFeatures::resource_templates() {
  co_return std::vector<mcp::ResourceTemplate>{
      {.uri_template = cat(kLogHead, "{runId}", kLogTail),
       .name = "run-log",
       .title = "Log of a run",
       .description = "The events of a run, one JSON object a line.",
       .mime_type = std::string(kLogType)}};
}

Task<Result<std::vector<mcp::EmbeddedResource>>> WorkspaceFeatures::read_resource(
    std::string uri, mcp::ServedCall* /*call*/) {
  auto run = run_of(uri);
  if (!run || !who_.has_scope("runs:read")) co_return no_resource(uri);
  std::string text;
  EventSeq after = 0;
  EventSeq last = 0;
  bool is_cut = false;
  do {
    auto page = co_await deps_.engine.events(who_, *run, after, kLogBytesMax);
    if (!page && page.error().code() == ErrorCode::not_found) co_return no_resource(uri);
    if (!page) co_return std::move(page).error();
    if (page->segments.empty()) break;
    last = page->last_seq;
    for (const SegmentPtr& segment : page->segments) {
      for_each_event(*segment, after, [&](std::string_view line) {
        is_cut = is_cut || text.size() + line.size() >= kLogBytesMax;
        if (is_cut) return;
        append(text, line, "\n");
        ++after;
      });
    }
  } while (after < last && !is_cut);
  if (is_cut) append(text, "{\"cut\":true,\"shown\":", after, ",\"events\":", last, "}\n");
  co_return std::vector<mcp::EmbeddedResource>{{.uri = std::move(uri),
                                                .mime_type = std::string(kLogType),
                                                .body = mcp::TextBody{std::move(text)}}};
}

}  // namespace errand::server
