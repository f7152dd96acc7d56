#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "async/blocking_pool.hpp"
#include "async/breath.hpp"
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
// The body as JSON. invalid_argument: it is none. unsupported: it says it is something else.
Result<json::Value> json_body(const net::Request& request);
// A text that a stranger sent as JSON.
Result<json::Value> parse_body(std::string_view text);

// What `read` makes of the body's text. A long text is read on the pool, so that nobody else waits
// for it; without a pool (nullptr) it is read at once.
template <class Read>
Task<std::invoke_result_t<Read, std::string_view>> read_body(net::Request* request,
                                                             BlockingPool* pool, Read read) {
  if (!pool || request->body.size() <= kBytesInABreath) co_return read(request->body);
  // The pool may still be reading when whoever asked is gone.
  auto text = std::make_shared<std::string>(std::move(request->body));
  auto out = co_await pool->run([text, read] { return read(std::string_view(*text)); });
  request->body = std::move(*text);
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

// The request's Idempotency-Key with a fingerprint of what it asks for; empty without one.
// invalid_argument: the key is too long.
Result<Idempotency> idempotency_of(const net::Request& request);

net::Response json_response(int status, std::string body);

}  // namespace errand::server
