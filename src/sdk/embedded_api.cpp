#include "sdk/embedded_api.hpp"

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
               .last_seq = row.last_seq};
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

}  // namespace errand::sdk
