#pragma once

#include <optional>
#include <string>

#include "net/http.hpp"
#include "rpc/message.hpp"

namespace errand::mcp {

net::Response json_response(int status, std::string body);
// The answer to messages that need none.
net::Response accepted();
net::Response error_response(int status, std::optional<rpc::Id> id, rpc::RpcError error);
// An error that belongs to no request.
net::Response refusal(int status, std::int64_t code, std::string message);

// What a POST must say of its body and of what it takes: both JSON and event streams.
std::optional<net::Response> check_types(const net::Request& request);
// Whether a POST is one of the modern era. `first` is its first request, if it has any.
bool is_modern(const net::Request& request, const rpc::Request* first);
// Whether the headers say the same as the request, as the modern era wants.
std::optional<rpc::RpcError> check_modern(const net::Request& request, const rpc::Request& asked);
// The status for an answer of the modern era.
int modern_status(std::optional<std::int64_t> error_code);
// The headers of a request in a session.
std::optional<net::Response> check_legacy(const net::Request& request);

}  // namespace errand::mcp
