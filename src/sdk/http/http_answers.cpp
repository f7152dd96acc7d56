#include "sdk/http/http_answers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/dates/iso_time.hpp"
#include "base/text.hpp"
#include "json/members.hpp"
#include "json/parse.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kMessageBytesMax = 2000;
// The codes that a server sends if an error has no reason of its own.
constexpr auto kPlainCodes = std::to_array<std::string_view>(
    {"invalid_request", "unauthorized", "forbidden", "not_found", "conflict", "too_large",
     "rate_limited", "unsupported", "timeout", "store_unavailable", "cancelled", "internal"});

std::string text_member(const json::Object* body, std::string_view key) {
  return std::string(utf8_prefix(json::text_at(body, key), kMessageBytesMax));
}

ErrorCode code_of(int status) {
  switch (status) {
    case 401: return ErrorCode::unauthorized;
    case 403: return ErrorCode::forbidden;
    case 404: return ErrorCode::not_found;
    case 408: return ErrorCode::timeout;
    case 409:
    case 412: return ErrorCode::conflict;
    case 413:
    case 431: return ErrorCode::too_large;
    case 429: return ErrorCode::rate_limited;
    case 501: return ErrorCode::unsupported;
    default: return status >= 500 ? ErrorCode::unavailable : ErrorCode::invalid_argument;
  }
}

Error wrong_answer(std::string_view what) {
  return {ErrorCode::internal, cat("the answer of the server has no ", what)};
}

RetainedCall parse_retained(const json::Object* members) {
  RetainedCall call{.text = std::string(json::text_at(members, "text")),
                    .name = std::string(json::text_at(members, "name")),
                    .arguments = std::string(json::text_at(members, "arguments")),
                    .ok = true,
                    .result = std::string(json::text_at(members, "result"))};
  if (auto id = ToolUseId::parse(json::text_at(members, "toolUseId"))) call.id = *id;
  const json::Value* ok = members ? members->if_contains("ok") : nullptr;
  call.ok = !ok || *ok != json::Value(false);
  return call;
}

// A call in a list, without the members that only lists have.
Result<LocalToolCall> parse_listed_call(json::Object call) {
  for (const char* key : {"id", "runId", "status", "createdAt", "expiresAt", "claimedUntil"}) {
    call.erase(key);
  }
  return parse_local_call(std::move(call));
}

}  // namespace

Error error_of_answer(int status, std::string_view body) {
  auto parsed = json::parse(body, {.duplicate_keys = json::DuplicateKeys::last_wins});
  const json::Object* members = parsed ? parsed->if_object() : nullptr;
  std::string message = text_member(members, "message");
  if (message.empty()) message = text_member(members, "error");
  if (message.empty()) message = cat("the server answered with HTTP status ", status);
  std::string code = text_member(members, "code");
  bool is_plain = std::find(kPlainCodes.begin(), kPlainCodes.end(), code) != kPlainCodes.end();
  std::vector<std::string> candidates;
  if (const json::Array* listed = json::array_at(members, "candidates")) {
    for (const json::Value& one : *listed) {
      if (one.is_string()) candidates.emplace_back(json::view(one.get_string()));
    }
  }
  return Error(code_of(status), std::move(message))
      .reason(is_plain ? "" : code)
      .pointer(text_member(members, "pointer"))
      .hint(text_member(members, "hint"))
      .candidates(std::move(candidates));
}

