// Calls that wait for a client, shared among a pool of clients.
#include <algorithm>
#include <memory>
#include <utility>

#include "async/read_aside.hpp"
#include "base/text.hpp"
#include "json/fields.hpp"
#include "json/write.hpp"
#include "run/unknown_members.hpp"
#include "server/api.hpp"
#include "server/credential_errors.hpp"
#include "server/openapi/query.hpp"
#include "server/openapi/request_limits.hpp"
#include "server/openapi/request_members.hpp"
#include "server/request_body.hpp"
#include "server/routes/run_json.hpp"

namespace errand::server {
namespace {

// Calls include what their clients sent along. A page ends with the call that exceeds this.
constexpr std::size_t kPageBytesMax = 4U * 1024 * 1024;

Result<CallFilter> parse_call_filter(const Principal& who, const net::Request& request) {
  using Status = CallFilter::Status;
  CallFilter filter{.workspace = who.workspace};
  ERRAND_TRY(auto status, choice_param(request, query::kCallStatus));
  if (status) filter.status = *status == 0 ? Status::unclaimed : Status::claimed;
  filter.name = text_param(request, query::kCallName).value_or("");
  filter.after = text_param(request, query::kCursor).value_or("");
  ERRAND_TRY(auto limit, integer_param(request, query::kLimit));
  filter.limit = static_cast<std::size_t>(limit);
  return filter;
}

Result<milliseconds> parse_ttl(json::Fields& in) {
  auto millis = in.optional_integer("ttlMs", 1, kClaimMillisMax);
  ERRAND_CHECK(in.finish());
  return milliseconds(millis.value_or(kClaimMillisDefault));
}

Result<milliseconds> parse_claim(const json::Value& body) {
  ERRAND_CHECK(refuse_unknown_members(body, kClaimMembers));
  json::Fields in(body, "");
  return parse_ttl(in);
}

// A key without the body: a repeated claim may ask for a longer time.
Result<std::string> claim_key(const net::Request& request) {
  std::string key(request.header("idempotency-key"));
  if (key.size() <= kIdempotencyKeyCharsMax) return key;
  return Error(ErrorCode::invalid_argument, "the Idempotency-Key is too long")
      .limit("idempotencyKeyChars", kIdempotencyKeyCharsMax);
}

struct Extension {
  std::string claim_id;
  milliseconds ttl{};
};

Result<Extension> parse_extension(const json::Value& body) {
  ERRAND_CHECK(refuse_unknown_members(body, kExtendMembers));
  json::Fields in(body, "");
  Extension asked{.claim_id = in.text("claimId")};
  ERRAND_TRY(asked.ttl, parse_ttl(in));
  return asked;
}

Result<ProgressReport> parse_progress(const json::Value& body) {
  ERRAND_CHECK(refuse_unknown_members(body, kProgressMembers));
  json::Fields in(body, "");
  ProgressReport report{.message = in.optional_text("message").value_or(""),
                        .progress = in.optional_number("progress"),
                        .total = in.optional_number("total")};
  if (in.ok() && report.message.empty() && !report.progress) {
    in.fail("message", "give a \"message\", a \"progress\" or both");
  }
  return in.finish(std::move(report));
}

// Writes at most `limit` calls, and about kPageBytesMax. If there are more, there is a cursor.
net::Response page_of(const std::vector<engine::PendingCall>& calls, std::size_t limit) {
  json::Array items;
  for (std::size_t bytes = 0; items.size() < std::min(limit, calls.size());) {
    if (bytes >= kPageBytesMax) break;
    const engine::PendingCall& call = calls[items.size()];
    bytes += call.box.request.size();
    items.push_back(call_json(call));
  }
  const std::size_t shown = items.size();
  json::Object out{{"toolCalls", std::move(items)}};
  out["nextCursor"] = shown < calls.size() ? json::Value(calls[shown - 1].box.slot) : json::Value();
  return json_response(200, json::write(out));
}

// Client clocks may differ, so the answer has the server's time: with it, a client knows how long
// its claim lasts.
net::Response claim_response(const engine::PendingCall& call, WallTime now) {
  json::Object out = call_json(call);
  out["claimId"] = call.box.claim_id;
  out["expiresAt"] = to_iso8601(*call.claimed_until);
  out["serverTime"] = to_iso8601(now);
  return json_response(200, json::write(out));
}

}  // namespace

Api::Answer Api::list_tool_calls(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto filter, parse_call_filter(who, request));
  ERRAND_CO_TRY(auto wait, integer_param(request, query::kWait));
  std::size_t limit =
      filter.limit++;  // one more than asked for shows whether there is another page
  filter.bytes_max = kPageBytesMax;
  // If the credential is revoked while the request waits, it is refused at once.
  std::string secret(credential(request));
  auto is_good = [this, secret] { return find(secret).has_value(); };
  auto has_left = std::make_shared<bool>(false);
  auto poll =
      std::make_shared<engine::CallPoll>([is_good, has_left] { return !*has_left && is_good(); });
  if (wait > 0 && request.when_left) {
    request.when_left([poll, has_left] {
      *has_left = true;
      poll->recheck();
    });
  }
  milliseconds patience = std::min<milliseconds>(
      seconds(wait), time_left(secret, who.key).value_or(milliseconds::max()));
  ERRAND_CO_TRY(auto calls, co_await engine_.pending_calls(std::move(filter), patience, poll));
  if (!is_good()) co_return bad_credential();
  std::size_t bytes = 0;
  for (const engine::PendingCall& call : calls) bytes += call.box.request.size();
  BlockingPool* pool = bytes > kBytesInABreath ? engine_.pool() : nullptr;
  auto make = [calls = std::move(calls), limit]() { return Result(page_of(calls, limit)); };
  auto made = co_await run_aside(pool, std::move(make));
  co_return made;
}

Api::Answer Api::claim_tool_call(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto ttl, co_await read_json(&request, engine_.pool(), parse_claim));
  ERRAND_CO_TRY(auto id, tool_use_of_path(request));
  ERRAND_CO_TRY(auto key, claim_key(request));
  ERRAND_CO_TRY(auto call, co_await engine_.claim_call(who, std::move(id), ttl, std::move(key)));
  co_return claim_response(call, engine_.clock().now());
}

Api::Answer Api::extend_tool_call(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto asked, co_await read_json(&request, engine_.pool(), parse_extension));
  ERRAND_CO_TRY(auto id, tool_use_of_path(request));
  ERRAND_CO_TRY(auto call, co_await engine_.extend_claim(who, std::move(id),
                                                         std::move(asked.claim_id), asked.ttl));
  co_return claim_response(call, engine_.clock().now());
}

Api::Answer Api::report_progress(Principal who, net::Request request) {
  ERRAND_CO_TRY(auto report, co_await read_json(&request, engine_.pool(), parse_progress));
  ERRAND_CO_TRY(auto id, tool_use_of_path(request));
  ERRAND_CO_CHECK(co_await engine_.report_progress(who, std::move(id), std::move(report)));
  co_return json_response(204, {});
}

}  // namespace errand::server
