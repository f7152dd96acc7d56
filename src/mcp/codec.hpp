#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "mcp/types.hpp"
#include "rpc/message.hpp"

namespace errand::mcp {

// Of the members of `_meta` that the protocol itself defines.
inline constexpr std::string_view kMetaPrefix = "io.modelcontextprotocol/";

// The versions of the protocol that this program speaks.
inline constexpr std::string_view kModernVersion = "2026-07-28";
inline constexpr std::string_view kLegacyVersion = "2025-11-25";  // the newest, which it asks for
inline constexpr std::string_view kBatchVersion = "2025-03-26";   // the one with batches
bool is_legacy_version(std::string_view version);

namespace code {
constexpr std::int64_t kHeaderMismatch = -32020;
constexpr std::int64_t kMissingCapability = -32021;
constexpr std::int64_t kUnsupportedVersion = -32022;
constexpr std::int64_t kUrlElicitationRequired = -32042;  // of 2025-11-25
}  // namespace code
// Whether only a server of the modern era answers with this code.
bool is_modern_code(std::int64_t code);

// What this side offers to the server.
struct ClientCapabilities {
  bool roots = false;
  bool sampling = false;
  bool elicitation = false;
};
json::Object to_json(const ClientCapabilities& capabilities);

json::Object initialize_params(const Implementation& client, const ClientCapabilities& offered);
// The `_meta` that every request of the modern era carries.
json::Object modern_meta(const Implementation& client, const ClientCapabilities& offered);

// unsupported: a version that this program does not speak. invalid_argument: not as the protocol
// says; the pointer says where.
Result<ServerInfo> parse_initialize_result(const json::Value& result);
Result<ServerInfo> parse_discover_result(const json::Value& result);

struct ToolPage {
  std::vector<Tool> tools;
  std::vector<std::string> dropped;  // why a tool of the page cannot be used
  std::optional<std::string> next_cursor;
  std::int64_t ttl_millis = 0;
};
// An invalid tool is dropped; the others stay.
Result<ToolPage> parse_tool_page(const json::Value& result);
json::Object to_json(const Tool& tool);

// A request of the server that comes as a part of a result (modern era).
struct InputRequest {
  std::string method;
  json::Object params;
};
struct InputRequired {
  std::map<std::string, InputRequest> requests;
  std::optional<std::string> state;
};
using CallOutcome = std::variant<CallToolResult, InputRequired>;
Result<CallOutcome> parse_call_outcome(const json::Value& result);
json::Object to_json(const CallToolResult& result, Era era);

Content parse_content(const json::Value& value);
json::Object to_json(const Content& content);

Result<CreateMessageParams> parse_create_message(const json::Object& params);
json::Object to_json(const CreateMessageResult& result);
Result<ElicitParams> parse_elicit(const json::Object& params);
json::Object to_json(const ElicitResult& result);
json::Object to_json(const std::vector<Root>& roots);

// What an error of the server means here. invalid_argument: the server refuses the parameters.
// unsupported: it does not know the method. unavailable: anything else.
Error to_error(const rpc::RpcError& error);

// The pages that the user has to open before a call can be made, as parameters of elicitations;
// none if the error is another one.
std::vector<json::Object> pages_to_open(const rpc::RpcError& error);
constexpr std::size_t kPagesToOpenMax = 8;  // for one call; the rest is left out

// The error of a request that changes nothing: it does not matter whether it was carried out.
Error without_effects(Error error);

}  // namespace errand::mcp