Result<json::Value> parse_body(std::string_view body, std::string_view from) {
  if (body.empty()) return json::Value();
  auto value = json::parse(body, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (value) return std::move(*value);
  return Error(ErrorCode::internal,
               cat("the answer of ", from, " is not JSON: is it an Errand server?"));
}

Result<StampedEvent> event_of_frame(std::string_view data) {
  auto value = json::parse(data, {.duplicate_keys = json::DuplicateKeys::last_wins});
  if (!value || !value->is_object()) {
    return Error(ErrorCode::internal, "the server sent an event that is not a JSON object");
  }
  json::Object& members = value->get_object();
  if (auto copy = members.find("data"); copy != members.end()) members.stable_erase(copy);
  auto event = parse_event(std::move(members));
  if (event) return event;
  return Error(ErrorCode::internal,
               cat("the server sent an invalid event: ", event.error().message()));
}

Result<RunId> parse_run_id(const json::Value& answer) {
  auto id = RunId::parse(json::text_at(answer.if_object(), "runId"));
  if (id) return *id;
  return wrong_answer("id of a run");
}

Result<RunStatus> parse_status(const json::Value& answer) {
  auto status = parse_run_status(json::text_at(answer.if_object(), "status"));
  if (status) return *status;
  return wrong_answer("status of a run");
}

Result<RunInfo> parse_run_info(const json::Value& answer) {
  RunInfo run;
  ERRAND_TRY(run.id, parse_run_id(answer));
  ERRAND_TRY(run.status, parse_status(answer));
  const json::Object* members = answer.if_object();
  run.name = json::text_at(members, "name");
  run.model_id = json::text_at(members, "modelId");
  run.last_seq = json::integer_at(members, "lastSeq").value_or(0);
  run.metadata = parse_metadata(json::object_at(members, "metadata"));
  run.updated_at = json::text_at(members, "updatedAt");
  run.session = SessionId::parse(json::text_at(members, "sessionId")).value_or(SessionId());
  run.error = json::text_at(members, "error");
  run.final_text = json::text_at(members, "finalText");
  const json::Array* pending = json::array_at(members, "pendingCalls");
  for (std::size_t i = 0; pending && i < pending->size(); ++i) {
    if (!(*pending)[i].is_object()) continue;
    ERRAND_TRY(run.pending.emplace_back(), parse_listed_call((*pending)[i].get_object()));
  }
  return run;
}

Result<RunPage> parse_run_page(const json::Value& answer) {
  std::vector<json::Value> items;
  RunPage page;
  page.next_cursor = take_page(answer, "runs", items);
  for (const json::Value& item : items) {
    ERRAND_TRY(page.runs.emplace_back(), parse_run_info(item));
  }
  return page;
}

Result<std::vector<OpenCall>> parse_open_calls(const json::Value& answer) {
  std::vector<json::Value> items;
  take_page(answer, "toolCalls", items);
  std::vector<OpenCall> calls;
  for (const json::Value& item : items) {
    if (!item.is_object()) continue;
    OpenCall& call = calls.emplace_back();
    call.over = parse_iso8601(json::text_at(item.if_object(), "expiresAt"));
    ERRAND_TRY(call.run, parse_run_id(item));
    ERRAND_TRY(call.call, parse_listed_call(item.get_object()));
  }
  return calls;
}

Result<Claim> parse_claim(const json::Value& answer) {
  std::string_view id = json::text_at(answer.if_object(), "claimId");
  if (id.empty()) return wrong_answer("id of a claim");
  return Claim{.id = std::string(id),
               .at = parse_iso8601(json::text_at(answer.if_object(), "serverTime"))};
}

Result<SessionId> parse_session_id(const json::Value& answer) {
  auto id = SessionId::parse(json::text_at(answer.if_object(), "sessionId"));
  if (id) return *id;
  return wrong_answer("id of a session");
}

Result<SessionInfo> parse_session_info(const json::Value& answer) {
  SessionInfo session;
  ERRAND_TRY(session.id, parse_session_id(answer));
  const json::Object* members = answer.if_object();
  session.name = json::text_at(members, "name");
  if (json::text_at(members, "status") == "ended") session.status = SessionStatus::ended;
  session.metadata = parse_metadata(json::object_at(members, "metadata"));
  const json::Object* spec = json::object_at(members, "agentSpec");
  session.model_id = json::text_at(spec, "modelId");
  session.system_prompt = json::text_at(spec, "systemPrompt");
  const json::Object* budgets = json::object_at(spec, "budgets");
  if (auto timeout = json::integer_at(budgets, "localToolTimeoutMs")) {
    session.tool_timeout = milliseconds(*timeout);
  }
  session.current = RunId::parse(json::text_at(members, "currentRunId"));
  session.summary = json::text_at(members, "summary");
  session.last_used = json::text_at(members, "lastInteractionDate");
  return session;
}

Result<std::vector<SaidMessage>> parse_said(const json::Value& answer) {
  const json::Array* events = json::array_at(answer.if_object(), "events");
  if (!events) return wrong_answer("events of a session");
  std::vector<SaidMessage> messages;
  for (const json::Value& event : *events) {
    const json::Object* members = event.if_object();
    SaidMessage message{.seq = json::integer_at(members, "seq").value_or(0),
                        .run = RunId::parse(json::text_at(members, "runId")).value_or(RunId()),
                        .text = std::string(json::text_at(members, "text"))};
    if (json::text_at(members, "type") == "assistant_message") message.role = Role::assistant;
    const json::Array* calls = json::array_at(members, "retained");
    for (std::size_t i = 0; calls && i < calls->size(); ++i) {
      message.retained.push_back(parse_retained((*calls)[i].if_object()));
    }
    messages.push_back(std::move(message));
  }
  return messages;
}

Result<SessionPage> parse_session_page(const json::Value& answer) {
  std::vector<json::Value> items;
  SessionPage page;
  page.next_cursor = take_page(answer, "sessions", items);
  for (const json::Value& item : items) {
    ERRAND_TRY(page.sessions.emplace_back(), parse_session_info(item));
  }
  return page;
}

std::string take_page(const json::Value& page, std::string_view key,
                      std::vector<json::Value>& all) {
  const json::Object* members = page.if_object();
  const json::Array* items = json::array_at(members, key);
  if (!items || items->empty()) return {};
  all.insert(all.end(), items->begin(), items->end());
  return std::string(json::text_at(members, "nextCursor"));
}

}  // namespace errand::sdk
