#include "mcp/server/server_features.hpp"

#include <utility>

#include "base/text.hpp"
#include "mcp/server_codec.hpp"

namespace errand::mcp {
namespace {

Error not_offered() {
  return {ErrorCode::unsupported, "this server does not have it"};
}

}  // namespace

void ServedCall::log(LogLevel level, std::string_view logger, json::Value data) {
  if (!log_level_ || level < *log_level_) return;
  json::Object params{{"level", to_text(level)}, {"data", std::move(data)}};
  if (!logger.empty()) params["logger"] = logger;
  request_.notify("notifications/message", std::move(params));
}

Task<Result<json::Value>> ServedCall::ask(std::string method, json::Object params) {
  bool is_offered = (method == "sampling/createMessage" && client_.sampling) ||
                    (method == "elicitation/create" && client_.elicitation) ||
                    (method == "roots/list" && client_.roots);
  if (era_ == Era::modern || !is_offered) {
    co_return Error(ErrorCode::unsupported, cat("the client cannot be asked for ", method));
  }
  rpc::CallOptions options{.silence_max = rpc::CallOptions::kNone};
  auto answer = co_await request_.call(std::move(method), std::move(params), std::move(options));
  if (!answer) co_return std::move(answer).error();
  if (const auto* error = std::get_if<rpc::RpcError>(&*answer)) {
    co_return Error(ErrorCode::unavailable,
                    cat("the client answers with error ", error->code, ": ", error->message));
  }
  co_return std::move(std::get<json::Value>(*answer));
}

Task<Result<std::vector<Tool>>> ServerFeatures::tools() {
  co_return not_offered();
}
Task<Result<CallOutcome>> ServerFeatures::call_tool(ServeToolParams /*params*/,
                                                    ServedCall* /*call*/) {
  co_return not_offered();
}
Task<Result<std::vector<Prompt>>> ServerFeatures::prompts() {
  co_return not_offered();
}
Task<Result<PromptOutcome>> ServerFeatures::get_prompt(GetPromptParams /*params*/,
                                                       ServedCall* /*call*/) {
  co_return not_offered();
}
Task<Result<std::vector<Resource>>> ServerFeatures::resources() {
  co_return not_offered();
}
Task<Result<std::vector<ResourceTemplate>>> ServerFeatures::resource_templates() {
  co_return not_offered();
}
Task<Result<std::vector<EmbeddedResource>>> ServerFeatures::read_resource(std::string /*uri*/,
                                                                          ServedCall* /*call*/) {
  co_return not_offered();
}
Task<Result<Completion>> ServerFeatures::complete(CompleteParams /*params*/, ServedCall* /*call*/) {
  co_return not_offered();
}

}  // namespace errand::mcp
