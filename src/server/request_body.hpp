#pragma once

#include <string_view>

#include "base/result.hpp"
#include "json/value.hpp"
#include "net/http.hpp"
#include "run/ids.hpp"
#include "store/records.hpp"

namespace errand::server {

// The text of a body that says it is JSON. invalid_argument: it is empty. unsupported: it says it
// is something else.
Result<std::string_view> json_text(const net::Request& request);
// The body as JSON. invalid_argument: it is none. unsupported: it says it is something else.
Result<json::Value> json_body(const net::Request& request);

// The run a path names. not_found: the text cannot be the id of any run.
Result<RunId> run_of_path(const net::Request& request);

// The pending call a path names. not_found: the text cannot be the id of any.
Result<std::string> tool_use_of_path(const net::Request& request);

// Every `metadata=KEY:VALUE` of a query. invalid_argument: one has no colon.
Result<std::vector<std::pair<std::string, std::string>>> metadata_params(
    const net::Request& request);

// An integer query parameter; `otherwise` when absent. invalid_argument: not in the range.
Result<std::int64_t> integer_param(const net::Request& request, std::string_view name,
                                   std::int64_t otherwise, std::int64_t min, std::int64_t max);

// The request's Idempotency-Key with a fingerprint of what it asks for; empty without one.
// invalid_argument: the key is too long.
Result<Idempotency> idempotency_of(const net::Request& request);

net::Response json_response(int status, std::string body);

}  // namespace errand::server
