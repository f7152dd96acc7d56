// Sessions in this process.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "engine/session_spec.hpp"
#include "json/parse.hpp"
#include "run/log/session_message.hpp"
#include "sdk/embedded/embedded_api.hpp"

namespace errand::sdk {
namespace {

constexpr std::string_view kDefaultName = "ephemeral";

SessionInfo info_of(const SessionRow& row) {
  SessionInfo info{.id = row.id,
                   .name = row.name,
                   .status = row.status,
                   .current = row.current,
                   .last_used = to_iso8601(row.last_used_at)};
  if (auto metadata = json::parse(row.metadata)) {
    info.metadata = parse_metadata(metadata->if_object());
  }
  return info;
}

json::Object asked_for(const SessionId& session, const engine::SessionMessage& message) {
  ForkParams overrides{.overrides = message.overrides};
  return {{"session", session.view()},
          {"said", to_json(message.said)},
          {"overrides", to_json(overrides)}};
}

}  // namespace

Task<Result<SessionId>> EmbeddedApi::create_session(engine::SessionParams params, std::string key,
                                                    BodyPtr) {
  ERRAND_CO_CHECK(check(params.spec.output_schema));
  if (params.spec.name.empty()) params.spec.name = kDefaultName;
  Idempotency idempotency;
  if (!key.empty()) idempotency = idempotency_of(std::move(key), engine::to_json(params));
  auto made = co_await engine_.create_session(who_, std::move(params), std::move(idempotency));
  co_return as_seen(std::move(made));
}

Task<Result<RunId>> EmbeddedApi::say(SessionId session, engine::SessionMessage message,
                                     std::string key, BodyPtr) {
  ERRAND_CO_CHECK(check(message.overrides.output_schema));
  Idempotency idempotency;
  if (!key.empty()) idempotency = idempotency_of(std::move(key), asked_for(session, message));
  auto run = co_await engine_.send(who_, session, std::move(message), std::move(idempotency));
  co_return as_seen(std::move(run));
}

Task<Result<SessionInfo>> EmbeddedApi::get_session(SessionId session) {
  auto view = co_await engine_.get_session(who_, session);
  if (!view) co_return as_seen(view.error());
  SessionInfo info = info_of(view->row);
  info.model_id = view->params.spec.model_id;
  info.system_prompt = view->params.spec.system_prompt;
  co_return info;
}

Task<Result<SessionPage>> EmbeddedApi::list_sessions(SessionQuery query) {
  SessionFilter filter{
      .workspace = who_.workspace,
      .status = query.status,
      .metadata = std::move(query.metadata),
      .before = engine::parse_cursor(query.cursor),
      .limit = query.limit + 1};  // one more than asked for shows whether there is another page
  auto rows = co_await engine_.list_sessions(std::move(filter));
  if (!rows) co_return as_seen(rows.error());
  SessionPage page;
  bool has_more = rows->size() > query.limit;
  if (has_more) rows->resize(query.limit);
  for (const SessionRow& row : *rows) {
    auto summary = co_await engine_.summary_of(who_, row);
    if (!summary) co_return as_seen(summary.error());
    page.sessions.push_back(info_of(row));
    page.sessions.back().summary = std::move(*summary);
  }
  if (has_more) page.next_cursor = engine::to_cursor(rows->back().place());
  co_return page;
}

Task<Result<std::vector<SaidMessage>>> EmbeddedApi::history(SessionId session, HistoryQuery query) {
  auto view = co_await engine_.get_session(who_, session);
  if (!view) co_return as_seen(view.error());
  std::int64_t after = query.after;
  if (query.last)
    after = std::max(after, view->row.entries - static_cast<std::int64_t>(*query.last));
  auto entries =
      co_await engine_.session_history(who_, session, after, view->row.entries, SIZE_MAX);
  if (!entries) co_return as_seen(entries.error());
  std::vector<SaidMessage> messages;
  for (const SessionEntry& entry : *entries) {
    auto kept = parse_history_entry(entry.body);
    if (!kept) co_return as_seen(kept.error());
    messages.push_back({.seq = entry.n,
                        .run = entry.run,
                        .role = kept->message.role,
                        .text = kept->message.text,
                        .retained = retained_calls(*kept)});
  }
  co_return messages;
}

Task<Result<void>> EmbeddedApi::end_session(SessionId session) {
  auto ended = co_await engine_.end_session(who_, session);
  if (!ended) co_return as_seen(ended.error());
  co_return Result<void>();
}

}  // namespace errand::sdk
