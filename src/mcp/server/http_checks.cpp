#include "mcp/server/http_checks.hpp"

#include <algorithm>
#include <utility>

#include "base/base64.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "mcp/codec.hpp"
#include "mcp/header_parameters.hpp"
#include "mcp/server_codec.hpp"

namespace errand::mcp {
namespace {

bool accepts(std::string_view accept, std::string_view type) {
  return accept.find(type) != std::string_view::npos ||
         accept.find("*/*") != std::string_view::npos;
}

// Decodes a header value that the client encoded for HTTP.
std::string from_header_text(std::string_view text) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  bool is_encoded = text.size() >= kBegin.size() + kEnd.size() && text.starts_with(kBegin) &&
                    text.ends_with(kEnd);
  if (!is_encoded) return std::string(text);
  auto bytes = from_base64(text.substr(kBegin.size(), text.size() - kBegin.size() - kEnd.size()));
  return bytes ? std::move(*bytes) : std::string(text);
}

rpc::RpcError mismatch(std::string_view header) {
  return {.code = code::kHeaderMismatch,
          .message = cat("the header ", header, " is missing or says something else")};
}

// The name of what the request is about, if the protocol wants that in a header.
std::optional<std::string_view> name_of(const rpc::Request& asked) {
  if (asked.method == "tools/call" || asked.method == "prompts/get") {
    return json::text_at(&asked.params, "name");
  }
  if (asked.method == "resources/read") return json::text_at(&asked.params, "uri");
  return {};
}

}  // namespace

net::Response json_response(int status, std::string body) {
  net::Response response;
  response.status = status;
  response.body = std::move(body);
  return response;
}

net::Response accepted() {
  net::Response response;
  response.status = 202;
  response.content_type.clear();
  return response;
}

net::Response error_response(int status, std::optional<rpc::Id> id, rpc::RpcError error) {
  return json_response(status,
                       rpc::write(rpc::Response{.id = std::move(id), .answer = std::move(error)}));
}

net::Response refusal(int status, std::int64_t code, std::string message) {
  return error_response(status, {}, {.code = code, .message = std::move(message)});
}

std::optional<net::Response> check_types(const net::Request& request) {
  std::string_view type = request.header("content-type");
  type = trim(type.substr(0, std::min(type.find(';'), type.size())));
  if (!equals_ignoring_case(type, "application/json")) {
    return refusal(415, rpc::code::kInvalidRequest, "the body must be application/json");
  }
  std::string_view accept = request.header("accept");
  if (accepts(accept, "application/json") && accepts(accept, "text/event-stream")) return {};
  return refusal(406, rpc::code::kInvalidRequest,
                 "the client must accept application/json and text/event-stream");
}

bool is_modern(const net::Request& request, const rpc::Request* first) {
  std::string_view version = request.header("mcp-protocol-version");
  if (first && modern_version_of(first->params)) return true;
  if (first && first->method == "initialize") return false;
  bool has_session = !request.header("mcp-session-id").empty();
  return version == kModernVersion || (!has_session && !request.header("mcp-method").empty());
}

std::optional<rpc::RpcError> check_modern(const net::Request& request, const rpc::Request& asked) {
  auto version = modern_version_of(asked.params);
  if (!version) {
    return rpc::RpcError{.code = rpc::code::kInvalidParams,
                         .message = "/_meta: expected the version of the protocol"};
  }
  if (request.header("mcp-protocol-version") != *version) return mismatch("MCP-Protocol-Version");
  if (*version != kModernVersion) return {};  // the dispatcher names the supported versions
  auto meta = parse_request_meta(asked.params);
  if (!meta) return to_rpc_error(meta.error());
  if (from_header_text(request.header("mcp-method")) != asked.method) return mismatch("Mcp-Method");
  auto name = name_of(asked);
  if (name && from_header_text(request.header("mcp-name")) != *name) return mismatch("Mcp-Name");
  return {};
}

int modern_status(std::optional<std::int64_t> error_code) {
  if (!error_code) return 200;
  switch (*error_code) {
    case rpc::code::kMethodNotFound: return 404;
    case rpc::code::kInvalidRequest:
    case code::kHeaderMismatch:
    case code::kMissingCapability:
    case code::kUnsupportedVersion: return 400;
    case rpc::code::kOverloaded: return 503;
    default: return 200;
  }
}

std::optional<net::Response> check_legacy(const net::Request& request) {
  if (request.header("mcp-session-id").empty()) {
    return refusal(400, rpc::code::kInvalidRequest,
                   "the header MCP-Session-Id is missing; initialize gives one");
  }
  std::string_view version = request.header("mcp-protocol-version");
  if (version.empty() || is_legacy_version(version)) return {};
  return refusal(400, rpc::code::kInvalidRequest, "this version of MCP is not supported");
}

}  // namespace errand::mcp
