// The sessions of a server.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "json/members.hpp"
#include "json/write.hpp"
#include "sdk/http/http_answers.hpp"
#include "sdk/http/http_api.hpp"

namespace errand::sdk {
namespace {

constexpr std::size_t kMessagesAtOnce = 100;

std::string session_path(const SessionId& session, std::string_view rest) {
  return cat("/agent-sessions/", percent_encode(session.view()), rest);
}

std::string create_body(const engine::SessionParams& params, const BodyPtr& said) {
  json::Object body = said ? *said : to_json(params.spec, Origin::wire);
  body.erase("prompt");
  body.erase("messages");
  body["whenBusy"] = engine::to_string(params.when_busy);
  return json::write(body);
}

json::Object read_body(const engine::SessionMessage& message) {
  json::Object body = to_json(ForkParams{.from_seq = {}, .overrides = message.overrides});
  json::Object said = to_json(message.said, Origin::wire);
  for (std::string_view key : {"prompt", "messages"}) {
    if (const json::Value* value = said.if_contains(key)) body[key] = *value;
  }
  return body;
}

std::string message_body(const engine::SessionMessage& message, const BodyPtr& said) {
  json::Object body = said ? *said : read_body(message);
  if (message.when_busy) body["whenBusy"] = engine::to_string(*message.when_busy);
  return json::write(body);
}

Query query_of(const SessionQuery& asked) {
  Query query{{"limit", std::to_string(asked.limit)}};
  if (asked.status) {
    query.emplace_back("status", *asked.status == SessionStatus::active ? "active" : "ended");
  }
  for (const auto& [key, value] : asked.metadata) {
    query.emplace_back("metadata", cat(key, ":", value));
  }
  if (!asked.cursor.empty()) query.emplace_back("cursor", asked.cursor);
  return query;
}

}  // namespace

Task<Result<SessionId>> HttpApi::create_session(engine::SessionParams params, std::string key,
                                                BodyPtr body) {
  ERRAND_CO_TRY(auto made,
                co_await post("/agent-sessions", create_body(params, body), std::move(key)));
  tell_warnings(made);
  co_return parse_session_id(made);
}

Task<Result<RunId>> HttpApi::say(SessionId session, engine::SessionMessage message, std::string key,
                                 BodyPtr body) {
  ERRAND_CO_TRY(auto made, co_await post(session_path(session, "/messages"),
                                         message_body(message, body), std::move(key)));
  tell_warnings(made);
  co_return parse_run_id(made);
}

Task<Result<SessionInfo>> HttpApi::get_session(SessionId session) {
  ERRAND_CO_TRY(auto answer, co_await send({.path = session_path(session, "")}));
  co_return parse_session_info(answer);
}

Task<Result<SessionPage>> HttpApi::list_sessions(SessionQuery query) {
  ApiRequest request{.path = "/agent-sessions", .query = query_of(query)};
  ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
  co_return parse_session_page(answer);
}

// Reads pages from the end of the history towards its beginning.
Task<Result<std::vector<SaidMessage>>> HttpApi::history(SessionId session, HistoryQuery query) {
  const std::size_t wanted = query.last.value_or(SIZE_MAX);
  const std::size_t at_once = std::min(wanted, kMessagesAtOnce);
  std::vector<SaidMessage> messages;
  std::optional<std::int64_t> before;
  do {
    ApiRequest request{.path = session_path(session, "/events"),
                       .query = {{"lastMessages", std::to_string(at_once)}}};
    if (before) request.query.emplace_back("beforeSeq", std::to_string(*before));
    ERRAND_CO_TRY(auto answer, co_await send(std::move(request)));
    ERRAND_CO_TRY(auto page, parse_said(answer));
    for (auto one = page.rbegin(); one != page.rend() && one->seq > query.after; ++one) {
      if (messages.size() < wanted) messages.push_back(std::move(*one));
    }
    before = json::integer_at(answer.if_object(), "nextBeforeSeq");
  } while (before && *before > query.after + 1 && messages.size() < wanted);
  std::reverse(messages.begin(), messages.end());
  co_return messages;
}

Task<Result<void>> HttpApi::end_session(SessionId session) {
  ERRAND_CO_CHECK(co_await send({.method = Method::delete_, .path = session_path(session, "")}));
  co_return Result<void>();
}

}  // namespace errand::sdk
