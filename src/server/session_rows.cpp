// The table of routes: sessions.
#include "server/api.hpp"
#include "server/openapi/query.hpp"

namespace errand::server {

using net::Method;

std::vector<Api::Row> Api::session_rows() {
  return {
      {{.method = Method::post,
        .path = "/agent-sessions",
        .id = "createSession",
        .tag = "Sessions",
        .scope = "sessions:write",
        .summary = "Creates a session.",
        .request = "SessionRequest",
        .takes_idempotency_key = true,
        .answers = {{201, "The session.", "SessionCreated"}},
        .errors = {"invalid_model", "forbidden", "idempotency_conflict", "draining", "disk_full"}},
       &Api::create_session},
      {{.method = Method::get,
        .path = "/agent-sessions",
        .id = "listSessions",
        .tag = "Sessions",
        .scope = "sessions:read",
        .summary = "Lists sessions, the most recently used first.",
        .query = {query::kSessionStatus, query::kMetadata, query::kLimit, query::kOffset,
                  query::kCursor},
        .answers = {{200, "A page of sessions.", "SessionList"}}},
       &Api::list_sessions},
      {{.method = Method::get,
        .path = "/agent-sessions/{sessionId}",
        .id = "getSession",
        .tag = "Sessions",
        .scope = "sessions:read",
        .summary = "Shows a session with its history.",
        .answers = {{200, "The session.", "Session"}}},
       &Api::get_session},
      {{.method = Method::delete_,
        .path = "/agent-sessions/{sessionId}",
        .id = "endSession",
        .tag = "Sessions",
        .scope = "sessions:write",
        .summary = "Ends a session.",
        .about = "Its run in progress is cancelled. A session that has ended stays ended.",
        .answers = {{200, "The session has ended.", "Done"}}},
       &Api::end_session},
      {{.method = Method::post,
        .path = "/agent-sessions/{sessionId}/messages",
        .id = "sendMessage",
        .tag = "Sessions",
        .scope = "sessions:write",
        .summary = "Sends a message: starts a run that continues the conversation.",
        .request = "MessageRequest",
        .takes_idempotency_key = true,
        .answers = {{201, "The run has started, or waits for its turn.", "RunCreated"}},
        .errors = {"invalid_model", "forbidden", "idempotency_conflict", "session_busy",
                   "session_ended", "session_queue_full", "draining", "disk_full"}},
       &Api::send_message},
      {{.method = Method::get,
        .path = "/agent-sessions/{sessionId}/events",
        .id = "listSessionEvents",
        .tag = "Sessions",
        .scope = "sessions:read",
        .summary = "Lists the messages of a session as events.",
        .query = {query::kLastMessages, query::kBeforeSeq, query::kFull},
        .answers = {{200, "A page of messages, the oldest first.", "SessionEvents"}}},
       &Api::list_session_events},
  };
}

}  // namespace errand::server
