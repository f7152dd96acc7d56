#include "sdk/embedded/embedded_api.hpp"

#include <cstdint>
#include <utility>

#include "base/text.hpp"
#include "crypto/digest.hpp"
#include "json/parse.hpp"
#include "json/write.hpp"

namespace errand::sdk {
namespace {

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

}  // namespace

Result<void> check(const Sparse<OutputSchema>& output) {
  if (!output) return {};
  return check_output_schema(*output, "/outputSchema");
}

Error as_seen(const Error& error) {
  bool is_hidden = error.code() == ErrorCode::internal || error.code() == ErrorCode::cancelled ||
                   error.code() == ErrorCode::outcome_unknown;
  if (!is_hidden) return error;
  return Error(ErrorCode::unavailable, error.message()).reason(error.reason()).hint(error.hint());
}

Idempotency idempotency_of(std::string key, const json::Value& asked) {
  return {.key = std::move(key), .fingerprint = crypto::to_hex(crypto::sha256(json::write(asked)))};
}

WorkspaceSlug default_workspace() {
  return *WorkspaceSlug::parse("default");
}

EmbeddedApi::EmbeddedApi(host::Host& host, WorkspaceSlug workspace)
    : engine_(host.engine()), who_{.workspace = std::move(workspace), .key = {}} {}

Task<Result<RunId>> EmbeddedApi::create(Spec spec, std::string key, BodyPtr) {
  ERRAND_CO_CHECK(check(spec.output_schema));
  Idempotency idempotency;
  if (!key.empty()) idempotency = idempotency_of(std::move(key), to_json(spec));
  auto run = co_await engine_.create(who_, std::move(spec), std::move(idempotency));
  co_return as_seen(std::move(run));
}

Task<Result<RunId>> EmbeddedApi::fork(RunId run, ForkParams params, std::string key, BodyPtr) {
  ERRAND_CO_CHECK(check(params.overrides.output_schema));
  Idempotency idempotency;
  if (!key.empty()) idempotency = idempotency_of(std::move(key), to_json(params));
  auto fork = co_await engine_.fork(who_, run, std::move(params), std::move(idempotency));
  if (!fork) co_return as_seen(fork.error());
  co_return fork->run;
}

Task<Result<std::unique_ptr<EventSource>>> EmbeddedApi::open_stream(RunId run, EventSeq after) {
  auto reader = co_await engine_.subscribe(who_, run, after);
  if (!reader) co_return as_seen(reader.error());
  co_return std::make_unique<EmbeddedEvents>(std::move(*reader));
}

Task<Result<void>> EmbeddedApi::answer(RunId run, ToolUseId call, ToolAnswer answer,
                                       std::string claim) {
  engine::CallAnswer params{
      .tool_use_id = call.str(), .answer = std::move(answer), .claim_id = std::move(claim)};
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
  RunFilter filter{
      .workspace = who_.workspace,
      .status = query.status,
      .metadata = std::move(query.metadata),
      .session = query.session,
      .before = RunId::parse(query.cursor),
      .limit = query.limit + 1};  // one more than asked for shows whether there is another page
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
  auto list = co_await engine::list_models(&engine_.catalog(), query.check, std::move(query.named));
  if (!list) co_return as_seen(list.error());
  co_return list;
}

Task<Result<std::vector<OpenCall>>> EmbeddedApi::pending_calls(CallQuery query) {
  CallFilter filter{.workspace = who_.workspace,
                    .status = CallFilter::Status::unclaimed,
                    .name = std::move(query.name),
                    .limit = query.limit};
  auto calls = co_await engine_.pending_calls(std::move(filter), query.wait);
  if (!calls) co_return as_seen(calls.error());
  std::vector<OpenCall> open;
  for (const engine::PendingCall& call : *calls) {
    auto shown = call_of(call.box);
    if (!shown) co_return as_seen(shown.error());
    open.push_back({.run = call.box.run, .call = std::move(*shown), .over = call.expires_at});
  }
  co_return open;
}

Task<Result<Claim>> EmbeddedApi::claim(ToolUseId call, milliseconds ttl, std::string key) {
  auto claimed = co_await engine_.claim_call(who_, call.str(), ttl, std::move(key));
  if (!claimed) co_return as_seen(claimed.error());
  co_return Claim{.id = claimed->box.claim_id, .at = engine_.clock().now()};
}

Task<Result<void>> EmbeddedApi::extend(ToolUseId call, std::string claim, milliseconds ttl) {
  auto extended = co_await engine_.extend_claim(who_, call.str(), std::move(claim), ttl);
  if (!extended) co_return as_seen(extended.error());
  co_return Result<void>();
}

Task<Result<void>> EmbeddedApi::report_progress(ToolUseId call, ProgressReport report) {
  auto reported = co_await engine_.report_progress(who_, call.str(), std::move(report));
  co_return as_seen(std::move(reported));
}

}  // namespace errand::sdk
