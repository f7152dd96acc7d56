#include "sdk/embedded_api.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "json/parse.hpp"

namespace errand::sdk {
namespace {

// A client cannot tell a bug, or a cut-off request, from a server that is in trouble.
Error as_seen(const Error& error) {
  bool is_hidden = error.code() == ErrorCode::internal || error.code() == ErrorCode::cancelled ||
                   error.code() == ErrorCode::outcome_unknown;
  if (!is_hidden) return error;
  return Error(ErrorCode::unavailable, error.message()).reason(error.reason()).hint(error.hint());
}

template <class T>
Result<T> as_seen(Result<T> result) {
  if (!result) return as_seen(result.error());
  return result;
}

// What a caller may ask for; everything else is checked by the engine.
Result<void> check(const std::optional<OutputSchema>& output) {
  if (!output) return {};
  return check_output_schema(*output, "/outputSchema");
}

RunInfo info_of(const RunRow& row) {
  RunInfo info{.id = row.id,
               .name = row.name,
               .status = row.status,
               .model_id = row.model_id,
               .last_seq = row.last_seq,
               .session = row.session,
               .updated_at = to_iso8601(row.updated_at)};
  if (auto metadata = json::parse(row.metadata)) {
    info.metadata = parse_metadata(metadata->if_object());
  }
  return info;
}

Result<LocalToolCall> call_of(const Mailbox& box) {
  json::Object members = parse_mail_request(box.request);
  members["toolUseId"] = box.slot;
  members["name"] = box.name;
  return parse_local_call(std::move(members));
}

SessionInfo info_of(const SessionRow& row) {
  return {.id = row.id,
          .status = row.status,
          .current = row.current,
          .last_used = to_iso8601(row.last_used_at)};
}

}  // namespace

EmbeddedApi::EmbeddedApi(host::Host& host)
    : engine_(host.engine()), who_{.workspace = *WorkspaceSlug::parse("default"), .key = {}} {}

Task<Result<RunId>> EmbeddedApi::create(Spec spec) {
  ERRAND_CO_CHECK(check(spec.output_schema));
  auto run = co_await engine_.create(who_, std::move(spec), {});
  co_return as_seen(std::move(run));
}

Task<Result<RunId>> EmbeddedApi::fork(RunId run, ForkParams params) {
  ERRAND_CO_CHECK(check(params.overrides.output_schema));
  auto fork = co_await engine_.fork(who_, run, std::move(params), {});
  if (!fork) co_return as_seen(fork.error());
  co_return fork->run;
}

Task<Result<std::unique_ptr<EventSource>>> EmbeddedApi::open_stream(RunId run, EventSeq after) {
  auto reader = co_await engine_.subscribe(who_, run, after);
  if (!reader) co_return as_seen(reader.error());
  co_return std::make_unique<EmbeddedEvents>(std::move(*reader), counters_);
}

Task<Result<void>> EmbeddedApi::answer(RunId run, ToolUseId call, ToolAnswer answer) {
  engine::CallAnswer params{.tool_use_id = call.str(), .answer = std::move(answer), .claim_id = {}};
  auto answered = co_await engine_.answer(who_, run, std::move(params));
  co_return as_seen(std::move(answered));
}

Task<Result<RunStatus>> EmbeddedApi::cancel(RunId run, seconds) {
  auto status = co_await engine_.cancel(who_, run);
  co_return as_seen(std::move(status));
}

Task<Result<RunInfo>> EmbeddedApi::get(RunId run) {
  auto view = co_await engine_.get(who_, run);
  if (!view) co_return as_seen(view.error());
  RunInfo info = info_of(view->row);
  const auto& end = view->state->terminal();
  if (end && end->status == RunStatus::failed) info.error = end->message;
  const std::string* text = end ? view->state->final_text() : nullptr;
  if (text) info.final_text = *text;
  for (const engine::PendingCall& call : view->pending) {
    auto shown = call_of(call.box);
    if (!shown) co_return as_seen(shown.error());
    info.pending.push_back(std::move(*shown));
  }
  co_return info;
}

Task<Result<RunPage>> EmbeddedApi::list(RunQuery query) {
  RunFilter filter{.workspace = who_.workspace,
                   .status = query.status,
                   .metadata = std::move(query.metadata),
                   .session = query.session,
                   .before = RunId::parse(query.cursor),
                   .limit = query.limit + 1};  // one more tells whether there is another page
  auto rows = co_await engine_.list(std::move(filter));
  if (!rows) co_return as_seen(rows.error());
  RunPage page;
  bool has_more = rows->size() > query.limit;
  if (has_more) rows->resize(query.limit);
  for (const RunRow& row : *rows) page.runs.push_back(info_of(row));
  if (has_more) page.next_cursor = rows->back().id.str();
  co_return page;
}

Task<Result<std::vector<JournalEntry>>> EmbeddedApi::journal(RunId run) {
  auto page = co_await engine_.journal(who_, run, 0, SIZE_MAX, SIZE_MAX);
  if (!page) co_return as_seen(page.error());
  std::string text;
  for (const std::string& entry : page->entries) append(text, entry, '\n');
  co_return parse_journal(text);
}

Task<Result<engine::ModelList>> EmbeddedApi::models(ModelQuery query) {
  co_return co_await engine::list_models(&engine_.catalog(), query.check);
}

Task<Result<SessionId>> EmbeddedApi::create_session(engine::SessionParams params) {
  ERRAND_CO_CHECK(check(params.spec.output_schema));
  auto session = co_await engine_.create_session(who_, std::move(params), {});
  co_return as_seen(std::move(session));
}

Task<Result<RunId>> EmbeddedApi::say(SessionId session, engine::SessionMessage message) {
  ERRAND_CO_CHECK(check(message.overrides.output_schema));
  auto run = co_await engine_.send(who_, session, std::move(message), {});
  co_return as_seen(std::move(run));
}

Task<Result<SessionInfo>> EmbeddedApi::get_session(SessionId session) {
  auto view = co_await engine_.get_session(who_, session);
  if (!view) co_return as_seen(view.error());
  SessionInfo info = info_of(view->row);
  info.model_id = view->params.spec.model_id;
  co_return info;
}

Task<Result<SessionPage>> EmbeddedApi::list_sessions(SessionQuery query) {
  SessionFilter filter{.workspace = who_.workspace,
                       .status = query.status,
                       .metadata = std::move(query.metadata),
                       .before = engine::parse_cursor(query.cursor),
                       .limit = query.limit + 1};  // one more tells whether there is another page
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

}  // namespace errand::sdk
