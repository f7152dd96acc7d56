#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "async/read_aside.hpp"
#include "base/result.hpp"
#include "json/value.hpp"
#include "net/http.hpp"
#include "run/ids.hpp"
#include "server/openapi/parameter.hpp"
#include "store/records.hpp"

namespace errand::server {

// The text of a body that says it is JSON. invalid_argument: it is empty. unsupported: it says it
// is something else.
Result<std::string_view> json_text(const net::Request& request);
// A text that a stranger sent as JSON. invalid_argument with the reason "too_complex": it has too
// many values.
Result<json::Value> parse_body(std::string_view text);

// What `read` makes of the body's JSON. All routes read bodies this way: long bodies are parsed and
// checked on the pool, and their values are freed there. `request` and `pool` outlive the task. The
// errors are the same as of json_text, parse_body and `read`.
template <class Read>
Task<std::invoke_result_t<Read, const json::Value&>> read_json(net::Request* request,
                                                               BlockingPool* pool, Read read) {
  ERRAND_CO_CHECK(json_text(*request));
  auto whole = [read](std::string_view text) -> std::invoke_result_t<Read, const json::Value&> {
    ERRAND_TRY(auto body, parse_body(text));
    return read(std::as_const(body));
  };
  auto out = co_await read_aside(&request->body, pool, whole);
  co_return out;
}

// The run a path names. not_found: the text cannot be the id of any run.
Result<RunId> run_of_path(const net::Request& request);

// The pending call a path names. not_found: the text cannot be the id of any.
Result<std::string> tool_use_of_path(const net::Request& request);

// A parameter of a query, as its row describes it. invalid_argument: not an integer of the range.
Result<std::int64_t> integer_param(const net::Request& request, const Parameter& parameter);
// A word by its position; nothing if it is absent. invalid_argument: not one of the words.
Result<std::optional<std::size_t>> choice_param(const net::Request& request,
                                                const Parameter& parameter);
std::optional<std::string> text_param(const net::Request& request, const Parameter& parameter);

// Every `metadata=KEY:VALUE` of a query. invalid_argument: one has no colon.
Result<std::vector<std::pair<std::string, std::string>>> metadata_params(
    const net::Request& request);

// "createdAfter" and "createdBefore" of a query. invalid_argument: one is no time.
Result<CreatedBetween> created_params(const net::Request& request);

// The request's Idempotency-Key with a fingerprint of the request; empty without a key. The
// fingerprint of a long body is taken on the pool. `request` and `pool` outlive the task.
// invalid_argument: the key is too long.
Task<Result<Idempotency>> idempotency_of(net::Request* request, BlockingPool* pool);

net::Response json_response(int status, std::string body);

}  // namespace errand::server
