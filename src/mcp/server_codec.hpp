#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "mcp/codec.hpp"
#include "mcp/server_types.hpp"

namespace errand::mcp {

json::Object to_json(const Implementation& one);
json::Object to_json(const Prompt& prompt);
json::Object to_json(const GetPromptResult& result);
json::Object to_json(const Resource& resource);
json::Object to_json(const ResourceTemplate& resource);
json::Object to_json(const Completion& completion);
json::Object to_json(const InputRequired& wanted);
// The capabilities of a server, as initialize and server/discover tell them.
json::Object capabilities_of(const ServerOffer& offer, Era era);
// What resources/read answers with.
json::Object contents_of(const std::vector<EmbeddedResource>& resources);

ClientCapabilities parse_client_capabilities(const json::Object* from);
std::string_view to_text(LogLevel level);
std::optional<LogLevel> parse_log_level(std::string_view text);

// invalid_argument: not as the protocol says; the pointer says where.
Result<GetPromptParams> parse_get_prompt(const json::Object& params);
Result<CompleteParams> parse_complete(const json::Object& params);
Result<std::string> parse_uri(const json::Object& params);

// What the modern era's `_meta` says of the request.
struct RequestMeta {
  ClientCapabilities client;
  std::optional<LogLevel> log_level;
};
// Nothing: a request of the legacy era.
std::optional<std::string> modern_version_of(const json::Object& params);
Result<RequestMeta> parse_request_meta(const json::Object& params);
// What every result of the modern era has.
void complete_result(json::Object& result, const Implementation& server);
// The same for results that may be kept.
void make_cacheable(json::Object& result);
std::string subscription_key();
std::vector<std::string> supported_versions();

// Our Error in the form for the other side. An error about too much work has limit_data().
rpc::RpcError to_rpc_error(const Error& error);
// The limit that was met: `code`, `limit` and `max`, as an HTTP client gets them.
json::Object limit_data(const Error& error);

}  // namespace errand::mcp
