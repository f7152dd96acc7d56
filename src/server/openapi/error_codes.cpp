#include "server/openapi/error_codes.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"

namespace errand::server {
namespace {

constexpr auto kCodes = std::to_array<ErrorInfo>({
    {"bad_request", 400, "The request is not HTTP as the server understands it."},
    {"invalid_request", 400, "A parameter or the body is wrong. `pointer` says where."},
    {"too_complex", 400,
     "The body takes more work than one request may cause. `limit` names the bound."},
    {"invalid_model", 400, "No model has this name, or several have. `candidates` lists names."},
    {"unauthorized", 401, "The credential is missing, unknown, expired or revoked."},
    {"forbidden", 403, "The credential must not use what the request names."},
    {"insufficient_scope", 403, "The credential lacks the scope that `required` names."},
    {"invalid_token", 403,
     "The participant token is missing, wrong, expired, or for another room."},
    {"too_many_rooms", 403, "The workspace has as many rooms as joining may make."},
    {"not_found", 404, "The path, or what it names, does not exist in this workspace."},
    {"unknown_tool_use", 404, "The tool call is not pending: it is unknown or was answered."},
    {"method_not_allowed", 405, "The path takes other methods, which the header `Allow` lists."},
    {"request_timeout", 408, "The request did not arrive in time."},
    {"idempotency_conflict", 409, "The `Idempotency-Key` was used for another request."},
    {"workspace_exists", 409, "There is a workspace with this slug already."},
    {"name_taken", 409, "The workspace has something else with this name."},
    {"secret_lost", 409, "The value was sealed with a key that was given up. Set it again."},
    {"claimed", 409, "Another client has claimed the tool call, or the claim was lost to it."},
    {"run_terminal", 409, "The run has ended."},
    {"run_active", 409, "The run has not ended."},
    {"session_active", 409, "The session, or a run of it, has not ended."},
    {"session_busy", 409, "The session has a run in progress, and `whenBusy` is `reject`."},
    {"session_ended", 409, "The session has ended."},
    {"key_of_configuration", 409, "The configuration file names the key; only it can remove it."},
    {"version_mismatch", 412,
     "The version is not the one that `If-Match` or `If-None-Match` wants."},
    {"body_too_large", 413, "The body has more bytes than the server accepts."},
    {"too_large", 413, "The result is too long. The tool call counts as failed."},
    {"unsupported_media_type", 415, "The body is not of the type that the route takes."},
    {"expectation_failed", 417, "The server does not support what the header `Expect` asks for."},
    {"upgrade_required", 426, "The path takes only requests for a WebSocket."},
    {"rate_limited", 429,
     "The key has made too many requests. `Retry-After` says when to try again."},
    {"session_queue_full", 429, "Too many messages of the session are waiting for their turn."},
    {"headers_too_large", 431, "The head of the request has more bytes than the server accepts."},
    {"internal", 500, "The server has a bug. Its log names the request by `x-request-id`."},
    {"transfer_encoding_unsupported", 501, "The body has a transfer encoding besides `chunked`."},
    {"cancelled", 503, "The server shut down before it could answer."},
    {"disk_full", 503, "The disk is nearly full: new runs are refused so that others can finish."},
    {"draining", 503, "The server is shutting down and takes no new runs."},
    {"newer_format", 503, "A newer version of the server wrote this run."},
    {"overloaded", 503, "The bodies of all requests take more memory than they may."},
    {"recovering", 503, "The server is taking over runs of the process before it."},
    {"room_full", 503, "The room has as many participants as it may have."},
    {"secret_key_missing", 503, "The file with the key of the secrets is gone."},
    {"secret_key_wrong", 503, "The file with the key of the secrets holds another key."},
    {"store_unavailable", 503, "The store does not answer."},
    {"too_many_connections", 503,
     "The participant has as many connections to the room as one may have."},
});

}  // namespace

std::span<const ErrorInfo> error_codes() {
  return kCodes;
}

const ErrorInfo* find_error_info(std::string_view code) {
  const auto* found = std::find_if(kCodes.begin(), kCodes.end(),
                                   [&](const ErrorInfo& row) { return row.code == code; });
  return found == kCodes.end() ? nullptr : found;
}

const ErrorInfo& error_info(std::string_view code) {
  const ErrorInfo* found = find_error_info(code);
  ERRAND_ASSERT(found);
  return *found;
}

}  // namespace errand::server
