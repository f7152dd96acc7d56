#include "server/error_body.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"
#include "json/write.hpp"
#include "server/openapi/error_codes.hpp"

namespace errand::server {
namespace {

constexpr std::string_view kInsufficientScope = "insufficient_scope";

struct Surface {
  int status;
  std::string_view code;
};

Surface surface_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return {400, "invalid_request"};
    case ErrorCode::unauthorized: return {401, "unauthorized"};
    case ErrorCode::forbidden: return {403, "forbidden"};
    case ErrorCode::not_found: return {404, "not_found"};
    case ErrorCode::conflict: return {409, "conflict"};
    case ErrorCode::too_large: return {413, "too_large"};
    case ErrorCode::rate_limited: return {429, "rate_limited"};
    case ErrorCode::unsupported: return {501, "unsupported"};
    case ErrorCode::timeout: return {408, "timeout"};
    case ErrorCode::unavailable:
    case ErrorCode::outcome_unknown: return {503, "store_unavailable"};
    case ErrorCode::cancelled: return {503, "cancelled"};
    case ErrorCode::internal: return {500, "internal"};
  }
  return {500, "internal"};
}

// Reasons that the protocol documents with a text in `error`, not a code.
struct DocumentedText {
  std::string_view reason;
  std::string_view text;
};
constexpr auto kDocumentedTexts = std::to_array<DocumentedText>({
    {"missing_credential", "Unauthorized"},
    {"invalid_credential", "Invalid API key or OAuth access token"},
    {"wrong_workspace", "Workspace path does not match this credential"},
});

std::string body_of(const Error& error, std::string_view shown, std::string_view code) {
  std::string body;
  json::ObjectWriter out(body);
  out.field("error", shown).field("code", code).field("message", error.message());
  if (!error.hint().empty()) out.field("hint", error.hint());
  if (code == kInsufficientScope) {
    out.field("required", error.candidates().front());
  } else if (!error.candidates().empty()) {
    json::Array candidates;
    for (const std::string& one : error.candidates()) candidates.emplace_back(one);
    out.field("candidates", json::Value(std::move(candidates)));
  }
  if (!error.pointer().empty()) out.field("pointer", error.pointer());
  if (!error.limit().empty()) out.field("limit", error.limit()).field("max", error.max());
  out.end();
  return body;
}

}  // namespace

net::Response render_error(const Error& error) {
  Surface surface = surface_of(error.code());
  const std::string& reason = error.reason();
  auto text = std::find_if(kDocumentedTexts.begin(), kDocumentedTexts.end(),
                           [&](const DocumentedText& one) { return one.reason == reason; });
  bool is_documented = text != kDocumentedTexts.end();
  std::string_view code = reason.empty() || is_documented ? surface.code : std::string_view(reason);

  net::Response response;
  // Some reasons have a status of their own.
  const ErrorInfo* known = find_error_info(code);
  response.status = known ? known->status : surface.status;
  response.body = body_of(error, is_documented ? text->text : code, code);
  // The messages of refusals repeat what the caller sent, so they stay out of the log.
  constexpr int kFirstServerError = 500;
  response.failure = code;
  if (response.status >= kFirstServerError) append(response.failure, ": ", error.message());
  if (response.status == 401) response.headers.push_back({"WWW-Authenticate", "Bearer"});
  if (code == kInsufficientScope) {
    response.headers.push_back(
        {"WWW-Authenticate", cat("Bearer error=\"", kInsufficientScope, "\", scope=\"",
                                 error.candidates().front(), "\"")});
  }
  return response;
}

}  // namespace errand::server
